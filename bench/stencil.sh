#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench/stencil.sh [--quick] [BUILD]: what of a stencil's messages is hidden
# behind the computing of other ranks of the core (stencil.c), by protocol and
# ranks per core, while the messages grow.  Two node processes on modelled
# networks: with one worker each, with a progress agent, with an idle worker in
# each, which polls for the other; WAY+early computes before it waits.
: "${src:=$(cd "$(dirname "$0")/.." && pwd)}"
: "${COMPUTE_US:=12000}" "${LATENCIES_NS:=20000 1000000}" "${BANDWIDTH:=200M}"
: "${BYTES:=131072 524288 1048576 2097152 4194304}" "${RANKS:=1 2 3 4}"
: "${PROTOCOLS:=read write pipeline auto}" "${ITERATIONS:=30}" "${REPEATS:=3}"
: "${WAYS:=alone agent alone+early agent+early helped helped+early}"
: "${SPIN_US:=0}"
if [ "${1-}" = --quick ]; then
	shift
	BYTES='131072 1048576 4194304' ITERATIONS=15
fi
build=${1:-$src/build}
dir=$(mktemp -d) || exit 1
trap 'rm -r "$dir"' EXIT
export VMPI_FABRIC_LINK_BANDWIDTH="$BANDWIDTH" LC_ALL=C
"$build/vmpicc" -O2 -o "$dir/stencil" "$src/bench/stencil.c" || exit 1

# All ranks of a process on one worker, in the two processes on different cores;
# the other worker of each has none.
map() {
	rank=0
	while [ $rank -lt $((2 * $1)) ]; do
		half=$((rank / $1))
		echo "$rank $half:$half"
		rank=$((rank + 1))
	done >"$dir/map"
}

# run WAY V PROTOCOL BYTES: what stencil prints.
run() {
	case $1 in
	helped*)
		map "$2"
		set -- "$@" --workers 2 --map "$dir/map"
		;;
	*) set -- "$@" --workers 1 ;;
	esac
	way=$1 v=$2 protocol=$3 bytes=$4 early= progress=off
	shift 4
	case $way in *+early) early=--early ;; esac
	case $way in agent*) progress=auto ;; esac
	timeout 300 "$build/vmpirun" -n $((2 * v)) --nodes 2 "$@" \
		--set fabric_link_latency_ns="$latency" \
		--set sched_spin_us="$SPIN_US" --set core_progress=$progress \
		--set core_rndv_protocol="$protocol" "$dir/stencil" $early \
		"$COMPUTE_US" "$bytes" "$ITERATIONS" "$REPEATS" 2>"$dir/err" || {
		cat "$dir/err" >&2
		exit 1
	}
}

# A row of each table, and one of the plot: c comp, m comm, f full, F where it
# hides c or m.
rows() {
	awk -v way="$1" -v v="$2" -v protocol="$3" -v bytes="$4" -v dir="$dir" \
		-v us=$((latency / 1000)) '
	/^times/ {
		printf "%5d %-12s %-9s %d %8d %8.2f %8.2f %8.2f %8.3f %8.2f " \
			"%8.3f  ", us, way, protocol, v, bytes, $2 / 1e3,
			$3 / 1e3, $4 / 1e3, $5, $6 / 1e3, $7
		top = $2 > $3 ? $2 : $3
		scale = 20 / top
		for (i = 1; i <= 40; i++) {
			mark = i == int($4 * scale) ? "F" : \
			       i == int($2 * scale) ? "c" : \
			       i == int($3 * scale) ? "m" : " "
			line = line mark
		}
		sub(/ +$/, "", line)
		print "|" line
	}
	/^waits/ {
		printf "%5d %-12s %-9s %d %8d", us, way, protocol, v,
			bytes >>(dir "/cdf")
		split("1 2 5 8 10 12 15 18 19", at)
		for (i = 1; i <= 9; i++)
			printf " %7.2f", $(at[i] + 1) / 1e3 >>(dir "/cdf")
		print "" >>(dir "/cdf")
	}'
}

# rows_all LATENCY WAY
rows_all() {
	latency=$1
	for protocol in $PROTOCOLS; do
		for v in $RANKS; do
			# With nonblocking calls one rank is enough.
			case $2$v in *+early[2-9]*) continue ;; esac
			for bytes in $BYTES; do
				run "$2" "$v" "$protocol" "$bytes" >"$dir/out" ||
					exit 1
				rows "$2" "$v" "$protocol" "$bytes" <"$dir/out"
			done
		done
	done
}

printf '%5s %-12s %-9s %s %8s %8s %8s %8s %8s %8s %8s  %s\n' us way protocol V \
	bytes 'comp ms' 'comm ms' 'full ms' full/max 'cpu ms' 'with cpu' \
	'|c comp, m comm, F full; the longer of c and m at 20'
for ns in $LATENCIES_NS; do
	for how in $WAYS; do
		rows_all "$ns" "$how"
	done
done
printf '\nms in MPI_Waitall while computing: percentiles\n'
printf '%5s %-12s %-9s %s %8s %7s %7s %7s %7s %7s %7s %7s %7s %7s\n' us way \
	protocol V bytes 5 10 25 40 50 60 75 90 95
cat "$dir/cdf"
