#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# demo.sh [cells [steps]]: builds heat.c with vmpicc and runs it with 1, 4 and
# 32 ranks per worker on the cores of this machine.  VMPI_BUILD is the build
# directory.  Fails if an answer is wrong, a global was not private, or the
# plate depends on the number of ranks.
set -u

here=$(cd "$(dirname "$0")" && pwd)
: "${VMPI_BUILD:=$(cd "$here/../.." && pwd)/build}"
cells=${1:-1024}
steps=${2:-600}
vmpirun=$VMPI_BUILD/vmpirun

fail() {
	echo "demo.sh: $*" >&2
	exit 1
}

for program in vmpicc vmpirun; do
	[ -x "$VMPI_BUILD/$program" ] ||
		fail "$VMPI_BUILD/$program is missing; run make first"
done
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# A node that hangs must not hang the demo.
run() {
	"$vmpirun" --timeout 120 --summary "$@" >"$scratch/out" \
		2>"$scratch/err"
}

# From "N ranks on W workers, T s, S switches, Z sleeps" the number before a
# word.
before() {
	grep -E '^vmpirun: .* on .* workers?, ' "$scratch/err" |
		grep -Eo "[0-9.]+ $1" | cut -d' ' -f1
}

"$VMPI_BUILD/vmpicc" -O2 -o "$scratch/heat" "$here/heat.c" -lm ||
	fail "heat.c was not compiled"

# The number of workers when there is enough work for them.
run -n "$(nproc)" "$scratch/heat" 64 1 || {
	cat "$scratch/out" "$scratch/err" >&2
	fail "a first small run failed"
}
workers=$(before worker)

echo "heat: a plate of $cells x $cells points, $steps Jacobi steps, a plain"
echo "blocking MPI program with globals; V ranks on each of $workers workers"
echo
printf '%27s run time of a rank\n' ''
printf '%3s %6s %9s  %9s %9s %9s  %9s %9s  %-16s %s\n' V ranks wall/s \
	min/ms avg/ms max/ms switches messages 'private globals' answer
status=0
first=
for v in 1 4 32; do
	ranks=$((v * workers))
	run -n "$ranks" "$scratch/heat" "$cells" "$steps"
	code=$?
	answer=$(sed -n 's/^answer: \([^ ]*\).*/\1/p' "$scratch/out")
	sum=$(sed -n 's/^checksum: //p' "$scratch/out")
	globals=$(sed -n 's/^globals: \(.*\) ranks private$/\1/p' "$scratch/out")
	: "${first:=$sum}"
	if [ $code -ne 0 ] || [ "$answer" != ok ]; then
		cat "$scratch/out" "$scratch/err" >&2
		echo "demo.sh: $ranks ranks failed (exit code $code)" >&2
		status=1
	fi
	if [ "$sum" != "$first" ]; then
		echo "demo.sh: $ranks ranks cool another plate: $sum" >&2
		status=1
	fi
	# The line of each rank; of a large job there is only the last, of all.
	awk -v v="$v" -v ranks="$ranks" -v wall="$(before s,)" \
		-v switches="$(before switches,)" -v globals="$globals" \
		-v answer="${answer:-none}" '
	function ms(value) {
		return n ? sprintf("%.1f", value) : "-"
	}
	BEGIN {
		in_ms["ns"] = 1e-6; in_ms["us"] = 1e-3; in_ms["ms"] = 1
		in_ms["s"] = 1e3; in_ms["min"] = 6e4; in_ms["h"] = 36e5
	}
	$1 == "vmpirun:" && $2 ~ /^[0-9]+$/ && $4 in in_ms {
		ran = $3 * in_ms[$4]
		if (!n++ || ran < min)
			min = ran
		if (ran > max)
			max = ran
	}
	$1 == "vmpirun:" && $2 == "all" {
		total = $3 * in_ms[$4]
		messages = $5
	}
	END {
		printf "%3d %6d %9.3f  %9s %9.1f %9s  %9d %9d  %-16s %s\n", v,
			ranks, wall, ms(min), total / ranks, ms(max), switches,
			messages, globals, answer
	}' "$scratch/err"
done
echo
[ $status -ne 0 ] || echo "The same plate each time: checksum $first"
exit $status
