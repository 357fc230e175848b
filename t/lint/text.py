#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes of pasting in documents.

text.py SOURCE twice|headings: prints one line for each line of a document that
stands there again within 40 lines; for each heading without a blank line before
and after it.  Code and tables are left out.
"""
import glob
import os
import sys

SOURCE, WHAT = sys.argv[1:3]
NEAR = 40
SHORT = 25  # characters: shorter lines say little


def documents():
    for pattern in "*.md", "docs/*.md", "bench/*.md":
        yield from sorted(glob.glob(os.path.join(SOURCE, pattern)))


def lines(path):
    """(number, line, whether it is code) of a document."""
    code = False
    for number, line in enumerate(open(path).read().split("\n"), 1):
        fence = line.lstrip().startswith("```")
        yield number, line, code or fence
        code ^= fence


def twice():
    for path in documents():
        seen = {}
        for number, line, code in lines(path):
            text = line.strip()
            if code or len(text) < SHORT or text[0] in "|+-=":
                continue
            if number - seen.get(text, -NEAR - 1) <= NEAR:
                yield f"{path}:{number}: as in line {seen[text]}: {text}"
            seen[text] = number


def headings():
    for path in documents():
        text = [(line, code) for _, line, code in lines(path)]
        for at, (line, code) in enumerate(text):
            if code or not line.startswith("#"):
                continue
            if at and text[at - 1][0] or at + 1 < len(text) and text[at + 1][0]:
                yield f"{path}:{at + 1}: {line}"


for found in {"twice": twice, "headings": headings}[WHAT]():
    print(found.removeprefix(SOURCE + "/").removeprefix("./"))
