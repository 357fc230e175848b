#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the Fortran bindings from the table `signatures` and from mpi.h.

generate.py SIGNATURES CALLS_H MPI_H OUTDIR CC...

writes OUTDIR/CHAPTER.c (the entries of mpif.h and of module mpi, and those of
mpi_f08 that are the same), OUTDIR/CHAPTER_f08.c (those with descriptors or with
large counts) and the Fortran sources.  What has no row in CALLS_H, which CC
expands, is left out.
"""
import os
import re
import subprocess
import sys

from constants import Constants
from entries import entries
from modules import modules
from table import read_table


ROWS = """#include "%s"
#define HAS(name, ...) has name.
#define LACKS(name, ...) lacks name.
MPI_CALLS(HAS) MPI_CALLS_UNSUPPORTED(LACKS)
"""


def implemented(path, header, compiler):
    """The functions that the library has: the rows of calls.h."""
    text = subprocess.run(
        compiler + ['-E', '-P', '-I' + os.path.dirname(header), '-I' +
                    os.path.join(os.path.dirname(path), '../..'),
                    '-x', 'c', '-'], check=True,
        input=ROWS % os.path.abspath(path), stdout=subprocess.PIPE,
        universal_newlines=True).stdout
    rows = re.findall(r'\b(has|lacks) (\w+) ?\.', text)
    return ({name for word, name in rows if word == 'has'} -
            {name for word, name in rows if word == 'lacks'})


def main():
    table, calls, header, out = sys.argv[1:5]
    chapters = read_table(table)
    have = implemented(calls, header, sys.argv[5:])
    constants = Constants(header)
    texts = modules(chapters, have, constants)
    for chapter, functions in chapters.items():
        texts[chapter + '.c'], texts[chapter + '_f08.c'] = entries(
            functions, have)
    for name, text in texts.items():
        with open(os.path.join(out, name), 'w') as file:
            file.write(text)


main()
