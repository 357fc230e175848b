#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Headers: each compiles alone; the public ones as C99, C17, C++11 and C++17,
# without a warning and without anything private.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$VMPI_SRC/t/tap.sh"
cd "$VMPI_SRC" || exit 1
cc=${CC:-cc}
cxx=${CXX:-c++}
warnings='-Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror'

for header in include/*.h; do
	name=${header#include/}
	for std in c99 c17; do
		ok "$name compiles alone as $std" $cc -std=$std $warnings \
			-fsyntax-only -x c "$header"
	done
	if command -v ${cxx%% *} >/dev/null 2>&1; then
		for std in c++11 c++17; do
			ok "$name compiles alone as $std" $cxx -std=$std -Wall \
				-Wextra -Wpedantic -Werror -fsyntax-only \
				-x c++ "$header"
		done
	else
		skip 2 "there is no C++ compiler"
	fi
	none "$(grep -nE '#[ \t]*include[ \t]*"' "$header")" \
		"$name includes nothing private"
done

find lib -mindepth 1 -type d | sort >"$scratch/folders"
while read -r folder; do
	none "$(for header in "$folder"/*.h; do
		[ -f "$header" ] || continue
		$cc -std=gnu17 -D_GNU_SOURCE -Ilib -Iinclude -Wall -Wextra \
			-Wno-unused-parameter -Werror -fsyntax-only \
			-x c "$header" 2>&1
	done)" "each header in $folder compiles alone"
done <"$scratch/folders"
done_testing
