# SPDX-License-Identifier: BSD-3-Clause
"""mpif.h and the modules mpi and mpi_f08."""
from entries import specific
from table import BUFFERS, HANDLES, LARGER, STRINGS

SENTINELS = [
    # as struct vm_f_sentinels (convert.h); the type is that of a status where
    # there is none here
    ('MPI_BOTTOM', 'integer', ''), ('MPI_IN_PLACE', 'integer', ''),
    ('MPI_BUFFER_AUTOMATIC', 'integer', ''),
    ('MPI_UNWEIGHTED', 'integer', '(1)'),
    ('MPI_WEIGHTS_EMPTY', 'integer', '(1)'),
    ('MPI_ERRCODES_IGNORE', 'integer', '(1)'),
    ('MPI_STATUS_IGNORE', None, ''), ('MPI_STATUSES_IGNORE', None, '(1)'),
    ('MPI_ARGV_NULL', 'character', '(1)'),
    ('MPI_ARGVS_NULL', 'character', '(1,1)'),
]
FUNCTIONS = [
    'MPI_%s_%s' % (of, what) for of in ('COMM', 'TYPE', 'WIN')
    for what in ('NULL_COPY_FN', 'DUP_FN', 'NULL_DELETE_FN')]
OLD_FUNCTIONS = ['MPI_NULL_COPY_FN', 'MPI_DUP_FN', 'MPI_NULL_DELETE_FN']
CONVERSIONS = ['MPI_CONVERSION_FN_NULL', 'MPI_CONVERSION_FN_NULL_C']
TYPES = sorted({f08 for _, _, f08 in HANDLES.values()})
WORDS = {f08: kind for kind, (_, _, f08) in HANDLES.items()}
KIND = {'aint': 'MPI_ADDRESS_KIND', 'offset': 'MPI_OFFSET_KIND',
        'bigcount': 'MPI_COUNT_KIND', 'attr': 'MPI_ADDRESS_KIND',
        'state': 'MPI_ADDRESS_KIND'}
C_KIND = {'MPI_Fint': None, 'MPI_Aint': 'MPI_ADDRESS_KIND',
          'MPI_Count': 'MPI_COUNT_KIND'}
RESULTS = {'double': 'double precision',
           'aint': 'integer(MPI_ADDRESS_KIND)'}


def fixed(text):
    return '      ' + text + '\n'


def sentinels(line, status, dimension):
    """The COMMON block: in each form the same storage."""
    text = ''
    for name, type_, size in SENTINELS:
        if not type_:
            type_ = status
            size = size if status != 'integer' else dimension[name]
        text += line('%s %s%s' % (type_, name, size))
    for name, _, _ in SENTINELS:
        text += line('common /VMPI_SENTINELS/ ' + name)
    return text


def flags(line, f08):
    """What the bindings promise (MPI 4.1, 19.1.1)."""
    text = ''
    for name in ('MPI_SUBARRAYS_SUPPORTED', 'MPI_ASYNC_PROTECTS_NONBLOCKING'):
        value = '.true.' if f08 and 'SUB' in name else '.false.'
        text += line('logical ' + name) + line('parameter (%s=%s)' % (
            name, value))
    return text


def constants_text(constants):
    """In a form that is right in fixed and in free source."""
    text = ''
    for name, value in constants.plain + [
            (name, value) for name, _, value in constants.handles]:
        text += fixed('integer ' + name)
        text += fixed('parameter (%s=%d)' % (name, value))
    text += fixed('integer(MPI_OFFSET_KIND) MPI_DISPLACEMENT_CURRENT')
    text += fixed('parameter (MPI_DISPLACEMENT_CURRENT=-1)')
    return text + flags(fixed, False)


def mpif_h(constants, functions):
    text = '! Made from the table of signatures of vmpi and its mpi.h.\n'
    text += constants_text(constants)
    text += sentinels(fixed, 'integer', {
        'MPI_STATUS_IGNORE': '(MPI_STATUS_SIZE)',
        'MPI_STATUSES_IGNORE': '(MPI_STATUS_SIZE,1)'})
    text += fixed('save /VMPI_SENTINELS/')
    for function in functions:
        for p in 'MPI_', 'PMPI_':
            name = p + function.name
            text += fixed('%s %s' % (RESULTS[function.result], name))
            text += fixed('external ' + name)
    for name in FUNCTIONS + OLD_FUNCTIONS + CONVERSIONS:
        text += fixed('external ' + name)
    for p in 'MPI_', 'PMPI_':
        for line in SIZEOF.format(p=p).splitlines():
            text += fixed(line.strip())
    return text


class Body:
    """The interface body of one procedure."""

    def __init__(self, name, function, large, f08, cptr=False):
        self.name, self.function, self.f08 = name, function, f08
        self.arguments = function.arguments(large)
        self.large, self.cptr = large, cptr

    def integer(self, kind):
        return 'integer(%s)' % kind if kind else 'integer'

    def type_of(self, a):
        kind = a.kind
        if kind in HANDLES:
            return 'type(%s)' % HANDLES[kind][2] if self.f08 else 'integer'
        if kind in BUFFERS or kind == 'detach' and not self.f08:
            return 'type(*)'
        if kind in ('address', 'detach'):
            return 'type(c_ptr)' if self.f08 or self.cptr else \
                'integer(MPI_ADDRESS_KIND)'
        if kind in LARGER:
            return self.integer(C_KIND[LARGER[kind][self.large]])
        if kind in KIND:
            return self.integer(KIND[kind])
        if kind == 'logical':
            return 'logical'
        if kind in STRINGS:
            return 'character(len=*)'
        if kind == 'status' and self.f08 or kind == 'f08status':
            return 'type(MPI_Status)'
        return 'integer'

    def shape(self, a):
        if a.kind in BUFFERS or a.kind == 'detach' and not self.f08:
            return '(..)' if self.f08 else '(*)'
        if a.kind == 'fstatus':
            return '(MPI_STATUS_SIZE)'
        if a.kind == 'status' and not self.f08:
            return '(MPI_STATUS_SIZE%s)' % (',*' if a.is_array else '')
        if a.kind in ('weights', 'errcodes', 'strings'):
            return '(*)'
        if a.kind == 'strings2':
            return '(%s,*)' % self.arguments[0].name
        if a.length == '3,':
            return '(3,*)'
        return '(*)' if a.is_array else ''

    def attributes(self, a):
        text = ''
        if self.f08 and a.kind not in ('fn',):
            # The standard has no INTENT of an assumed type that is written.
            if not (a.no_intent or a.kind in BUFFERS and a.written):
                text += ', intent(%s)' % ('in' if not a.written else
                                          'inout' if a.read else 'out')
            if a.asynchronous:
                text += ', asynchronous'
        return text

    def lines(self):
        names = [a.name for a in self.arguments]
        head = 'function' if self.function.result else 'subroutine'
        if not self.function.result:
            names.append('ierror')
        yield '%s %s(%s)' % (head, self.name, ', '.join(names))
        yield 'import'
        if self.function.result:
            yield '%s :: %s' % (RESULTS[self.function.result], self.name)
        for a in self.arguments:
            if a.kind == 'fn':
                yield 'procedure(%s) :: %s' % (
                    callback(self.function.name, a.name, self.large),
                    a.name) if self.f08 else 'external :: ' + a.name
                continue
            if not self.f08 and self.type_of(a) == 'type(*)':
                yield '!GCC$ attributes no_arg_check :: ' + a.name
            yield '%s%s :: %s%s' % (self.type_of(a), self.attributes(a),
                                    a.name, self.shape(a))
        if not self.function.result:
            # Conversions of mpi_f08's statuses are the same in both modules.
            yield 'integer%s :: ierror' % (
                ', optional, intent(out)' if self.f08 or any(
                    a.kind == 'f08status' for a in self.arguments) else '')
        yield 'end ' + head

    def text(self):
        return ''.join('    %s\n' % broken(line) for line in self.lines())


def broken(line):
    """Free source has at most 132 columns."""
    if len(line) <= 120 or line.startswith('!'):
        return line
    at = line.rindex(' ', 0, 120)
    return line[:at] + ' &\n      ' + broken(line[at + 1:])


def callback(function, argument, large):
    """The abstract interface of a procedure argument."""
    c = '_c' if large else ''
    names = {'user_fn': 'MPI_User_function' + c,
             'query_fn': 'MPI_Grequest_query_function',
             'free_fn': 'MPI_Grequest_free_function',
             'cancel_fn': 'MPI_Grequest_cancel_function',
             'read_conversion_fn': 'MPI_Datarep_conversion_function' + c,
             'write_conversion_fn': 'MPI_Datarep_conversion_function' + c,
             'dtype_file_extent_fn': 'MPI_Datarep_extent_function'}
    if argument in names:
        return names[argument]
    return 'MPI_' + argument[:1].upper() + argument[1:-2] + 'function'


def handle_types():
    """The module of the types that both modules have."""
    text = '''module vmpi_mpi_types
  implicit none
'''
    for name in TYPES:
        text += '''  type, bind(C) :: %s
    integer :: MPI_VAL
  end type
''' % name
    text += '''  type, bind(C) :: MPI_Status
    integer :: MPI_SOURCE
    integer :: MPI_TAG
    integer :: MPI_ERROR
    integer, private :: MPI_internal(5)
  end type
'''
    for operator, word in ('==', 'eq'), ('/=', 'ne'):
        text += '  interface operator(%s)\n' % operator
        for name in TYPES:
            text += '''    elemental function vmpi_%s_%s(a, b) result(r)
    import
    type(%s), intent(in) :: a, b
    logical :: r
    end function
''' % (WORDS[name], word, name)
        text += '  end interface\n'
    return text + 'end module\n'


def wanted(chapters, have, f08):
    for functions in chapters.values():
        for function in functions:
            if function.only_symbol or f08 and function.only_mpi:
                continue
            yield (function, function.name in have,
                   function.has_large and function.name + '_c' in have)


def mpi_module(chapters, have, constants):
    text = '''module mpi
  use, intrinsic :: iso_c_binding, only: c_ptr
  use vmpi_mpi_types
  implicit none
  private :: c_ptr
'''
    text += constants_text(constants)
    text += sentinels(fixed, 'integer', {
        'MPI_STATUS_IGNORE': '(MPI_STATUS_SIZE)',
        'MPI_STATUSES_IGNORE': '(MPI_STATUS_SIZE,1)'})
    for name in FUNCTIONS + OLD_FUNCTIONS + CONVERSIONS:
        text += '  external :: %s\n' % name
    for function, plain, _ in wanted(chapters, have, False):
        if not plain:
            continue
        for p in 'MPI_', 'PMPI_':
            name = p + function.name
            # A generic name takes no element of an array as an array.
            several = any(a.kind == 'address' for a in function.all)
            text += '  interface %s\n' % (name if several else '')
            text += Body(name, function, False, False).text()
            if several:
                text += Body(name + '_cptr', function, False, False,
                             True).text()
            text += '  end interface\n'
    for p in 'MPI_', 'PMPI_':
        text += SIZEOF.format(p=p)
    return text + 'end module\n'


# Tells the size by the descriptor.
SIZEOF = '''  interface
    subroutine {p}Sizeof(x, size, ierror)
    type(*), dimension(..) :: x
    integer :: size, ierror
    end subroutine
  end interface
'''
REGISTER = '''  interface
    subroutine {p}F_sync_reg(buf)
    type(*), dimension(..), asynchronous :: buf
    end subroutine
  end interface
'''


def abstract_interfaces():
    """Procedures of the program, as mpi_f08 sees them."""
    handle = {'Comm': 'MPI_Comm', 'Type': 'MPI_Datatype', 'Win': 'MPI_Win',
              'File': 'MPI_File', 'Session': 'MPI_Session'}
    aint = 'integer(MPI_ADDRESS_KIND)'
    all_ = []
    for c, count in ('', 'integer'), ('_c', 'integer(MPI_COUNT_KIND)'):
        all_.append(('MPI_User_function' + c, [
            ('type(c_ptr), value', 'invec'), ('type(c_ptr), value',
                                              'inoutvec'),
            (count, 'len'), ('type(MPI_Datatype)', 'datatype')]))
        all_.append(('MPI_Datarep_conversion_function' + c, [
            ('type(c_ptr), value', 'userbuf'),
            ('type(MPI_Datatype)', 'datatype'), (count, 'count'),
            ('type(c_ptr), value', 'filebuf'),
            ('integer(MPI_OFFSET_KIND)', 'position'), (aint, 'extra_state'),
            ('integer', 'ierror')]))
    for of in 'Comm', 'Type', 'Win':
        key = of.lower() + '_keyval'
        old = 'datatype' if of == 'Type' else of.lower()
        all_.append(('MPI_%s_copy_attr_function' % of, [
            ('type(%s)' % handle[of], 'old' + of.lower()), ('integer', key),
            (aint, 'extra_state'), (aint, 'attribute_val_in'),
            (aint, 'attribute_val_out'), ('logical', 'flag'),
            ('integer', 'ierror')]))
        all_.append(('MPI_%s_delete_attr_function' % of, [
            ('type(%s)' % handle[of], old), ('integer', key),
            (aint, 'attribute_val'), (aint, 'extra_state'),
            ('integer', 'ierror')]))
    for of in 'Comm', 'Win', 'File', 'Session':
        all_.append(('MPI_%s_errhandler_function' % of, [
            ('type(%s)' % handle[of], of.lower()),
            ('integer', 'error_code')]))
    all_ += [
        ('MPI_Grequest_query_function', [
            (aint, 'extra_state'), ('type(MPI_Status)', 'status'),
            ('integer', 'ierror')]),
        ('MPI_Grequest_free_function', [
            (aint, 'extra_state'), ('integer', 'ierror')]),
        ('MPI_Grequest_cancel_function', [
            (aint, 'extra_state'), ('logical', 'complete'),
            ('integer', 'ierror')]),
        ('MPI_Datarep_extent_function', [
            ('type(MPI_Datatype)', 'datatype'), (aint, 'extent'),
            (aint, 'extra_state'), ('integer', 'ierror')])]
    return all_


def procedure(name, arguments):
    text = '    subroutine %s(%s)\n    import\n' % (
        name, ', '.join(x for _, x in arguments))
    for type_, argument in arguments:
        text += '    %s :: %s\n' % (type_, argument)
    return text + '    end subroutine\n'


def f08_module(chapters, have, constants):
    text = '''module mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr
  use vmpi_mpi_types
  implicit none
  private :: c_ptr
'''
    for name, value in constants.plain:
        text += '  integer, parameter :: %s = %d\n' % (name, value)
    text += '''  integer(MPI_OFFSET_KIND), parameter :: &
    MPI_DISPLACEMENT_CURRENT = -1
'''
    for name, type_, value in constants.handles:
        text += '  type(%s), parameter :: %s = %s(%d)\n' % (
            type_, name, type_, value)
    text += flags(fixed, True)
    text += sentinels(fixed, 'type(MPI_Status)', {})
    # C_LOC() is what a detach returns.
    text += fixed('target MPI_BUFFER_AUTOMATIC')
    text += '  abstract interface\n'
    interfaces = abstract_interfaces()
    for name, arguments in interfaces:
        text += procedure(name, arguments)
    text += '  end interface\n  interface\n'
    shapes = dict(interfaces)
    for name in FUNCTIONS:
        of, what = name[4:].split('_', 1)
        shape = 'MPI_%s_%s_attr_function' % (
            of.capitalize(), 'delete' if 'DELETE' in what else 'copy')
        text += procedure(name, shapes[shape])
    for name, c in zip(CONVERSIONS, ('', '_c')):
        text += procedure(name, shapes[
            'MPI_Datarep_conversion_function' + c])
    text += '  end interface\n'
    for function, plain, large in wanted(chapters, have, True):
        for p in 'MPI_', 'PMPI_':
            bodies = [Body(p + specific(function, size), function, size, True)
                      for size in (False, True) if (plain, large)[size]]
            by_name = function.large_by_name
            for i, body in enumerate(bodies):
                if i == 0 or by_name:
                    text += '  interface %s%s%s\n' % (
                        p, function.name,
                        '_c' if by_name and body.large else '')
                text += body.text()
                if i == len(bodies) - 1 or by_name:
                    text += '  end interface\n'
    for p in 'MPI_', 'PMPI_':
        text += SIZEOF.format(p=p).replace(
            'Sizeof', 'Sizeof').replace('integer :: size, ierror', '''integer, intent(out) :: size
    integer, optional, intent(out) :: ierror''')
        text += REGISTER.format(p=p)
    return text + 'end module\n'


def modules(chapters, have, constants):
    functions = [f for f, plain, _ in wanted(chapters, have, False)
                 if plain and f.result]
    return {'mpif.h': mpif_h(constants, functions),
            'types.f90': handle_types(),
            'mpi.f90': mpi_module(chapters, have, constants),
            'mpi_f08.f90': f08_module(chapters, have, constants)}
