#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks send without a pause to one that does not receive: they stop when so
# many messages wait as the settings allow, the others go on, and nothing is
# lost.  FLOOD_SECONDS (default 1) is how long; the memory is printed.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT
build flood flood.c
seconds=${FLOOD_SECONDS:-1}
limit=$((${seconds%.*} * 2 + 50))

# NAME MOST BYTES OPTION...: at most MOST messages wait.
flood() {
	name=$1
	most=$2
	bytes=$3
	shift 3
	out=$(timeout $limit "$vmpirun" -n 6 --workers 1 "$@" ./flood \
		"$seconds" "$bytes" 2>&1 </dev/null)
	rc=$?
	case $out in
	*"no provider fits"*)
		skip 5 "$name: libfabric has no such provider"
		return
		;;
	esac
	is $rc 0 "$name, $bytes bytes: it ends" || diag "$out"
	none "$(echo "$out" | grep WRONG)" "$name: nothing is lost"
	got=$(echo "$out" | sed -n 's/.*: \([0-9]*\) received.*/\1/p')
	sent=$(echo "$out" | sed -n 's/.*: \([0-9]*\) sent.*/\1/p' |
		awk '{ n += $1 } END { print n }')
	is "$got" "$sent" "$name: what was sent is received"
	ok "$name: about $most wait at most ($got)" test "$got" -le $((3 * most))
	rounds=$(echo "$out" | sed -n 's/^rank 1: \([0-9]*\) rounds.*/\1/p')
	ok "$name: others go on ($rounds rounds)" test "$rounds" -gt 2
	diag "$(echo "$out" | sort)"
}

# Two senders of one process each: credits, then copies.
for provider in net tcp "tcp;ofi_rxm"; do
	for bytes in 4096 8; do
		flood "$provider" 728 $bytes --nodes 3 \
			--set "fabric_provider=$provider" \
			--set fabric_shm=off \
			--set core_copies_max=300
	done
done
for bytes in 4096 8; do
	flood "shared memory" 728 $bytes --nodes 3 --set core_copies_max=300
done
flood "in one process" 700 4096 --set core_unexpected_limit=500
done_testing
