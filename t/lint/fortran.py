# SPDX-License-Identifier: BSD-3-Clause
"""fortran.py missing|unknown|different PREPROCESSED_MPI_H

Compares bin/fortran/signatures with the prototypes of mpi.h.
"""
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, 'bin/fortran')
from entries import SIMPLE  # noqa: E402
from table import BUFFERS, HANDLES, LARGER, STRINGS, read_table  # noqa: E402

WHAT, HEADER = sys.argv[1:]
# Tools are written in C, conversions are what the bindings do, and the count of
# partitions is large without a _c.
C_ONLY = re.compile(r'T_|.*_(c2f|f2c|toint|fromint|c2f08|f082c)$|'
                    r'P(send|recv)_init_c$')
# Those of an old name whose arguments are addresses in C.
OLD = 'aint'


def prototypes():
    """{function: [type of an argument]}, in words without const and blanks."""
    text = re.sub(r'\s+', ' ', open(HEADER).read())
    found = {}
    for name, arguments in re.findall(
            r'(?:int|double|MPI_Aint) MPI_(\w+) ?\(([^();]*)\)', text):
        types = []
        for argument in arguments.split(','):
            argument = argument.replace('const ', '').strip()
            if argument in ('void', '...'):
                continue
            word = re.match(r'\w+', argument)[0]
            types.append((word, argument.count('*') + argument.count('[')))
        found[name] = types
    return found


def expected(a, large):
    """What the type of an argument in C may be: a word, and how many times it
    is pointed to."""
    array = a.is_array + (a.length == '3,')
    by = 1 if a.written and not a.is_array else 0
    if a.kind in HANDLES:
        return HANDLES[a.kind][0], array or by or a.by_address
    if a.kind in BUFFERS or a.kind in ('address', 'detach', 'state',
                                       'oldstate', 'attr', 'oldattr'):
        return 'void', 1
    if a.kind in STRINGS:
        return 'char', {'strings': 2, 'strings2': 3}.get(a.kind, 1)
    if a.kind in ('status', 'fstatus', 'f08status'):
        return SIMPLE[a.kind], 1
    if a.kind in ('weights', 'errcodes'):
        return 'int', 1
    if a.kind in LARGER:
        word = LARGER[a.kind][large]
    else:
        word = SIMPLE[a.kind]
    return ('int' if word == 'MPI_Fint' else word), array or by


def differences(function, types, large):
    arguments = function.arguments(large)
    types = types[function.c_only:]
    if len(arguments) != len(types):
        yield '%d arguments, not %d' % (len(types), len(arguments))
        return
    for a, (word, stars) in zip(arguments, types):
        if a.kind == 'fn':
            good = word.endswith(('_function', '_function_c', '_fn'))
        elif function.only_symbol and word == 'MPI_Aint':
            good = a.kind in ('int', 'place')
        else:
            good = expected(a, large) == (word, stars)
        if not good:
            yield '%s is %s%s' % (a.name, word, ' *' * stars)


functions = {f.name: f for chapter in read_table(
    'bin/fortran/signatures').values() for f in chapter}
declared = prototypes()
names = set(functions) | {f.name + '_c' for f in functions.values()
                          if f.has_large}
if WHAT == 'missing':
    for name in sorted(set(declared) - names):
        if not C_ONLY.match(name):
            print('MPI_' + name)
elif WHAT == 'unknown':
    for name in sorted(names - set(declared)):
        print('MPI_' + name)
else:
    for name in sorted(names & set(declared)):
        large = name not in functions
        function = functions[name[:-2] if large else name]
        for text in differences(function, declared[name], large):
            print('MPI_%s: %s' % (name, text))
