#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench/stencil3d.sh [--quick] [BUILD]: the experiment of table 5 of the thesis
# on the tools interface: a stencil whose messages of 32 KB are too long for the
# eager limit, on a modelled network between two processes.  Rows: as it is; the
# limit set by hand; that and no unused packet memory; and, where vmpirun has it,
# --tune=all from the default.  They are measured in turn, ROUNDS times; the
# table has medians.  See bench/README.md.
: "${src:=$(cd "$(dirname "$0")/.." && pwd)}"
: "${BYTES:=32768}" "${FIELDS:=8}" "${ITERATIONS:=300}" "${ROUNDS:=5}"
: "${LATENCY_NS:=1000000}" "${BANDWIDTH:=100M}" "${QUIET_MS:=1500}" "${SHARE:=1}"
if [ "${1-}" = --quick ]; then
	shift
	ITERATIONS=60 ROUNDS=3
fi
build=${1:-$src/build}
dir=$(mktemp -d) || exit 1
trap 'rm -r "$dir"' EXIT
export VMPI_FABRIC_LINK_LATENCY_NS="$LATENCY_NS"
export VMPI_FABRIC_LINK_BANDWIDTH="$BANDWIDTH" LC_ALL=C
"$build/vmpicc" -O2 -o "$dir/stencil3d" "$src/bench/stencil3d.c" || exit 1

# What takes a transfer of so many bytes on that network, for the bounds.
awk -v latency="$LATENCY_NS" -v bandwidth="$BANDWIDTH" 'BEGIN {
	unit = substr(bandwidth, length(bandwidth))
	scale = unit == "G" ? 1e9 : unit == "M" ? 1e6 : unit == "K" ? 1e3 : 1
	for (bytes = 1; bytes <= 1048576; bytes *= 16)
		print "fabric", bytes, int(latency + bytes * 1e9 / (bandwidth * scale))
	print "worker 1 20"
	print "worker 1048576 100000"
	print "node 1 200"
	print "node 1048576 100000"
}' >"$dir/table"

# The options of a row.
options() {
	large="--set core_eager_limit=33000"
	case $1 in
	default) ;;
	eager) echo "$large" ;;
	eager+pool) echo "$large --set fabric_pool_keep=0" ;;
	tune) echo "--tune=all" ;;
	esac
}

rows="default eager eager+pool"
"$build/vmpirun" --help | grep -q -- --tune && rows="$rows tune"

fail() {
	cat "$dir/err" >&2
	exit 1
}

# run ROW: two ranks, each with its core; how long it takes, and the memory.
run() {
	timeout 300 "$build/vmpirun" -n 2 --nodes 2 --workers 1 --summary \
		$(options "$1") "$dir/stencil3d" --quiet "$QUIET_MS" "$BYTES" \
		"$FIELDS" "$loops" "$ITERATIONS" >"$dir/out" 2>"$dir/err" ||
		fail
	awk 'function kib(number, unit) {
		return number * 1024 ^ (index("BKMG", substr(unit, 1, 1)) - 2)
	}
	/packet memory: / {
		sub(/.*packet memory: /, "")
		end += kib($1, $2)
		most += kib($5, $6)
	}
	/^times/ { times = $0 }
	END { print times, "memory", int(most), int(end) }' \
		"$dir/err" "$dir/out" >>"$dir/$1"
}

# overlap ROW: the bounds, from a run of its own, since they need clocks.
overlap() {
	timeout 300 "$build/vmpirun" -n 2 --nodes 2 --workers 1 \
		--set overlap_table="$dir/table" --overlap="$dir/report" \
		$(options "$1") "$dir/stencil3d" "$BYTES" "$FIELDS" \
		"$loops" "$ITERATIONS" >"$dir/out" 2>"$dir/err" || fail
	cat "$dir"/report/rank.*.txt | awk '
		$1 == "row" && $4 != "1K" && $4 != "16K" {
			data += $7; min += $8; max += $9
		}
		END {
			if (!data) data = 1
			printf "%.0f..%.0f", 100 * min / data, 100 * max / data
		}'
}

# Computing takes as long as exchanging does by default, or SHARE of that; it is the
# same work in all runs, since a core's speed changes.
timeout 300 "$build/vmpirun" -n 2 --nodes 2 --workers 1 "$dir/stencil3d" \
	"$BYTES" "$FIELDS" 0 200 >"$dir/out" 2>"$dir/err" || fail
exchange=$(awk '/^exchange/ { print $2 }' "$dir/out")
loops=$(awk -v share="$SHARE" '/^exchange/ { print int($4 * share) }' "$dir/out")

i=0
while [ $i -lt "$ROUNDS" ]; do
	for row in $rows; do
		run "$row"
	done
	i=$((i + 1))
done

# median FIELD ROW
median() {
	awk -v field="$1" '{ print $field }' "$dir/$2" | sort -n |
		awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

echo "exchanging takes $exchange us by default; computing: $loops loops an iteration"
printf '%-11s %8s %8s %8s %8s %9s %9s %9s %8s %9s %9s\n' row 'comp ms' 'comm ms' \
	'both ms' 'later ms' 'overlap %' 'bounds %' 'run s' 'found %' 'most KiB' \
	'end KiB'
for row in $rows; do
	awk '{
		less = $2 < $3 ? $2 : $3
		print 100 * ($2 + $3 - $4) / less
	}' "$dir/$row" | sort -n |
		awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }' \
			>"$dir/part"
	printf '%-11s %8.2f %8.2f %8.2f %8.2f %9.1f %9s %9.2f %8.1f %9d %9d\n' "$row" \
		"$(median 2 "$row" | awk '{ print $1 / 1e3 }')" \
		"$(median 3 "$row" | awk '{ print $1 / 1e3 }')" \
		"$(median 4 "$row" | awk '{ print $1 / 1e3 }')" \
		"$(median 10 "$row" | awk '{ print $1 / 1e3 }')" \
		"$(cat "$dir/part")" "$(overlap "$row")" \
		"$(median 6 "$row" | awk '{ print $1 / 1e3 }')" \
		"$(median 8 "$row")" "$(median 12 "$row")" "$(median 13 "$row")"
done
