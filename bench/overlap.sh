#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench/overlap.sh [BUILD [SVG]]: bounds on overlap and the mean time of an
# MPI_Wait, by setup, protocol, calls and computing, between two node processes
# on a modelled network of 1 ms and 100 MB/s; as a table, and as a picture.
#
# Environment: setups, protocols, modes, times: which of them, "all" of each by
# default.
: "${src:=$(cd "$(dirname "$0")/.." && pwd)}"
build=${1:-$src/build}
svg=$2
dir=$(mktemp -d) || exit 1
trap 'rm -r "$dir"' EXIT
export VMPI_FABRIC_LINK_LATENCY_NS=1000000 VMPI_FABRIC_LINK_BANDWIDTH=100M
export VMPI_OVERLAP_TABLE="$dir/table"
"$build/vmpicc" -O2 -o "$dir/overlap" "$src/bench/overlap.c" || exit 1
"$build/vmpi_info" --calibrate >/dev/null || exit 1

# side NAME RANKS...: percent of the data transfer time, of those above 1K.
side() {
	name=$1
	shift
	for rank in "$@"; do
		cat "$dir/out/rank.$rank.txt"
	done | awk -v side="$name" '
		$1 == "row" && $2 == "loop" && $3 == side && $4 != "1K" {
			data += $7; min += $8; max += $9
			core_min += $10; core_max += $11
		}
		$1 == "call" && $2 == "MPI_Wait" { calls += $3; time += $4 }
		END {
			if (!data) data = 1
			printf "  %5.1f..%-5.1f %5.1f..%-5.1f %7.1f",
				100 * min / data, 100 * max / data,
				100 * core_min / data, 100 * core_max / data,
				calls ? time / calls / 1e6 : 0
		}'
}

# What there is besides the rank that computes: nobody, and one fragment at a
# time; nobody, as is usual; a second worker that is idle; two other ranks; the
# same, looking at the network at each switch.
setup() {
	unset VMPI_CORE_COLLABORATIVE_POLLING VMPI_CORE_RNDV_WINDOW VMPI_CORE_POLL_ROUNDS
	v=1 workers=1
	case $1 in
	alone) export VMPI_CORE_COLLABORATIVE_POLLING=0 VMPI_CORE_RNDV_WINDOW=64K ;;
	helper) workers=2 ;;
	three) v=3 ;;
	looking) v=3; export VMPI_CORE_POLL_ROUNDS=1 ;;
	esac
}

row() {
	"$build/vmpirun" -n $((2 * v)) --nodes 2 --workers $workers \
		--timeout 120 --set core_eager_limit=16K \
		--set core_rndv_protocol="$2" --overlap="$dir/out" \
		"$dir/overlap" "$4" "$3" "$5" 2>"$dir/err" || {
		cat "$dir/err" >&2
		exit 1
	}
	printf '%-8s %-9s %-2s %5s' "$what" "$1" "$4" "$5"
	side send $(seq $v $((2 * v - 1)))
	side receive $(seq 0 $((v - 1)))
	echo
}

table() {
	printf '%-8s %-9s %-2s %5s  %-36s  %s\n' setup protocol as ms \
		'sender: rank %, core %, wait ms' 'receiver: the same'
	for what in ${setups:-alone usual helper three looking}; do
		setup "$what"
		for protocol in ${protocols:-eager read write pipeline}; do
			bytes=1000000 how=$protocol
			[ "$protocol" != eager ] || bytes=10000 how=auto
			for mode in ${modes:-ir si ii}; do
				for ms in ${times:-0 5 10 15 20}; do
					row "$protocol" $how $bytes "$mode" "$ms"
				done
			done
		done
	done
}

table | tee "$dir/table.txt"
[ -z "$svg" ] || awk -f "$src/bench/overlap.awk" "$dir/table.txt" >"$svg"
