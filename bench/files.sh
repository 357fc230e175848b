#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# bench/files.sh [--quick] [--alone] [BUILD]: writes and reads of a file (files.c)
# with each MPI in turn, collective or each rank by itself, and by processes without
# an MPI (raw_files.c): MB/s.  The file is in FOLDER; RANKS and ROUNDS in the
# environment change the parameters, LIMIT the seconds that a run may take.
src=$(cd "$(dirname "$0")/.." && pwd)
: "${FOLDER:=/tmp}" "${RANKS:=2 8 64}" "${ROUNDS:=3}" "${LIMIT:=30}"
quick=
alone=
VMPI_BUILD=$src/build
for arg; do
	case $arg in
	--quick) quick=$arg ;;
	--alone) alone=$arg ;;
	-*)
		echo "files.sh: no option $arg; there are --quick, --alone" >&2
		exit 2
		;;
	*) VMPI_BUILD=$arg ;;
	esac
done
if [ ! -x "$VMPI_BUILD/vmpicc" ]; then
	echo "files.sh: $VMPI_BUILD/vmpicc is missing; build there first" >&2
	exit 2
fi
source=$src/bench
one=0 both=0,1
work=$(mktemp -d) || exit 1
file=$FOLDER/vmpi-bench-files.$$
trap 'rm -rf "$work" "$file"' EXIT
. "$src/bench/mpis.sh"
mpis_find
for mpi in "${mpis[@]}"; do
	mpi_compile "$mpi" files
done
cc -std=gnu17 -D_GNU_SOURCE -O2 -o "$work/raw_files" "$source/raw_files.c" ||
	exit 1
for ranks in $RANKS; do
	for round in $(seq "$ROUNDS"); do
		for mpi in "${mpis[@]}" vmpi:nodes vmpi:processes; do
			place=two
			[ "${mpi#vmpi:}" = "$mpi" ] || place=any
			launch "$mpi" "$place" "$LIMIT" "$ranks" files $quick \
				$alone "$file" | sed "s/^/$ranks $mpi /"
			rm -f "$file"
		done
		timeout -k 5 "$LIMIT" "$work/raw_files" $quick "$ranks" "$file" |
			sed "s/^/$ranks raw /"
		rm -f "$file"
	done
done >"$work/all"
awk '
function median(list,   n, a, i, j, x) {
	n = split(list, a, " ")
	if (!n)
		return "-"
	for (i = 2; i <= n; i++) {
		x = a[i] + 0
		for (j = i - 1; j > 0 && a[j] + 0 > x; j--)
			a[j + 1] = a[j]
		a[j + 1] = x
	}
	return a[int((n + 1) / 2)]
}
# Not what a starter says when its time is over.
NF == 5 && $4 ~ /^[0-9]+$/ {
	key = $1 " " $3
	if (!(key in seen)) {
		seen[key] = 1
		keys[++count] = key
	}
	w[key, $2] = w[key, $2] " " $4
	r[key, $2] = r[key, $2] " " $5
}
END {
	names = split("vmpi vmpi:nodes vmpi:processes openmpi mpich raw", name, " ")
	printf "%5s %-12s", "ranks", "pattern"
	for (i = 1; i <= names; i++)
		printf " %18s", name[i]
	print "   (write / read, MB/s)"
	for (k = 1; k <= count; k++) {
		split(keys[k], part, " ")
		printf "%5d %-12s", part[1], part[2]
		for (i = 1; i <= names; i++)
			printf " %9s/%8s", median(w[keys[k], name[i]]),
				median(r[keys[k], name[i]])
		print ""
	}
}' "$work/all"
