#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names in comments and documents that name nothing.

names.py SOURCE files|names: prints one line for each path or file name, and for
each identifier (vm_..., VM_..., vmpi_..., VMPI_..., MPI_T_..., variables like
core_...), that is mentioned and not there.  A name is there if it is a word of the
code, or if it is a variable whose field is one.  Names that end in "_" or "..."
stand for many and are not looked at.
"""
import os
import re
import subprocess
import sys

SOURCE, WHAT = sys.argv[1:3]
os.chdir(SOURCE)

CODE = re.compile(r"\.(c|h|S|cc|inc)$")
TEXT = re.compile(r"\.md$|^man/|(^|/)README$|^lib/LAYERS$|\.sh$|\.t$|\.py$|"
                  r"meson\.build$")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|"
                     r"'(?:[^'\\\n]|\\.)'", re.S)
PATH = re.compile(r"(?<![\w/.<>$*}~-])([\w-]+(?:/[\w-]+)*\.(?:c|h|S|t|inc|md|py))"
                  r"(?![\w/*.-]*\w)")
# The groups of variables, whose names begin with them.
GROUPS = "overlap|trace|tune|sched|fabric|core|mpi"
NAME = re.compile(r"(?<![\w$<>%%.-])(vm_\w+|VM_\w+|vmpi_\w+|VMPI_\w+|"
                  r"(?:%s)_[a-z0-9]\w+)(?![\w/-]|\.\w|<|\.\.\.)" % GROUPS)
# Functions that are called by this name: send_queue().
CALL = re.compile(r"(?<![\w.$/-])([a-z]\w*_\w+)\(\)")
# Files of others, and examples.
ELSEWHERE = re.compile(
    r"^(dl-lookup|heat|crash|mine|enough|ask|solver)\.(c|py)$|^(pmix|mpif)\.h$|"
    r"(^|/)(NAME|PART|NN-topic|topic)\.(c|t)$")


def tracked():
    return subprocess.run(["git", "ls-files"], text=True, check=True,
                          stdout=subprocess.PIPE).stdout.split("\n")[:-1]


def mentions(path, text):
    """(number of the line, text) of what is prose in a file."""
    if CODE.search(path):
        for match in COMMENT.finditer(text):
            if match.group().startswith("/"):
                yield text.count("\n", 0, match.start()) + 1, match.group()
    elif path.endswith((".md", "README", "LAYERS")) or path.startswith("man/"):
        yield 1, text
    else:
        for number, line in enumerate(text.split("\n"), 1):
            if line.lstrip().startswith("#"):
                yield number, line


FILES = tracked()
TEXTS = {path: open(path, errors="replace").read() for path in FILES
         if (CODE.search(path) or TEXT.search(path)) and os.path.isfile(path)}


def files():
    below = {}
    for path in FILES:
        parts = path.split("/")
        for at in range(len(parts)):
            below.setdefault("/".join(parts[at:]), path)
    for path, text in TEXTS.items():
        for first, prose in mentions(path, text):
            for match in PATH.finditer(prose):
                name = match.group(1)
                if name in below or ELSEWHERE.search(name):
                    continue
                if os.path.exists("/usr/include/" + name):
                    continue
                yield path, first + prose.count("\n", 0, match.start()), name


def names():
    there = set()
    for path, text in TEXTS.items():
        if CODE.search(path):
            text = COMMENT.sub(lambda match: " " if match.group()[0] == "/"
                               else match.group(), text)
        elif path.endswith((".md", "README")) or path.startswith("man/"):
            continue
        else:
            text = re.sub(r"^\s*#.*", "", text, flags=re.M)
        there.update(re.findall(r"\w+", text))
    for path, text in TEXTS.items():
        for first, prose in mentions(path, text):
            for match in list(NAME.finditer(prose)) + list(CALL.finditer(prose)):
                name = match.group(1)
                field = name.partition("_")[2]
                if name.startswith("VMPI_"):
                    field = field.partition("_")[2].lower()
                if name in there or field in there or name.endswith("_") or \
                        name.startswith("vm_entry_"):
                    continue
                if prose.startswith(".Dt ", prose.rfind("\n", 0, match.start()) + 1):
                    continue
                yield path, first + prose.count("\n", 0, match.start()), name


for path, line, name in {"files": files, "names": names}[WHAT]():
    print(f"{path}:{line}: {name}")
