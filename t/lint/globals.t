#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No mutable state but the stated one: every writable object of the library is
# in globals.allow, with a reason, and the list names nothing that is gone.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
need objdump
library=$VMPI_BUILD/lib/libvmpi_static.a
[ -f "$library" ] || skip_all "$library is not built"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "sanitizers add variables of their own" ;;
esac

# Constants with addresses in them lie in .data.rel.ro: not writable.  A static
# of a function is called name.number.
objdump -t "$library" | awk -v lib="$VMPI_SRC/lib/" '
# Objects are named after their sources, with "_" for "/".
BEGIN {
	find = "find " lib " -name \"*.[cS]\""
	while ((find | getline path) > 0) {
		path = substr(path, length(lib) + 1)
		name = path
		gsub("/", "_", name)
		source[name] = path
	}
}
/file format/ {
	file = $1
	sub(/:$/, "", file)
	sub(/^.*[:\/]/, "", file)
	sub(/\.o$/, "", file)
	if (file in source)
		file = source[file]
	next
}
(/ O / || (/\.t(bss|data)/ && !/ d /)) && match($0, /[ \t](\.(data|bss|tdata|tbss)[^ \t]*|\*COM\*)\t/) {
	section = substr($0, RSTART + 1, RLENGTH - 2)
	if (section ~ /^\.data\.rel\.ro/)
		next
	name = $NF
	sub(/\.[0-9]+$/, "", name)
	print file, name
}' | sort -u >"$scratch/found"

allow=$VMPI_SRC/t/lint/globals.allow
awk '!/^#/ && NF { print $1, $2 }' "$allow" | sort -u >"$scratch/allowed"

none "$(comm -23 "$scratch/found" "$scratch/allowed")" \
	"every writable variable is in t/lint/globals.allow"
none "$(comm -13 "$scratch/found" "$scratch/allowed")" \
	"t/lint/globals.allow names no variable that is gone"
none "$(awk '!/^#/ && NF && NF < 3' "$allow")" \
	"each row of t/lint/globals.allow gives a reason"
done_testing
