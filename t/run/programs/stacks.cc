// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks that stay in places known by name: rank 0 waits for rank 1 and rank 1
// for rank 0, the last one computes for ever, the others are in a barrier.  With
// "crash" the last one uses a null pointer instead.
#include <cstring>
#include <mpi.h>

int visited = 1;

namespace places {
__attribute__((noinline)) void wait_for(int peer)
{
	int value;

	MPI_Recv(&value, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, // receives
		 MPI_STATUS_IGNORE);
	visited = -1;
}

// Is inlined.
static inline __attribute__((always_inline)) void meet()
{
	MPI_Barrier(MPI_COMM_WORLD); // meets
}

__attribute__((noinline)) void compute(volatile int *go)
{
	while (!*go) // computes
		;
}
} // namespace places

int main(int argc, char **argv)
{
	int rank, size, zero = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	visited = 100 + rank;
	if (rank == size - 1 && argc > 1 && !std::strcmp(argv[1], "crash"))
		places::compute(nullptr);
	if (rank == size - 1)
		places::compute(&zero);
	if (rank < 2)
		places::wait_for(1 - rank);
	else
		places::meet();
	MPI_Finalize();
	return 0;
}
