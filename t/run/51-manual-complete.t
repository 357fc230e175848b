#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual of vmpi.h: each function is described in exactly one page, with the
# prototype that the header has, and each error code is listed.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$VMPI_SRC/t/tap.sh"
cc=${CC:-cc}
cd "$VMPI_SRC" || exit 1

# One spelling of white space: "int vmpi_f(const char *name, int n)".
tidy() {
	tr -s ' \t' ' ' | sed 's/^ //; s/ $//; s/\* /*/g; s/ *( */(/
		s/ *) */)/g; s/ *, */, /g'
}

$cc -E -P include/vmpi.h | sed 's/__attribute__((visibility("default")))//' |
	tr '\n' ' ' | tr ';{}' '\n\n\n' | grep -v typedef | tidy |
	grep -E '^[a-z0-9_ *]+vmpi_[a-z_]+\(.*\)$' | sort >"$scratch/declared"
[ -s "$scratch/declared" ]
is "$?" 0 "vmpi.h declares functions"

# The prototypes in the SYNOPSIS of a page.
for page in man/vmpi_*.3; do
	awk '
	function words(line,   n, parts, i, list) {
		n = split(line, parts, "\"")
		for (i = 2; i <= n; i += 2)
			list = list (list == "" ? "" : ", ") parts[i]
		return list
	}
	/^\.Sh / { on = $2 == "SYNOPSIS" }
	!on { next }
	/^\.Ft / { type = substr($0, 5) }
	/^\.Fn / { print type " " $2 "(" words($0) ")" }
	/^\.Fo / { name = $2; list = "" }
	/^\.Fa / { list = list (list == "" ? "" : ", ") words($0) }
	/^\.Fc/ { print type " " name "(" list ")" }
	' "$page" | tidy
done | sort >"$scratch/described"

none "$(uniq -d "$scratch/described")" "no function is described twice"
none "$(comm -23 "$scratch/declared" "$scratch/described")" \
	"every function of vmpi.h is in a page, with its prototype"
none "$(comm -13 "$scratch/declared" "$scratch/described")" \
	"every function in a page is in vmpi.h"

for page in man/vmpi_*.3; do
	none "$(sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/s/^\.F[no] \([a-z_]*\).*/\1/p' \
		"$page" | while read -r function; do
		grep -q "^\.Nm $function\>" "$page" ||
			echo "$function is not in NAME"
		sed '1,/^\.Sh DESCRIPTION/d' "$page" |
			grep -Eq "^\.(It )?Fn $function\>" ||
			echo "$function is not in DESCRIPTION"
	done)" "$page names and describes its functions"
	none "$(for section in 'Ss Switching' 'Sh RETURN VALUES' 'Sh EXAMPLES' \
		'Sh ERRORS'; do
		grep -qx "\.$section" "$page" || echo "$section"
	done)" "$page says what it returns, when it fails, whether it switches"
done

# Those of private fields need not be shown.
structs() {
	tr '\n\t' '  ' | tr -s ' ' |
		grep -Eo 'typedef struct vmpi_[a-z]+ \{[^}]*\} vmpi_[a-z]+;' |
		grep -v vmpi_waiters | sort
}
is "$(cat man/vmpi_*.3 | structs)" "$($cc -E -P include/vmpi.h | structs)" \
	"the structs in the pages are those of vmpi.h"
none "$(sed -n 's/^	X(\(E[A-Z]*\), [0-9]*, "\(.*\)").*/\1 \2/p' \
	include/vmpi.h | while read -r code text; do
	grep -A 1 "^\.It Er VMPI_$code\$" man/vmpi_strerror.3 |
		grep -qxF "$text" || echo "$code: $text"
done)" "every error code is in vmpi_strerror(3), with its text"
none "$(grep -ho '^\.It Er .*' man/*.3 | grep -Eo 'VMPI_E[A-Z]+' | sort -u |
	while read -r code; do
		grep -q "X(${code#VMPI_}, " include/vmpi.h || echo "$code"
	done)" "every error code in a page is in vmpi.h"
none "$(grep -Eho '\bLi (sched|core|mpi)_[a-z_]+' man/vmpi*.[37] |
	cut -d' ' -f2 | sort -u | while read -r variable; do
	layer=${variable%%_*}
	find "lib/$layer" -name vars.h -exec cat {} + |
		grep -Eq "X\([A-Z]+, ${variable#*_}," ||
		echo "$variable"
done)" "every variable in a page exists"
done_testing
