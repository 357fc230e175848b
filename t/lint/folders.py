#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Folders of lib that are too large, and names that say a thing twice.

folders.py SOURCE size|names|readme: prints one line for each folder with more
than 20 nouns or 6,000 lines; for each file whose name repeats its folder's; for
each folder that the README of its layer has no line for.

A noun is a header and what belongs to it: match.h, match.c, match_random.c.  A
source that belongs to no header is a noun of its own.
"""
import os
import sys

SOURCE, WHAT = sys.argv[1:3]
NOUNS, LINES = 20, 6000


def folders():
    """(name below lib, its files) of each folder with sources."""
    for where, _, names in os.walk(os.path.join(SOURCE, "lib")):
        files = sorted(name for name in names
                       if name.endswith((".c", ".h", ".S", ".inc")))
        if files:
            yield os.path.relpath(where, os.path.join(SOURCE, "lib")), files


def nouns(files):
    """The stems of headers, and of sources that belong to none of them."""
    headers = {os.path.splitext(name)[0] for name in files
               if name.endswith(".h")}
    found = set(headers)
    for name in files:
        stem = os.path.splitext(name)[0]
        if not any(stem == noun or stem.startswith(noun + "_")
                   for noun in found):
            found.add(stem)
    return found


def size():
    for folder, files in folders():
        count = len(nouns(files))
        lines = sum(sum(1 for _ in open(os.path.join(SOURCE, "lib", folder,
                                                     name)))
                    for name in files)
        if count > NOUNS:
            yield f"lib/{folder}: {count} nouns"
        if lines > LINES:
            yield f"lib/{folder}: {lines} lines"


def names():
    for folder, files in folders():
        own = os.path.basename(folder)
        for name in files:
            stem = os.path.splitext(name)[0]
            if stem.startswith(own + "_"):
                yield f"lib/{folder}/{name}"


def readme():
    for folder, _ in folders():
        layer, _, below = folder.partition("/")
        path = os.path.join(SOURCE, "lib", layer, "README")
        if not os.path.exists(path) or (
                (below or layer) + "/" not in open(path).read().split()):
            yield f"lib/{folder}"


for line in {"size": size, "names": names, "readme": readme}[WHAT]():
    print(line)
