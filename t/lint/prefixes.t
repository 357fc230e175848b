#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One name, one meaning: names of headers have a prefix and are there once.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$VMPI_SRC/t/tap.sh"
need python3
cd "$VMPI_SRC" || exit 1

none "$(python3 t/lint/prefixes.py . unique 2>&1)" \
	"what a header defines no other file of lib defines"
none "$(python3 t/lint/prefixes.py . layer 2>&1)" \
	"a layer defines a struct, an enum or a union once"
none "$(python3 t/lint/prefixes.py . prefix 2>&1)" \
	"types and functions of headers begin with vm_ or a layer"
done_testing
