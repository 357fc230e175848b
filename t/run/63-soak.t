#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Messages, collectives, communicators and threads at random: every byte is
# right, in one process and in two, on one worker and on two.  Each way takes
# SOAK_SECONDS (default 0.75); SOAK_NODES, SOAK_WORKERS and SOAK_RANKS choose
# ways, and SOAK_SEED repeats a course.  What was done is printed.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT
build soak soak.c
seconds=${SOAK_SECONDS:-0.75}
seed=${SOAK_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
ranks=${SOAK_RANKS:-16}
limit=$((${seconds%.*} * 2 + 250))

for nodes in ${SOAK_NODES:-1 2}; do
	for workers in ${SOAK_WORKERS:-1 2}; do
		way="--nodes $nodes, --workers $workers"
		diag "$way, seed $seed"
		# shellcheck disable=SC2086
		timeout $limit "$vmpirun" -n $ranks --nodes $nodes \
			--workers $workers ./soak "$seconds" "$seed" \
			>out 2>&1 </dev/null
		is $? 0 "$way: every byte is right"
		diag "$(cat out)"
		ok "$way: something was done" grep -q " all of it was right$" \
			out
	done
done
done_testing
