#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Reductions give the same bits in one process and in several, on any number of
# workers, wherever the ranks are and whatever the algorithm.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

build sums-alike sums-alike.c

sums() {
	timeout 150 "$vmpirun" "$@" </dev/null 2>&1
}

# Recursive doubling gives (1e16 + 1) + (-1e16 + 1), from left to right it is 1.
for where in '--nodes 1' '--workers 2' '--nodes 2' '--nodes 4'; do
	is "$(sums -n 4 $where ./sums-alike sum)" 0 "with $where ranks sum in pairs"
	is "$(sums -n 4 $where --set mpi_coll_reduce_order=rank \
		--set mpi_coll_allreduce_algorithm=ordered ./sums-alike sum)" 1 \
		"with $where ranks sum in turn if asked to"
done

# Short, long: everything is sent at once, or in parts.
short='--set mpi_coll_short_bytes=10G'
long='--set mpi_coll_short_bytes=0 --set mpi_coll_long_bytes=0'
step='--set mpi_coll_short_bytes=0 --set mpi_coll_long_bytes=10G'
for n in 4 7 8 12; do
	want=$(sums -n $n --workers 1 ./sums-alike)
	case $want in
	????????????????) pass "$n ranks have a result" ;;
	*) fail "$n ranks have a result" ;;
	esac
	for where in '--workers 2' '--nodes 2' "--nodes 3 $short" \
		"--nodes 3 $long" "--nodes 4 $step" '--nodes 4 --map=cyclic' \
		"--nodes 3 --map=cyclic $long" \
		'--nodes 2 --set mpi_coll_operand_bytes=1000'; do
		is "$(sums -n $n $where ./sums-alike)" "$want" \
			"$n ranks with $where have the same bits"
	done
done
done_testing
