#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Collectives among processes: a process dies meanwhile, in each algorithm; which
# algorithms were used is counted.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT

build orphans orphans.c

# COLLECTIVE BYTES MICROSECONDS SETTING...: eight ranks in four processes.
dies() {
	call=$1
	bytes=$2
	delay=$3
	shift 3
	out=$(timeout 150 "$vmpirun" -n 8 --nodes 4 --workers 1 --keep-going \
		"$@" ./orphans "$call" "$bytes" "$delay" </dev/null 2>&1)
	rc=$?
	is "$rc $(echo "$out" | grep -c ': 0 faults$')" '137 6' \
		"$call of $bytes bytes, a death after $delay us: $*" ||
		diag "$out"
}

dies barrier 0 3000
dies bcast 8 5000
dies gather 100000 4000
dies alltoall 100000 5000 --set mpi_coll_alltoall_algorithm=pairwise
dies alltoall 100000 9000 --set mpi_coll_alltoall_algorithm=linear
dies scan 800000 8000 --set mpi_coll_scan_algorithm=recursive_doubling
dies scan 800000 8000 --set mpi_coll_scan_algorithm=chain
dies iallreduce 200000 7000
for way in linear binomial scatter_allgather; do
	dies bcast 1000000 9000 --set mpi_coll_bcast_algorithm=$way
done
for way in linear ring; do
	dies allgather 300000 8000 --set mpi_coll_allgather_algorithm=$way
done
for way in ordered linear binomial reduce_scatter; do
	dies reduce 400000 7000 --set mpi_coll_reduce_algorithm=$way
done
for way in ordered linear recursive_doubling reduce_scatter; do
	dies allreduce 400000 6000 --set mpi_coll_allreduce_algorithm=$way
done

build unheard unheard.c
out=$(timeout 150 "$vmpirun" -n 3 --nodes 3 --workers 1 --keep-going \
	./unheard </dev/null 2>&1)
is "$? $(echo "$out" | grep -c ': 0 faults$')" '137 2' \
	"who has not heard of a death gets its error from who has" ||
	diag "$out"

build internode-count internode-count.c
out=$(timeout 150 "$vmpirun" -n 4 --nodes 2 --summary \
	--set mpi_coll_allreduce_algorithm=reduce_scatter ./internode-count 2>&1)
is "$(echo "$out" | grep -c 'internode collectives:.* reduce_scatter 7$')" 2 \
	'the summary of each process counts what was used' || diag "$out"

cat >scatters.c <<'END'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	static char from[8 * 1024], to[1024];
	int counts[8], displs[8];

	MPI_Init(&argc, &argv);
	for (int i = 0; i < 8; i++) {
		counts[i] = 1000;
		displs[i] = i * 1024;
	}
	for (int i = 0; i < atoi(argv[1]); i++)
		MPI_Scatter(from, 1024, MPI_BYTE, to, 1024, MPI_BYTE, 0,
			    MPI_COMM_WORLD);
	for (int i = 0; i < atoi(argv[1]); i++)
		MPI_Scatterv(from, counts, displs, MPI_BYTE, to, 1000, MPI_BYTE,
			     0, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
END
"$vmpicc" scatters.c -o scatters
# messages COUNT: how many there are inside collectives.
messages() {
	timeout 150 "$vmpirun" -n 8 --nodes 8 --summary ./scatters "$1" \
		</dev/null 2>&1 |
		sed -n 's/.*inside collectives: \([0-9]*\) messages.*/\1/p'
}
none=$(messages 0)
count=$(($(messages 50) - none))
ok 'a scatter of 8 KiB takes a message to each of 8 processes' \
	[ "$count" -ge $((2 * 50 * 7)) ]
ok 'and at most one back' [ "$count" -le $((2 * 50 * 14)) ]

cat >gathers.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
	double own = 1, all[4];

	MPI_Init(&argc, &argv);
	for (int i = 0; i < 800; i++)
		MPI_Gather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0,
			   MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
END
"$vmpicc" gathers.c -o gathers
if command -v taskset >/dev/null; then
	out=$(timeout 150 taskset -c 0 "$vmpirun" -n 4 --nodes 4 --summary \
		./gathers </dev/null 2>&1)
	packets=$(echo "$out" |
		sed -n 's/.*: \([0-9]*\) of [0-9]* packets sent.*/\1/p' |
		awk '{ n += $1 } END { print n }')
	ok 'cards of processes that share a core are no packets' \
		[ "${packets:-2400}" -lt 1200 ] || diag "$out"
else
	skip 1 "there is no taskset"
fi
done_testing
