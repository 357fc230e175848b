#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Comments and documents name files, functions and variables that are there.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$VMPI_SRC/t/tap.sh"
need python3 git
cd "$VMPI_SRC" || exit 1
git rev-parse --verify -q HEAD >/dev/null || skip_all "this is no checkout"

none "$(python3 t/lint/names.py . files 2>&1)" "files that are named are there"
none "$(python3 t/lint/names.py . names 2>&1)" \
	"functions, macros and variables that are named are there"
done_testing
