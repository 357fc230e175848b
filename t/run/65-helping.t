#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Workers with nothing to run handle the messages of ranks that compute, also
# after such a rank has polled for itself for a while; with memory that processes
# share and without.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"

cat >"$scratch/helped.c" <<'END'
#include <mpi.h>
#include <stdio.h>

/* Rank 0 and rank 1 are in processes of their own, with a worker without ranks
 * each.  Rank 1 computes until a message is in its buffer. */
int main(int argc, char **argv)
{
	volatile int value = 0;
	int rank, n;
	MPI_Request req;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int round = 1; round <= 20; round++) {
		for (int i = 0; i < 1000; i++)
			if (rank == 0)
				MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
			else
				MPI_Recv(&n, 1, MPI_INT, 0, 0, MPI_COMM_WORLD,
					 MPI_STATUS_IGNORE);
		if (rank == 0) {
			MPI_Recv(&n, 1, MPI_INT, 1, 1, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			MPI_Send(&round, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
		} else {
			MPI_Irecv((void *)&value, 1, MPI_INT, 0, 2,
				  MPI_COMM_WORLD, &req);
			MPI_Send(&n, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
			while (value != round)
				;
			MPI_Wait(&req, MPI_STATUS_IGNORE);
		}
	}
	if (rank == 1)
		printf("%d\n", value);
	MPI_Finalize();
	return 0;
}
END
"$VMPI_BUILD/vmpicc" -o "$scratch/helped" "$scratch/helped.c" ||
	bail "vmpicc fails"
for shm in on off; do
	is "$(timeout 200 "$VMPI_BUILD/vmpirun" -n 2 --nodes 2 --workers 2 \
		--set fabric_shm=$shm "$scratch/helped" 2>&1)" 20 \
		"a rank that only computes gets its messages (fabric_shm=$shm)"
done
done_testing
