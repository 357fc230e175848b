# SPDX-License-Identifier: BSD-3-Clause
"""Reads the table of signatures; the head of that file describes it."""
import re

HANDLES = {
    # kind: type in C, name in functions that convert, type in mpi_f08
    'comm': ('MPI_Comm', 'Comm', 'MPI_Comm'),
    'errh': ('MPI_Errhandler', 'Errhandler', 'MPI_Errhandler'),
    'file': ('MPI_File', 'File', 'MPI_File'),
    'group': ('MPI_Group', 'Group', 'MPI_Group'),
    'info': ('MPI_Info', 'Info', 'MPI_Info'),
    'message': ('MPI_Message', 'Message', 'MPI_Message'),
    'op': ('MPI_Op', 'Op', 'MPI_Op'),
    'request': ('MPI_Request', 'Request', 'MPI_Request'),
    'session': ('MPI_Session', 'Session', 'MPI_Session'),
    'type': ('MPI_Datatype', 'Type', 'MPI_Datatype'),
    'win': ('MPI_Win', 'Win', 'MPI_Win'),
}
# Kinds that the large twin of a function has larger: types before and after.
LARGER = {
    'count': ('MPI_Fint', 'MPI_Count'),
    'disp': ('MPI_Fint', 'MPI_Aint'),
    'adisp': ('MPI_Aint', 'MPI_Count'),
}
# What a call does with a buffer: it uses all of it; divides it; combines its
# elements; takes so many bytes; has partitions; keeps the memory; takes the
# address.
BUFFERS = ('choice', 'blocks', 'operand', 'bytes', 'parts', 'region', 'place')
STRINGS = ('string', 'word', 'strings', 'strings2')


class Argument:
    def __init__(self, text, kinds):
        found = re.fullmatch(r'(\w+)(:\w+)?(\+?)(!?)([>=&]?)(~?)(\[.*\])?',
                             text)
        if not found:
            raise SystemExit('signatures: argument "%s"' % text)
        self.name, kind, plus, free, way, asynchronous, length = found.groups()
        if not kind and self.name not in kinds:
            raise SystemExit('signatures: no kind of "%s"' % self.name)
        self.kind = kind[1:] if kind else kinds[self.name]
        self.large_only = bool(plus)
        self.no_intent = bool(free)
        self.by_address = way == '&'
        self.written = way in ('>', '=')
        self.read = way != '>'
        self.asynchronous = bool(asynchronous)
        self.length = length[1:-1] if length else None

    @property
    def is_array(self):
        return self.length is not None and self.kind not in (
            STRINGS + BUFFERS)


class Function:
    def __init__(self, words, kinds):
        found = re.fullmatch(r'(\w+)(\*?)(\^{0,2})(=\w+)?', words[0])
        if not found:
            raise SystemExit('signatures: function "%s"' % words[0])
        self.name = found[1]
        self.by_hand = bool(found[2])
        self.only_mpi = found[3] == '^'
        self.only_symbol = found[3] == '^^'
        self.result = found[4][1:] if found[4] else None
        self.c_only = words.count('0')
        self.all = [Argument(word, kinds) for word in words[1:] if word != '0']

    def arguments(self, large):
        return [a for a in self.all if large or not a.large_only]

    @property
    def has_large(self):
        return any(a.kind in LARGER for a in self.all) or self.name in (
            'Op_create', 'Register_datarep')

    @property
    def large_by_name(self):
        """Whether arguments do not tell the large twin from the other: neither a
        callback does, nor an address from a count, which are of one size."""
        return not any(a.large_only or a.kind in ('count', 'disp')
                       for a in self.all)

    @property
    def has_buffer(self):
        return any(a.kind in BUFFERS for a in self.all)

    @property
    def differs(self):
        """Whether mpi_f08 needs an entry of its own."""
        return self.has_buffer or any(a.kind == 'detach' for a in self.all)

    @property
    def request(self):
        """The argument by which a call tells when it is done."""
        return next((a.name for a in self.all if a.kind == 'request' and
                     a.written and not a.read), None)

    @property
    def responsible(self):
        """The argument whose error handler gets errors: kind and name."""
        return next(((a.kind, a.name) for a in self.all
                     if a.kind in ('comm', 'win', 'file') and a.read), None)


def read_table(path):
    """Returns {chapter: [Function]}."""
    chapters, kinds, lines = {}, {}, []
    with open(path) as file:
        for line in file:
            line = line.rstrip()
            if line.startswith(' '):
                lines[-1] += line
            elif line and not line.startswith('#'):
                lines.append(line)
    functions = None
    for line in lines:
        words = line.split()
        if line.startswith('%'):
            kinds.update(dict.fromkeys(words[1:], words[0][1:]))
        elif line.startswith('['):
            functions = chapters.setdefault(line[1:-1], [])
        else:
            functions.append(Function(words, kinds))
    return chapters
