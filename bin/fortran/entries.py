# SPDX-License-Identifier: BSD-3-Clause
"""The entries that Fortran calls, in C."""
from table import BUFFERS, HANDLES, LARGER, STRINGS

HEAD = '''/* Made by generate.py from the table of signatures. */
#include "convert.h"
#include "by_hand.h"
'''
SIMPLE = {
    # kind: type of what the argument refers to
    'int': 'MPI_Fint', 'logical': 'MPI_Fint', 'aint': 'MPI_Aint',
    'offset': 'MPI_Offset', 'bigcount': 'MPI_Count', 'index': 'MPI_Fint',
    'outcount': 'MPI_Fint', 'weights': 'MPI_Fint', 'errcodes': 'MPI_Fint',
    'status': 'MPI_Status', 'fstatus': 'MPI_Fint',
    'f08status': 'MPI_F08_status', 'attr': 'MPI_Aint', 'oldattr': 'MPI_Fint',
    'state': 'MPI_Aint', 'oldstate': 'MPI_Fint', 'address': 'void',
    'detach': 'void', 'string': 'char', 'word': 'char', 'strings': 'char',
    'strings2': 'char',
}
PEERS = {'peers': 'vm_f_peers', 'sources': 'vm_f_sources',
         'targets': 'vm_f_targets'}


def c_type(argument, large, descriptors):
    """The type of a parameter of an entry."""
    kind = argument.kind
    if kind == 'fn':
        return 'vm_f_function *'
    if kind in BUFFERS:
        return 'struct vm_f_any *' if descriptors else 'void *'
    if kind in LARGER:
        return LARGER[kind][large] + ' *'
    return (SIMPLE.get(kind) or 'MPI_Fint') + ' *'


class Entry:
    """The text of one entry: what is declared, done before the call, passed,
    done after it if it succeeded, and done in any case."""

    def __init__(self, function, large, descriptors):
        self.function, self.large = function, large
        self.descriptors = descriptors
        self.arguments = function.arguments(large)
        self.declare, self.before, self.passed = [], [], []
        self.succeeded, self.after = [], []
        self.passed += ['0'] * function.c_only
        for i, argument in enumerate(self.arguments):
            self.add(i, argument)

    def convert(self, declaration, call):
        self.declare.append(declaration)
        self.before.append('if (rc == 0)\n\t\trc = %s;' % call)

    def length(self, argument):
        if argument.length in PEERS:
            return '%s(vm_f_comm(*comm))' % PEERS[argument.length]
        return '*' + argument.length

    def add(self, i, a):
        name = a.name
        if a.kind in HANDLES:
            self.add_handle(a)
        elif a.kind in BUFFERS:
            self.add_buffer(i, a)
        elif a.kind in STRINGS:
            self.add_string(a)
        elif a.kind in ('status', 'weights', 'errcodes'):
            self.passed.append(
                '%s(%s)' % ('vm_f_statuses' if a.is_array else
                            'vm_f_' + a.kind, name)
                if a.written or a.kind != 'status' else name)
        elif a.kind == 'index' and a.is_array:
            self.passed.append(name)
            self.after.append('vm_f_indices_out(%s, c_outcount);' % name)
        elif a.kind in ('index', 'outcount'):
            self.declare.append('int c_%s = MPI_UNDEFINED;' % name)
            self.passed.append('&c_' + name)
            self.after.append('*%s = %s;' % (
                name, 'vm_f_index(c_index)' if a.kind == 'index' else
                'c_' + name))
        elif a.kind == 'detach' and not self.descriptors:
            # These bindings cannot return an address: the argument is unused.
            self.declare.append('void *c_%s;' % name)
            self.passed.append('&c_' + name)
        elif a.kind == 'detach':
            self.passed.append(name)
            self.succeeded.append('vm_f_detached(%s);' % name)
        elif a.length == '3,':
            self.passed.append('(void *)' + name)
        elif (a.written or a.is_array or
              a.kind in ('fstatus', 'f08status')):
            self.passed.append(name)
        else:
            self.passed.append('*' + name)

    def add_handle(self, a):
        name, c, convert = a.name, 'c_' + a.name, 'vm_f_' + a.kind
        if a.is_array:
            length = self.length(a)
            if name == 'sendtypes':
                # Not looked at, and maybe not there.
                length = 'vm_f_buffer(sendbuf%s) == MPI_IN_PLACE ? 0 : %s' % (
                    '->base' if self.descriptors else '', length)
            self.convert(
                'struct vm_f_handles %s = { .all = NULL };' % c,
                'vm_f_handles_in(&%s, VM_F_%s, %s,\n\t\t\t\t     %s)' % (
                    c, a.kind.upper(), name, length))
            self.passed.append('(void *)%s.all' % c)
            self.after.append('vm_f_handles_%s(&%s%s);' % (
                ('out', c, ', ' + name) if a.written else ('end', c, '')))
        elif not a.written and not a.by_address:
            self.passed.append('%s(*%s)' % (convert, name))
        else:
            null = '%s(*%s)' % (convert, name) if a.read else 'NULL'
            self.declare.append('%s %s = %s;' % (HANDLES[a.kind][0], c, null))
            self.passed.append('&' + c)
            if a.written:
                (self.after if a.read else self.succeeded).append(
                    '*%s = %s_number(%s);' % (name, convert, c))

    def pair(self, i):
        """The count and the datatype of a buffer, which follow it."""
        count = None
        for a in self.arguments[i + 1:]:
            if a.kind in BUFFERS:
                break
            if a.kind == 'count' and not a.is_array and not count:
                count = a
            if a.kind == 'type' and not a.is_array and count:
                return count, a
        raise SystemExit('%s: no count and type of %s' % (
            self.function.name, self.arguments[i].name))

    def add_buffer(self, i, a):
        name, c = a.name, 'c_' + a.name
        if not self.descriptors:
            self.passed.append('vm_f_buffer(%s)' % name)
        elif a.kind == 'place':
            self.passed.append('vm_f_buffer(%s->base)' % name)
        elif a.kind == 'operand':
            self.convert('struct vm_f_copy %s = { .base = NULL };' % c,
                         'vm_f_copy_in(&%s, %s, %d)' % (
                             c, name, self.function.blocking))
            self.passed.append(c + '.base')
            self.after.append('vm_f_copy_end(&%s, %s, %d);' % (
                c, name, a.written))
        else:
            count, of = self.pair(i)
            self.convert('struct vm_f_section %s = { .owned = false };' % c,
                         'vm_f_section_begin(&%s, %s, *%s,\n'
                         '\t\t\t\t\tvm_f_type(*%s))' % (
                             c, name, count.name, of.name))
            self.passed.append(c + '.base')
            self.replaced = getattr(self, 'replaced', {})
            self.replaced['*' + count.name] = (
                c + '.count' if self.large else '(int)%s.count' % c)
            self.replaced['vm_f_type(*%s)' % of.name] = c + '.type'
            self.after.append('vm_f_section_end(&%s);' % c)

    def add_string(self, a):
        name, c = a.name, 'c_' + a.name
        if a.written:
            self.declare.append('char %s[MPI_%s] = "";' % (c, a.length))
            self.passed.append(c)
            self.succeeded.append('vm_f_string_out(%s, %s, %s_bytes);' % (
                c, name, name))
        else:
            self.convert('struct vm_f_string %s = { .text = NULL };' % c,
                         'vm_f_%s_in(&%s, %s, %s_bytes)' % (
                             a.kind, c, name, name))
            self.passed.append(c + '.text')
            self.after.append('vm_f_string_end(&%s);' % c)

    def parameters(self):
        names = [c_type(a, self.large, self.descriptors) + a.name
                 for a in self.arguments]
        if self.function.result:
            return names or ['void']
        names.append('MPI_Fint *ierror')
        return names + ['size_t %s_bytes' % a.name for a in self.arguments
                        if a.kind in STRINGS]

    def text(self, p, symbol):
        function = self.function
        called = p + 'MPI_' + function.name + ('_c' if self.large else '')
        head = '%s %s(%s)\n{\n' % (
            {None: 'void', 'double': 'double', 'aint': 'MPI_Aint'}[
                function.result], symbol, ', '.join(self.parameters()))
        if function.result:
            return head + '\treturn %s(%s);\n}\n' % (
                called, ', '.join(self.passed))
        if function.by_hand:
            names = [p.split('*')[-1].split()[-1] for p in self.parameters()]
            names.remove('ierror')
            return head + '\tint rc = vm_f_%s(%s);\n\n\t%s\n}\n' % (
                function.name.lower() + ('_c' if self.large else ''),
                ', '.join([called] + names), 'vm_f_return(ierror, rc);')
        passed = [getattr(self, 'replaced', {}).get(x, x)
                  for x in self.passed]
        call = '%s(%s)' % (called, ', '.join(passed))
        lines = self.declare[:]
        if self.before:
            lines += ['int rc = 0;', '']
            lines += self.before + ['if (rc == 0)\n\t\trc = %s;' % call]
        else:
            lines += ['int rc = %s;' % call, '']
        if self.succeeded:
            lines.append('if (rc == 0) {\n\t\t%s\n\t}' %
                         '\n\t\t'.join(self.succeeded))
        lines += self.after + ['vm_f_return(ierror, rc);']
        return head + ''.join('\t%s\n' % x if x else '\n'
                              for x in lines) + '}\n'


def specific(function, large):
    """The name of a procedure of mpi_f08 (MPI 4.1, table 19.1)."""
    return (function.name + ('_c' if large else '') +
            ('_f08ts' if function.has_buffer else '_f08'))


def entries(functions, have):
    """The texts of the two sources of a chapter."""
    plain, f08 = [HEAD], [HEAD]

    def write(to, function, large, descriptors, names):
        entry = Entry(function, large, descriptors)
        for p in ('', 'P'):
            symbols = ['%smpi_%s_' % (p.lower(), name.lower())
                       for name in names]
            prototype = ', '.join(entry.parameters())
            result = {None: 'void', 'double': 'double', 'aint': 'MPI_Aint'}[
                function.result]
            for i, symbol in enumerate(symbols):
                to.append('VM_F_ENTRY%s %s %s(%s);\n' % (
                    '_AS("%s")' % symbols[0] if i else '', result, symbol,
                    prototype))
            to.append(entry.text(p, symbols[0]))

    for function in functions:
        if function.name in have:
            names = [function.name]
            in_f08 = not (function.only_mpi or function.only_symbol)
            if in_f08 and not function.differs:
                names.append(specific(function, False))
            if any(a.kind == 'address' for a in function.all):
                names.append(function.name + '_cptr')
            write(plain, function, False, False, names)
            if in_f08 and function.differs:
                write(f08, function, False, True, [specific(function, False)])
        if function.has_large and function.name + '_c' in have:
            write(f08, function, True, True, [specific(function, True)])
    return '\n'.join(plain), '\n'.join(f08)
