#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Manual pages: clean for mandoc; the options of each program's --help are
# exactly those that its page describes; every event, policy and MPIX function is
# in a page.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"

# vmpicc's --help is the compiler's; its own options are the patterns of its
# first loop over the arguments.
wrapper_options() {
	sed -n '/^show=/,/^done/s/^[[:blank:]]*\(-[^)]*\)).*/\1/p' \
		"$VMPI_BUILD/$1" | tr '|' '\n' | tr -d ' ' |
		sed 's/^-*//; s/[=:].*//; s/_/-/g' | sort -u
}

# The options in the left column of a help text, without their dashes: long
# ones may be given with one or two.
help_options() {
	"$VMPI_BUILD/$1" --help 2>&1 | grep -E '^ {1,8}-' |
		sed -E 's/^ +//; s/  +.*//' | grep -Eo -- \
		'(^|[ ,|])--?[A-Za-z][-A-Za-z0-9:]*' | sed 's/^[ ,|]*-*//' |
		sort -u
}

# The options that head an item of a page's lists.
page_options() {
	sed -n 's/^\.\(It\|Xc\|Op\) //p' "$1" | awk '{
		for (i = 1; i < NF; i++)
			if ($i == "Fl") {
				name = $(i + 1)
				gsub(/\\/, "", name)
				if (sub(/^-?/, "", name) && name ~ /^[A-Za-z]/)
					print name
			}
	}' | sed 's/[=:].*//; s/_/-/g' | sort -u
}

for program in vmpirun vmpicc vmpi_info vmpistat vmpitop; do
	page=$VMPI_SRC/man/$program.1
	if [ ! -x "$VMPI_BUILD/$program" ]; then
		skip 2 "$program is not built"
		continue
	fi
	if [ ! -f "$page" ]; then
		fail "$program has a manual page"
		continue
	fi
	case $program in
	vmpicc) wrapper_options $program >"$scratch/help" ;;
	*) help_options $program >"$scratch/help" ;;
	esac
	page_options "$page" >"$scratch/page"
	[ -s "$scratch/help" ] || fail "$program has options"
	none "$(comm -23 "$scratch/help" "$scratch/page" |
		grep -Evx 'usage|V')" \
		"man/$program.1 describes every option of $program"
	none "$(comm -13 "$scratch/help" "$scratch/page")" \
		"$program has every option in man/$program.1"
done

# rows LIST FILE: the first arguments of the rows X(name, ...) of a list.
rows() {
	sed -n "/^#define $1(X)/,/[^\\\\]\$/p" "$VMPI_SRC/$2" |
		sed -n 's/^[[:blank:]]*X(\([a-z_]*\)[,)].*/\1/p'
}

# undescribed PAGE PREFIX NAME...: those that head no item of the page.
undescribed() {
	undescribed_page=$VMPI_SRC/man/$1
	undescribed_prefix=$2
	shift 2
	[ $# -gt 0 ] || echo "no names"
	for name in "$@"; do
		grep -Eq "^\.It (.* )?$undescribed_prefix$name( |\$)" \
			"$undescribed_page" || echo "$name"
	done
}

none "$(undescribed vmpi-events.7 'vmpi\.' \
	$(rows VM_EVENTS lib/introspect/vars/event.h))" \
	"man/vmpi-events.7 describes every event"
none "$(undescribed vmpi-tuning.7 '' \
	$(rows VM_POLICIES lib/introspect/policy/policies.h))" \
	"man/vmpi-tuning.7 describes every policy"
none "$(sed -n 's/^.*[ *]\(MPIX_[A-Za-z_]*\)(.*/\1/p' \
	"$VMPI_SRC/include/mpi.h" | sort -u | while read -r name; do
	cat "$VMPI_SRC"/man/*.3 | grep -Eq "(^\.| )Fn $name( |$)" ||
		echo "$name"
done)" "a page of section 3 describes every MPIX function"

if command -v mandoc >/dev/null 2>&1; then
	for page in "$VMPI_SRC"/man/*.[1-9]; do
		[ -f "$page" ] || continue
		none "$(cd "$VMPI_SRC" &&
			mandoc -T lint -W warning "man/${page##*/}" 2>&1)" \
			"man/${page##*/} is clean"
	done
else
	skip 1 "mandoc is not installed"
fi
done_testing
