#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two jobs of a user on a host find each other by a name, a port or a socket, and
# work together.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT

build jobs jobs.c
libdir=$VMPI_BUILD/lib
${CC:-cc} -o ordinary "$programs/jobs.c" -I"$VMPI_SRC/include" "-L$libdir" \
	-lmpi_abi "-Wl,-rpath,$libdir" || exit 1

number=0
# CASE SERVER CLIENT: the options and program of each; then the codes, and how
# many say that all is right.
both() {
	number=$((number + 1))
	name="jobs-$$-$number"
	[ "$1" != join ] || name=$scratch/socket-$number
	timeout 100 $2 "$1" s "$name" </dev/null >server 2>&1 &
	server=$!
	timeout 100 $3 "$1" c "$name" </dev/null >client 2>&1
	client=$?
	wait $server
	is "$? $client $(cat server client | grep -c '^right$')" "$4 $5 $6" "$7" ||
		diag "$(cat server client)"
}

run="$vmpirun -n"
both all "$run 2 ./jobs" "$run 3 ./jobs" 0 0 5 \
	"two jobs of one process each are connected, three times"
both all "$run 4 --nodes 2 ./jobs" "$run 3 --workers 2 ./jobs" 0 0 7 \
	"one of two processes, and one with two workers"
both all "$run 2 --processes ./jobs" "$run 4 --nodes 2 ./jobs" 0 0 6 \
	"both of two processes"
both all ./jobs ./jobs 0 0 2 "two programs that were started alone"
both all ./ordinary "$run 3 ./jobs" 0 0 4 \
	"an ordinary program, and a job"
both first "$run 4 --nodes 2 ./jobs" "$run 3 ./jobs" 0 0 7 \
	"two ranks that are connected make a way for all"
both join "$run 2 ./jobs" "$run 2 --processes ./jobs" 0 0 4 \
	"two jobs join by a socket"
both nobody "$run 1 ./jobs" "$run 1 ./jobs" 0 0 2 \
	"who is not accepted gives up after the timeout"
both death "$run 1 --quiet ./jobs" "$run 2 ./jobs" 137 0 2 \
	"the death of a job is an error in the other one"
both all "$run 2 --keep-going=ranks ./jobs" "$run 2 ./jobs" 16 16 0 \
	"jobs whose ranks fail in different ways are not connected"
like "$(cat client)" 'cannot be connected of which one was started with' \
	"and say why"
both all "$run 2 --set core_connect_max=0 ./jobs" "$run 2 ./jobs" 16 16 0 \
	"a job may refuse others"
like "$(cat server)" 'core_connect_max' "and names the limit"
is "$(find /dev/shm -maxdepth 1 -name "vmpi-numbers.$(id -u)" -size +8k)" "" \
	"nothing large is left in /dev/shm"
done_testing
