#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Documents: nothing was pasted twice or into the middle of a paragraph.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$VMPI_SRC/t/tap.sh"
need python3
cd "$VMPI_SRC" || exit 1

none "$(python3 t/lint/text.py . twice 2>&1)" \
	"no line of a document stands there again soon after"
none "$(python3 t/lint/text.py . headings 2>&1)" \
	"headings have a blank line before and after them"
done_testing
