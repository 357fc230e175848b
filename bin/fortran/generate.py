#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the Fortran bindings from the table `signatures` and from mpi.h.

generate.py SIGNATURES CALLS_H MPI_H OUTDIR

writes OUTDIR/CHAPTER.c (the entries of mpif.h and of module mpi, and those of
mpi_f08 that are the same), OUTDIR/CHAPTER_f08.c (those with descriptors or with
large counts) and the Fortran sources.  What has no row in CALLS_H is left out.
"""
import os
import sys

from constants import Constants
from entries import entries
from modules import modules
from table import read_table


def implemented(path):
    """The functions that the library has: the rows of calls.h."""
    import re
    with open(path) as file:
        return set(re.findall(r'\bX\((\w+)', file.read()))


def main():
    table, calls, header, out = sys.argv[1:]
    chapters = read_table(table)
    have = implemented(calls)
    constants = Constants(header)
    texts = modules(chapters, have, constants)
    for chapter, functions in chapters.items():
        texts[chapter + '.c'], texts[chapter + '_f08.c'] = entries(
            functions, have)
    for name, text in texts.items():
        with open(os.path.join(out, name), 'w') as file:
            file.write(text)


main()
