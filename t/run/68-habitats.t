#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs in strange surroundings (t/habitats): each is right, or refused in words,
# as docs/reliability.md says.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the surroundings are too narrow for sanitizers" ;;
esac

# Not below /tmp, over which a row mounts something.
dir=$VMPI_BUILD/habitats.test
rm -rf "$dir"
"$VMPI_SRC/t/habitats/run" "$dir" >table 2>err
is $? 0 "no job hangs, crashes, is wrong or ends without a word" ||
	diag "$(grep -E 'hang|crash|wrong|silent|^[0-9]' table; cat err)"
rm -rf "$dir"

# rows FILE: title, and the words of the cells without their notes.
rows() {
	sed -n '/^| surroundings /,/^$/ { /^| /!d; s/ ([0-9]*)//g; p }' "$1"
}
rows table >here
rows "$VMPI_SRC/docs/reliability.md" >there
ok "there are at least 40 rows" test "$(wc -l <here)" -ge 40
is "$(cut -d '|' -f 2 here)" "$(cut -d '|' -f 2 there)" \
	"docs/reliability.md has the same (make habitats)"
# What fits below a number depends on the processors, and other versions of what
# a row needs may allow more.
none "$(awk -F ' *[|] *' '
	NR == FNR { split($0, cell); for (i = 3; i <= 6; i++) said[$2, i] = $i }
	NR != FNR && !/^[|] (ulimit|[0-9])/ {
		for (i = 3; i <= 6; i++)
			if ($i == "refused" && said[$2, i] == "right")
				print $2 ": " $i ", there " said[$2, i]
	}' there here)" "and what is right there is right here"
done_testing
