/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces numbers whose sum depends on the order, in every way there is, with
 * little and much data, and prints a hash of the bits of all results; "sum"
 * prints {1e16, 1, -1e16, 1} summed over the ranks instead.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static uint64_t hash;

static void see(const double *numbers, int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t bits;

		memcpy(&bits, &numbers[i], sizeof(bits));
		hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 31;
	}
}

/* How many of about n numbers rank r gets of a reduce-scatter. */
static int share(int n, int r)
{
	return n / size + r % 3;
}

static void all_of(const double *in, double *out, int n)
{
	int *shares = malloc(sizeof(int) * (size_t)size);
	MPI_Request request;
	MPI_Op sum = MPI_SUM, product = MPI_PROD;
	MPI_Comm comm = MPI_COMM_WORLD;

	for (int r = 0; r < size; r++)
		shares[r] = share(n, r);
	MPI_Allreduce(in, out, n, MPI_DOUBLE, sum, comm);
	see(out, n);
	MPI_Reduce(in, out, n, MPI_DOUBLE, product, size - 1, comm);
	see(out, rank == size - 1 ? n : 0);
	MPI_Scan(in, out, n, MPI_DOUBLE, sum, comm);
	see(out, n);
	MPI_Exscan(in, out, n, MPI_DOUBLE, sum, comm);
	see(out, rank ? n : 0);
	MPI_Reduce_scatter(in, out, shares, MPI_DOUBLE, sum, comm);
	see(out, shares[rank]);
	MPI_Reduce_scatter_block(in, out, n / size + 1, MPI_DOUBLE, sum, comm);
	see(out, n / size + 1);
	MPI_Ireduce(in, out, n, MPI_DOUBLE, sum, 0, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	see(out, rank == 0 ? n : 0);
	MPI_Allreduce_init(in, out, n, MPI_DOUBLE, product, comm, MPI_INFO_NULL,
			   &request);
	MPI_Start(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	see(out, n);
	MPI_Request_free(&request);
	free(shares);
}

static void hash_print(void)
{
	static const int lengths[] = { 1, 100, 600, 5000, 100000 };
	size_t room = 100000 + 4 * (size_t)size;
	double *in = malloc(room * sizeof(double));
	double *out = calloc(room, sizeof(double));
	uint64_t *hashes = malloc((size_t)size * sizeof(*hashes));

	for (size_t i = 0; i < room; i++)
		in[i] = ((size_t)rank + i) % 2 ? 1.0 / (1 + rank * 7 + i % 97) :
						 -1e16 / (2 + (i + rank) % 5);
	for (int l = 0; l < 5; l++)
		all_of(in, out, lengths[l]);
	MPI_Gather(&hash, 1, MPI_UINT64_T, hashes, 1, MPI_UINT64_T, 0,
		   MPI_COMM_WORLD);
	for (int r = 1; r < size && rank == 0; r++)
		hash = hash * 31 + hashes[r];
	if (rank == 0)
		printf("%016llx\n", (unsigned long long)hash);
	free(in);
	free(out);
	free(hashes);
}

int main(int argc, char **argv)
{
	static const double numbers[] = { 1e16, 1, -1e16, 1 };
	double sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 1) {
		MPI_Allreduce(&numbers[rank % 4], &sum, 1, MPI_DOUBLE, MPI_SUM,
			      MPI_COMM_WORLD);
		if (rank == 0)
			printf("%g\n", sum);
	} else {
		hash_print();
	}
	MPI_Finalize();
	return 0;
}
