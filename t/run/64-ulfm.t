#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks go on when processes have died: they ask who has failed, agree, revoke
# communicators and make new ones (MPIX_Comm_revoke).
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT

build ulfm ulfm.c

what=
# case, ranks that die, survivors, code, sentence; the rest are options.
job() {
	case=$1 dying=$2 survivors=$3 code=$4 sentence=$5
	shift 5
	out=$(timeout 100 "$vmpirun" "--keep-going$what" "$@" ./ulfm $case $dying \
		</dev/null 2>&1)
	rc=$?
	is "$rc $(echo "$out" | grep -c '^right$')" "$code $survivors" \
		"$sentence ($*)" || diag "$out"
}

for how in "--processes -n 5" "--nodes 5 -n 5"; do
	job p2p 1 4 137 "what needs the dead fails, all else goes on" $how
	job pending 1 4 137 "a receive from any waits on" $how
	job agree 1 4 137 "survivors agree" $how
	job shrink 1 4 137 "survivors have a new communicator" $how
	job revoke 0 5 0 "a communicator is revoked, whoever waits there" $how
	job repair 1 3 137 "survivors repair their communicator twice" $how
	job repair 2 2 137 "also when two die at once" $how
done
for how in "--nodes 3 -n 6"; do
	job p2p 2 4 137 "a process fails with all its ranks" $how
	job pending 2 4 137 "one from any of its ranks, too, waits on" $how
	job agree 2 4 137 "the ranks of other processes agree" $how
	job shrink 2 4 137 "and have a new communicator" $how
done
ULFM_EXIT=3
export ULFM_EXIT
for how in "--processes -n 5" "--nodes 5 -n 5"; do
	job shrink 1 4 3 "a process that exits with an error has failed" $how
	like "$out" '^vmpirun: rank 4 exited with status 3; ending its process( \(in .*)?$' \
		"and says so"
done
what==ranks
for how in "-n 5" "-n 5 --workers 2" "-n 6 --nodes 3 --workers 2"; do
	n=${how#-n }
	n=${n%% *}
	job p2p 1 $((n - 1)) 3 "a rank fails, its process lives" $how
	job pending 1 $((n - 1)) 3 "and a receive from any waits on" $how
	job agree 2 $((n - 2)) 3 "the others agree" $how
	job shrink 1 $((n - 1)) 3 "and have a new communicator" $how
	job revoke 0 $n 0 "ranks that wait for each other hear it" $how
	job repair 2 $((n - 3)) 3 "and repair their communicator" $how
done
unset ULFM_EXIT
what=
for how in "-n 1" "-n 5"; do
	job agree 0 "${how#-n }" 0 "ranks of one process agree, too" $how
	job shrink 0 "${how#-n }" 0 "and shrink nothing" $how
done
done_testing
