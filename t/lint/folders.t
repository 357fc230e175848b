#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Folders of lib: small enough to be read, described, and not said twice.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$VMPI_SRC/t/tap.sh"
need python3
cd "$VMPI_SRC" || exit 1
folders() {
	python3 t/lint/folders.py . "$1" 2>&1
}

none "$(folders size)" "a folder has at most 20 nouns and 6,000 lines"
none "$(folders names)" "a file's name does not repeat its folder's"
none "$(folders readme)" "lib/<layer>/README has a line for each folder"
done_testing
