#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Global functions and data of lib that only their own file uses.

unused.py SOURCE BUILD: prints one line for each symbol that one object of the
libraries defines and no other object wants, tests and programs included, unless
another source names it (under an #if that is off in this build) or a row of a
table in a header does.  The public interface is left out, and the tables that
VM_CVARS_DEFINE makes for every layer.
"""
import glob
import os
import re
import subprocess
import sys

SOURCE, BUILD = sys.argv[1:3]
PUBLIC = re.compile(r"(vmpi_|P?MPIX?_|vm_entry_)|main$|\w+_cvar_table$")
ROW = re.compile(r"^[ \t]*#[ \t]*define\b(?:.*\\\n)*.*", re.M)


def symbols():
    """({name: object that defines it, of the libraries}, {name: objects that
    want it})"""
    objects = [os.path.join(where, name)
               for where, _, names in os.walk(BUILD)
               for name in names if name.endswith(".o")]
    text = subprocess.run(["nm", "-A", "-g"] + objects, text=True,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    defined, wanted = {}, {}
    libraries = tuple(os.path.join(BUILD, "lib", name)
                      for name in ("libvmpi_static.a.p/", "libvmpi_large.a.p/",
                                   "libvmpi_report.a.p/"))
    for line in text.splitlines():
        path, rest = line.split(":", 1)
        kind, name = rest.split()[-2:]
        if kind in "Uw":
            wanted.setdefault(name, set()).add(path)
        elif path.startswith(libraries) and kind in "TDBRVW":
            defined[name] = path
    return defined, wanted


def words(path):
    text = open(path, errors="replace").read()
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    return set(re.findall(r"\w+", text))


def rows():
    """The words of the macros of headers."""
    found = set()
    for path in glob.glob(f"{SOURCE}/lib/**/*.h", recursive=True):
        for macro in ROW.findall(open(path).read()):
            found.update(re.findall(r"\w+", macro))
    return found


def main():
    defined, wanted = symbols()
    if not defined:
        sys.exit("unused.py: nothing is built in " + BUILD)
    alone = {name: path for name, path in defined.items()
             if name not in wanted and not PUBLIC.match(name)}
    for name in rows() & alone.keys():
        del alone[name]
    named = {}
    for top in "lib", "bin", "t":
        for end in "c", "S", "cc", "inc":
            for path in glob.glob(f"{SOURCE}/{top}/**/*.{end}",
                                  recursive=True):
                for name in words(path) & alone.keys():
                    named.setdefault(name, set()).add(path)
    for name, path in sorted(alone.items(), key=lambda item: item[1]):
        if len(named.get(name, ())) < 2:
            print(f"{', '.join(named.get(name, [os.path.basename(path)]))}: "
                  f"{name}")


main()
