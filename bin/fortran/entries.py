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
        self.copies, self.replaced = [], {}
        self.here, self.divided = False, None
        self.passed += ['0'] * function.c_only
        for i, argument in enumerate(self.arguments):
            self.add(i, argument)

    def check(self, call, condition=None):
        self.before.append('if (rc == 0%s)\n\t\trc = %s;' % (
            ' && ' + condition if condition else '', call))
        self.here = self.here or '&here' in call

    def convert(self, declaration, call, condition=None):
        self.declare.append(declaration)
        self.check(call, condition)

    def place(self):
        """The call, for errors that are found here."""
        kind, name = self.function.responsible or ('none', 'NULL')
        return ('const struct vm_f_call here = { "MPI_%s",\n\t\t'
                'VM_FORTRAN_%s, %s };' % (
                    self.function.name + ('_c' if self.large else ''),
                    kind.upper(), name))

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

    def meant(self, i):
        """The count, displacements and datatype of a buffer: those that follow
        it, or of an operand those of the call.  Of a call with MPI_Count they
        are no fewer."""
        follow = self.arguments[i + 1:]
        of = self.arguments[i].kind
        count = displs = None
        for a in follow:
            if a.kind in BUFFERS and of != 'operand':
                break
            if a.kind in ('count', 'bigcount') and not count:
                count = a
            elif count and a.is_array and a.kind in ('disp', 'aint', 'count'):
                displs = a
            if a.kind == 'type' and count:
                return count, displs, a
        raise SystemExit('%s: no count and type of %s' % (
            self.function.name, self.arguments[i].name))

    # How many blocks there are, or how many there are of an operand.
    TIMES = {
        'one': '1', 'leaf': 'vm_f_is_leaf(*root)',
        'peers': 'vm_f_peers(vm_f_comm(*comm))',
        'sources': 'vm_f_sources(vm_f_comm(*comm))',
        'targets': 'vm_f_targets(vm_f_comm(*comm))',
        'all': 'vm_f_local(vm_f_comm(*comm))',
        # All where these are the operand, too, of which one is the result.
        'own': '%s ?\n\t\t\tvm_f_local(vm_f_comm(*comm)) : 1',
        'root': 'vm_f_is_root(vm_f_comm(*comm), *root)',
    }
    IN_PLACE = 'vm_f_buffer(sendbuf->base) == MPI_IN_PLACE'

    def reach(self, i):
        """The bytes of a contiguous buffer that a call needs."""
        a = self.arguments[i]
        if a.kind == 'bytes':
            return '*' + a.length
        count, displs, of = self.meant(i)
        times = self.TIMES[a.length]
        if a.length == 'root' and a.kind == 'blocks':
            times += ' ?\n\t\t\t' + self.TIMES['peers'] + ' : 0'
        counts = 'VM_F_INTS(%s)' % count.name
        type_ = of.name if of.is_array else 'vm_f_type(*%s)' % of.name
        if displs:
            return 'vm_f_reach_%s(%s, %s,\n\t\t\tVM_F_INTS(%s), %s)' % (
                'w' if of.is_array else 'v', times, counts, displs.name,
                type_)
        if count.is_array and a.length == 'own':
            return 'vm_f_reach_own(vm_f_comm(*comm), %s,\n\t\t\t%s, %s)' % (
                self.IN_PLACE, counts, type_)
        if count.is_array:
            return 'vm_f_reach_sum(%s, %s, %s)' % (times, counts, type_)
        if a.length == 'own':
            times %= self.IN_PLACE
        return 'vm_f_reach(%s, *%s, %s)' % (times, count.name, type_)

    def add_buffer(self, i, a):
        name, c = a.name, 'c_' + a.name
        if not self.descriptors:
            self.passed.append('vm_f_buffer(%s)' % name)
        elif a.kind in ('place', 'region'):
            self.passed.append('vm_f_buffer(%s->base)' % name)
            if a.kind == 'region':
                self.check('vm_f_check_region(%s, &here)' % name)
        elif a.kind in ('choice', 'parts'):
            self.add_section(i, a)
        else:
            self.convert(
                'struct vm_f_copy %s = { .base = vm_f_buffer(%s->base) };' % (
                    c, name),
                'vm_f_copy_in(&%s, %s,\n\t\t\t%s,\n\t\t\t%s, &here)' % (
                    c, name, self.reach(i), 'true' if a.written else 'false'),
                'vm_f_is_scattered(%s)' % name)
            self.here = True
            self.passed.append(c + '.base')
            self.copies.append('&' + c)
            self.after.append('vm_f_copy_end(&%s);' % c)

    def add_section(self, i, a):
        name, c = a.name, 'c_' + a.name
        count, _, of = self.meant(i)
        counted = '*' + count.name
        if a.kind == 'parts':
            counted = 'vm_f_parts(*partitions, %s)' % counted
        self.convert(
            'struct vm_f_section %s = { .base = vm_f_buffer(%s->base),\n'
            '\t\t.count = *%s, .type = vm_f_type(*%s) };' % (
                c, name, count.name, of.name),
            'vm_f_section_begin(&%s, %s, %s,\n\t\t\tvm_f_type(*%s), &here)'
            % (c, name, counted, of.name),
            'vm_f_is_scattered(%s)%s' % (name, ' && ' + self.TIMES['leaf'] if
                                         a.length else ''))
        self.here = True
        self.passed.append(c + '.base')
        if a.kind == 'choice':
            self.replaced['*' + count.name] = (
                c + '.count' if self.large else '(int)%s.count' % c)
            self.replaced['vm_f_type(*%s)' % of.name] = c + '.type'
        else:
            self.divided = c
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

    def parted(self):
        """Another call for partitions of what is not contiguous."""
        if not self.divided:
            return []
        send = self.function.name == 'Psend_init'
        return ['if (rc == 0 && %s.owned)\n\t\trc = vmpi_fortran.part('
                '&c_request, %s, %s.base, *partitions,\n\t\t\t%s.type, *%s, '
                '*tag, vm_f_comm(*comm), vm_f_info(*info));\n\telse' % (
                    self.divided, 'true' if send else 'false', self.divided,
                    self.divided, 'dest' if send else 'source')]

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
        passed = [self.replaced.get(x, x) for x in self.passed]
        call = '%s(%s)' % (called, ', '.join(passed))
        lines = ([self.place()] if self.here else []) + self.declare
        if self.before:
            lines += ['int rc = 0;', '']
            lines += self.before + self.parted() + [
                'if (rc == 0)\n\t\trc = %s;' % call]
        else:
            lines += ['int rc = %s;' % call, '']
        if self.copies and function.request:
            lines.append('if (rc == 0)\n\t\trc = vm_f_copies_keep(&c_%s,\n'
                         '\t\t\t(struct vm_f_copy *const[]){ %s, NULL }, '
                         '&here);' % (function.request,
                                      ', '.join(self.copies)))
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
