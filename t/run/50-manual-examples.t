#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The programs in the manual pages: each is compiled as it stands there, runs,
# and prints what the page says.
#
# A page marks a program by two comments in front of its .Bd -literal:
#	.\" example: NAME
#	.\" prints: a part of some line of its output
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
[ -e "$VMPI_BUILD/lib/libvmpi.so" ] || skip_all "libvmpi.so is not built"
[ -x "$VMPI_BUILD/bin/vmpi-node/vmpi-node" ] ||
	skip_all "vmpi-node is not built"
cc=${CC:-cc}
warnings='-Wall -Wextra -Werror -Wno-unused-parameter'
cd "$scratch" || exit 1

# Writes the examples of page $1 to NAME.c and their outputs to NAME.want.
extract() {
	awk '
	/^\.\\" example: / { name = $3; next }
	/^\.\\" prints: / {
		sub(/^\.\\" prints: /, "")
		print >(name ".want")
		next
	}
	name != "" && /^\.Bd -literal/ { on = 1; next }
	on && /^\.Ed/ { on = 0; close(name ".c"); name = ""; next }
	on {
		gsub(/\\&/, "")
		gsub(/\\e/, "\\")
		print >(name ".c")
	}' "$1"
}

compile() {
	if grep -q 'include <mpi\.h>' "$1.c"; then
		"$VMPI_BUILD/vmpicc" $warnings -o "$1" "$1.c"
	else
		$cc -std=gnu17 $warnings $sanitize -pthread \
			"-I$VMPI_SRC/include" -o "$1" "$1.c" \
			"-L$VMPI_BUILD/lib" "-Wl,-rpath,$VMPI_BUILD/lib" -lvmpi
	fi
}

execute() {
	if grep -q 'include <mpi\.h>' "$1.c"; then
		timeout 150 "$VMPI_BUILD/vmpirun" -n 4 "./$1"
	else
		timeout 150 "./$1"
	fi
}

for page in "$VMPI_SRC"/man/vmpi*.3 "$VMPI_SRC"/man/vmpi.7; do
	name=${page##*/}
	marked=$(grep -c '^\.\\" example: ' "$page")
	rm -f ./*.c
	extract "$page"
	found=$(ls ./*.c 2>/dev/null | wc -l)
	[ "$marked" -gt 0 ] && [ "$found" -eq "$marked" ]
	is "$?" 0 "$name has examples, each a program"
	for source in ./*.c; do
		example=$(basename "$source" .c)
		[ -e "$example.c" ] || continue
		ok "$name: $example compiles" compile "$example"
		execute "$example" >"$example.out" 2>&1
		is "$?" 0 "$name: $example runs"
		if [ ! -s "$example.want" ]; then
			fail "$name: says what $example prints"
		elif grep -qF -- "$(cat "$example.want")" "$example.out"; then
			pass "$name: $example prints what the page says"
		else
			fail "$name: $example prints what the page says"
			diag "$(cat "$example.out")"
		fi
	done
done
done_testing
