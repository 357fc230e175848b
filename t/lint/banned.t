#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Functions that the library and the programs do not call: those which write
# without a bound, hide errors, grow the stack, or have state of the process.
# bin/image is left out, it defines some of them anew for its copies.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$VMPI_SRC/t/tap.sh"
cd "$VMPI_SRC" || exit 1

# banned NAMES WHY: no call of one of the names outside comments and strings.
banned() {
	none "$(find lib bin -path bin/image -prune -o -name '*.[ch]' -print |
		sort | xargs awk -v names="$1" '
		{
			line = $0
			gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
			gsub(/\/\*.*\*\//, "", line)
			sub(/\/\/.*/, "", line)
			sub(/^NODE_EXPORT .*\(/, "", line) # defines it
			if (line ~ /^[ \t]*\*/ || line ~ /^[ \t]*\/\*/)
				next
			if (line ~ "(^|[^A-Za-z0-9_.>])(" names ")[ ]*\\(")
				printf "%s:%d: %s\n", FILENAME, FNR, $0
		}')" "$2: $1"
}

banned 'strcpy|strcat|stpcpy|sprintf|vsprintf|gets' "no writing without a bound"
banned 'atoi|atol|atoll|atof' "no parsing without errors"
banned 'alloca|strdupa' "no stack without a bound"
banned 'rand|srand|random|srandom|drand48|strtok' "no state of the process"
done_testing
