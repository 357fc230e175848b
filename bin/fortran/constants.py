# SPDX-License-Identifier: BSD-3-Clause
"""The constants of mpi.h that Fortran has as well."""
import re

HANDLE = {
    'MPI_Comm': 'MPI_Comm', 'MPI_Datatype': 'MPI_Datatype',
    'MPI_Errhandler': 'MPI_Errhandler', 'MPI_File': 'MPI_File',
    'MPI_Group': 'MPI_Group', 'MPI_Info': 'MPI_Info',
    'MPI_Message': 'MPI_Message', 'MPI_Op': 'MPI_Op',
    'MPI_Request': 'MPI_Request', 'MPI_Session': 'MPI_Session',
    'MPI_Win': 'MPI_Win',
}
# What Fortran has in another form, or not at all.
NOT = re.compile(r'MPI_(T_|F_|BOTTOM|IN_PLACE|BUFFER_AUTOMATIC|STATUS(ES)?_I'
                 r'|ERRCODES_|UNWEIGHTED|WEIGHTS_|ARGVS?_|DISPLACEMENT_C'
                 r'|H_ABI|.*_FN(_NULL(_C)?)?$)|MPIX?_(API|.*_API)$')
# A string of Fortran has no null character at its end.
SHORTER = re.compile('MPI_MAX_')
KINDS = [('MPI_ADDRESS_KIND', 8), ('MPI_OFFSET_KIND', 8),
         ('MPI_COUNT_KIND', 8), ('MPI_INTEGER_KIND', 4),
         ('MPI_STATUS_SIZE', 8), ('MPI_SOURCE', 1), ('MPI_TAG', 2),
         ('MPI_ERROR', 3)]


class Constants:
    """plain: [(name, value)]; handles: [(name, type, value)]."""

    def __init__(self, path):
        self.plain, self.handles = list(KINDS), []
        with open(path) as file:
            lines = re.findall(r'^#define\s+(MPIX?_\w+)\s+(\S.*?)\s*$',
                               file.read(), re.M)
        for name, text in lines:
            if NOT.match(name):
                continue
            handle = re.fullmatch(r'\(\((\w+)\)(\w+)\)', text)
            number = re.fullmatch(r'\(?(-?(?:0x)?[0-9a-fA-F]+)\)?', text)
            if handle and handle[1] in HANDLE:
                self.handles.append((name, handle[1], int(handle[2], 0)))
            elif number:
                value = int(number[1], 0)
                self.plain.append(
                    (name, value - 1 if SHORTER.match(name) else value))
