#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A tool that is loaded into the node process hears of each call with its rank.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
[ "${VMPI_SANITIZE:-none}" = none ] ||
	skip_all "a sanitizer has to be loaded before all other libraries"
cc=${CC:-cc}
build known known.c
ok "the tool of the examples is built" \
	$cc -shared -fPIC -Wall -Wextra -Werror "-I$VMPI_SRC/include" \
	-o libcalls.so "$VMPI_SRC/examples/tool/calls.c" \
	"-L$VMPI_BUILD/lib" "-Wl,-rpath,$VMPI_BUILD/lib" -lvmpi

# count RANK CALL
count() {
	sed -n "s/^rank $1: $2 //p" out
}

tool() {
	timeout 60 "$vmpirun" -x LD_PRELOAD="$scratch/libcalls.so" "$@" \
		</dev/null >out 2>&1
}

tool -n 3 --workers 2 ./known
is $? 0 "a program runs with the tool" || diag "$(cat out)"
for rank in 0 1 2; do
	is "$(count $rank MPI_Send) $(count $rank MPI_Irecv) $(count $rank \
		MPI_Wait) $(count $rank MPI_Allreduce)" "10 10 10 2" \
		"rank $rank: each call once, by its own rank"
done
is "$(count 3 'MPI_.*')" "" "nobody else calls"
is "$(count 0 MPI_Comm_rank)" "" "what only looks is no call"

tool -n 4 --nodes 2 --workers 1 ./known
is $? 0 "in two processes too" || diag "$(cat out)"
for rank in 0 1 2 3; do
	is "$(count $rank MPI_Send) $(count $rank MPI_Finalize)" "10 1" \
		"rank $rank is told in its process"
done
done_testing
