#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The form of files: format, head comment, length of functions and files.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$VMPI_SRC/t/tap.sh"
cd "$VMPI_SRC" || exit 1

find include lib bin t examples bench -name '*.[ch]' | sort >"$scratch/files"

# Other versions of clang-format disagree in details.
format=
for tool in clang-format-14 clang-format; do
	"$tool" --version 2>/dev/null | grep -q 'version 14\.' && format=$tool &&
		break
done
awk '!/^#/ && NF { print $1 }' t/lint/format.except |
	grep -vxFf - "$scratch/files" >"$scratch/formatted"
if [ -n "$format" ]; then
	none "$(xargs "$format" --dry-run -Werror <"$scratch/formatted" 2>&1 |
		grep -E '^[^ ]+:[0-9]+:[0-9]+: ' | sort -u -t: -k1,1)" \
		"clang-format 14 changes nothing (make format)"
else
	skip 1 "clang-format 14 is not installed"
fi

none "$(while read -r file; do
	head -n 1 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' ||
		echo "$file"
done <"$scratch/files")" "every source says its licence in line 1"

# Programs of bench, examples and t also say there how they are used.
none "$(grep -E '^(include|lib|bin)/' "$scratch/files" | xargs awk '
FNR == 2 && !/^\/\*/ { print FILENAME ": has none" }
FNR > 2 && !ended[FILENAME] && /^ \*\/$/ {
	ended[FILENAME] = 1
	if (FNR - 3 > 8)
		printf "%s: %d lines\n", FILENAME, FNR - 3
}')" "a head comment has at most 8 lines; the rest follows the includes"

none "$(xargs grep -nE '[[:blank:]]$' <"$scratch/files")" \
	"no line ends in white space"

none "$(xargs awk '
FNR == 1 { start = 0 }
/^\{/ { start = FNR }
/^\}/ && start {
	if (FNR - start - 1 > 70)
		printf "%s:%d: %d lines\n", FILENAME, start, FNR - start - 1
	start = 0
}' <"$scratch/files")" "no function is longer than 70 lines"

long() {
	grep '\.c$' "$scratch/files" | while read -r file; do
		lines=$(wc -l <"$file")
		[ "$lines" -le "$1" ] || echo "$file: $lines lines"
	done
}
none "$(long 700)" "no source is longer than 700 lines"
long 600 | sed 's/^/# better split: /'

none "$(xargs grep -nE '\b(TODO|FIXME|XXX)\b' <"$scratch/files")" \
	"nothing is left to do in a comment"
done_testing
