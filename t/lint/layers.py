#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Arrows between folders that lib/LAYERS does not allow.

layers.py SOURCE BUILD includes|symbols|circles|order: prints one line for each
wrong arrow.  `includes` reads the sources, `symbols` the objects with nm;
`circles` prints the folders that use each other in a circle, by both; `order`
the lines of lib/LAYERS that name a folder above themselves, or one that is not
there, and the folders without a line.
"""
import os
import re
import subprocess
import sys

SOURCE, BUILD, WHAT = sys.argv[1:4]
PUBLIC = ("vmpi.h", "vmpi_policy.h")
# Data that a lower folder declares weak and a higher one may fill in: complete
# before any constructor runs, those of preloaded tools included.
PLACES = ("vm_intercept_mpi_names", "vm_intercept_mpi_count")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]*)[">]')


def layers():
    """{folder: allowed names}, in the order of the file."""
    found = {}
    for line in open(os.path.join(SOURCE, "lib/LAYERS")):
        line = line.strip()
        if line and not line.startswith("#"):
            name, allowed = line.split(":")
            found[name] = allowed.split()
    return found


LAYERS = layers()


def directory(folder):
    return folder if folder.startswith("bin/") else "lib/" + folder


def sources():
    """(folder, path) of each source."""
    for folder in LAYERS:
        where = os.path.join(SOURCE, directory(folder))
        if os.path.isdir(where):
            for name in sorted(os.listdir(where)):
                if re.search(r"\.(c|h|S|cc|inc)$", name):
                    yield folder, directory(folder) + "/" + name


def may(folder, other):
    return other == folder or any(
        other == allowed or other.startswith(allowed + "/")
        for allowed in LAYERS[folder])


def included():
    """(folder, other, where, name) of each include; other is None for what no
    folder has."""
    for folder, path in sources():
        for number, line in enumerate(open(os.path.join(SOURCE, path)), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            mark, name = match.groups()
            where = f"{path}:{number}"
            if name == "mpi.h":
                if folder.split("/")[0] != "mpi" and folder != "bin/fortran":
                    yield folder, None, where, name
            elif mark == '"' and name not in PUBLIC:
                if "/" in name:
                    yield folder, os.path.dirname(name), where, name
                elif not folder.startswith("bin/"):
                    yield folder, None, where, name


def objects():
    """(folder, path of the source, path of the object), of the libraries."""
    for folder, path in sources():
        if folder.startswith("bin/"):
            continue
        name = path[len("lib/"):].replace("/", "_") + ".o"
        for library in ("libvmpi_static.a.p", "libvmpi_large.a.p",
                        "libvmpi_report.a.p"):
            built = os.path.join(BUILD, "lib", library, name)
            if os.path.exists(built):
                yield folder, path, built


def used():
    """(folder, other, path, symbol) of each symbol of another folder."""
    rows = list(objects())
    if not rows:
        sys.exit("layers.py: nothing is built in " + BUILD)
    text = subprocess.run(["nm", "-A"] + [row[2] for row in rows], text=True,
                          stdout=subprocess.PIPE, check=True).stdout
    owner = {row[2]: row for row in rows}
    defined, wanted = {}, []
    for line in text.splitlines():
        built, rest = line.split(":", 1)
        kind, name = rest.split()[-2:]
        if kind == "U" or (kind in "vw" and name not in PLACES):
            wanted.append((owner[built], name))
        elif kind.isupper():
            defined[name] = owner[built]
    for (folder, path, _), name in wanted:
        if name in defined and defined[name][0] != folder:
            yield folder, defined[name][0], path, f"{name} of {defined[name][1]}"


def circles():
    """Folders from which others lead back."""
    after = {}
    for arrows in included(), used():
        for folder, other, *_ in arrows:
            if other in LAYERS and other != folder:
                after.setdefault(folder, set()).add(other)
    reach = {}
    for folder in after:
        seen, todo = set(), list(after[folder])
        while todo:
            other = todo.pop()
            if other not in seen:
                seen.add(other)
                todo += after.get(other, ())
        reach[folder] = seen
    return sorted({" ".join(sorted(other for other in reach[folder]
                                   if folder in reach.get(other, ())))
                   for folder in reach if folder in reach[folder]})


def order():
    known = []
    for folder, allowed in LAYERS.items():
        for name in allowed:
            if not any(other == name or other.startswith(name + "/")
                       for other in known):
                yield f"{folder}: {name} does not stand before it"
        known.append(folder)
    for top in "lib", "bin":
        for where, _, names in os.walk(os.path.join(SOURCE, top)):
            folder = os.path.relpath(where, SOURCE)
            name = folder[len("lib/"):] if top == "lib" else folder
            if name not in LAYERS and any(
                    re.search(r"\.[ch]$", file) for file in names):
                yield f"{folder}: no line"


if WHAT == "circles":
    print("\n".join(circles()))
elif WHAT == "order":
    print("\n".join(order()))
else:
    for folder, other, where, name in included() if WHAT == "includes" else used():
        if other is None or not may(folder, other):
            print(f"{where}: {name}")
