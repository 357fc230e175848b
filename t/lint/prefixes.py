#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names of lib's headers that mean two things, or that have no prefix.

prefixes.py SOURCE unique|layer|prefix: prints one line for each struct, enum,
union, inline function or macro of a header that another file of lib defines, too
(unique); each struct, enum or union that two files of one layer define (layer);
each struct, enum, union or inline function of a header that does not begin with
vm_, vmpi_ or the name of a group of variables: core_, sched_, ... (prefix).
"""
import glob
import re
import sys

SOURCE, WHAT = sys.argv[1:3]
PREFIX = re.compile(r"vm_|vmpi_|(sched|fabric|core|mpi|overlap|trace|tune)_")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
KINDS = {
    "tag": re.compile(r"^(?:static |const )*(?:struct|enum|union)\s+(\w+)\s*\{",
                      re.M),
    "function": re.compile(r"^static inline[^;{]*?\b(\w+)\(", re.M),
    "macro": re.compile(r"^#[ \t]*define[ \t]+(\w+)", re.M),
}


def definitions():
    """{(kind, name): files of lib}."""
    found = {}
    for path in sorted(glob.glob(f"{SOURCE}/lib/**/*.[ch]", recursive=True)):
        text = COMMENT.sub(" ", open(path).read())
        for kind, pattern in KINDS.items():
            for name in set(pattern.findall(text)):
                found.setdefault((kind, name), []).append(
                    path.removeprefix(SOURCE + "/"))
    return found


for (kind, name), paths in sorted(definitions().items()):
    layers = [path.split("/")[1] for path in paths]
    if WHAT == "layer" and kind == "tag" and len(set(layers)) < len(layers):
        print(f"tag {name}: {', '.join(paths)}")
    if not any(path.endswith(".h") for path in paths):
        continue
    if WHAT == "unique" and len(paths) > 1:
        print(f"{kind} {name}: {', '.join(paths)}")
    if WHAT == "prefix" and kind != "macro" and not PREFIX.match(name):
        print(f"{kind} {name}: {paths[0]}")
