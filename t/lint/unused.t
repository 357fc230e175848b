#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A function or variable that only its own file uses is static there.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
need python3 nm
[ -d "$VMPI_BUILD/t" ] || skip_all "what only tests use cannot be seen"
cd "$VMPI_SRC" || exit 1

none "$(python3 t/lint/unused.py . "$VMPI_BUILD" 2>&1)" \
	"what is global in lib is used in more than one file"
done_testing
