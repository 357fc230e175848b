#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Layers: a file includes only what lib/LAYERS allows its folder, no symbol
# points up, folders use each other in no circle, and a .c file includes its own
# header first, so that every header proves itself complete.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
need python3
cd "$VMPI_SRC" || exit 1
arrows() {
	python3 t/lint/layers.py . "$VMPI_BUILD" "$1" 2>&1
}

# Prints the .c files whose first include is not their own header.
own_first() {
	find lib -name '*.c' | sort | while read -r file; do
		header=${file%.c}.h
		[ -f "$header" ] || continue
		first=$(sed -n 's/^#[ \t]*include[ \t]*\(["<].*[">]\).*/\1/p' \
			"$file" | head -n 1)
		[ "$first" = "\"${header#lib/}\"" ] ||
			echo "$file: first includes $first"
	done
}

none "$(arrows order)" "lib/LAYERS names each folder, from the bottom up"
none "$(own_first)" "each file includes its own header first"
for what in includes symbols circles; do
	none "$(arrows $what)" "no arrow points up, by $what"
done
done_testing
