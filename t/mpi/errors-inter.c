/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators: if ranks disagree about a collective, all get its error,
 * and the intercommunicator, or its duplicate, remains usable.
 */
#include <stdatomic.h>

#include "ranks.h"

static _Atomic int disagreed, good;

/* Each of the four ranks names a root, ranks 0 and 1 in one group. */
static void bcast(MPI_Comm both, const int roots[4], int rank)
{
	int x = rank;
	int rc = MPI_Bcast(&x, 1, MPI_INT, roots[rank], both);

	disagreed += rc == MPI_ERR_OTHER;
	good += rc == MPI_SUCCESS && x == (rank < 2 ? rank : 0);
}

static const int right_roots[4] = { MPI_ROOT, MPI_PROC_NULL, 0, 0 };
static const int wrong_roots[][4] = {
	{ MPI_ROOT, MPI_ROOT, 0, 0 },
	{ MPI_PROC_NULL, MPI_PROC_NULL, 0, 0 },
	{ MPI_ROOT, 0, 0, 0 },
	{ MPI_ROOT, MPI_PROC_NULL, 0, 1 },
};
static int tried;

static void with_roots(int rank, int size)
{
	MPI_Comm half, both, copy;
	MPI_Request request;
	int remote = -1;

	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 0,
			     &both);
	bcast(both, wrong_roots[tried], rank);
	bcast(both, right_roots, rank);
	MPI_Comm_idup(both, &copy, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_remote_size(copy, &remote);
	good += remote == size / 2;
	bcast(copy, right_roots, rank);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&both);
	MPI_Comm_free(&half);
}

static void different_calls(int rank, int size)
{
	MPI_Comm half, both;
	int x = rank, y = 0, rc;

	(void)size;
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 0,
			     &both);
	rc = MPI_Allreduce(&x, &y, 1, MPI_INT, rank == 3 ? MPI_MAX : MPI_SUM,
			   both);
	disagreed += rc == MPI_ERR_OTHER;
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, both);
	good += y == (rank < 2 ? 5 : 1);
	MPI_Comm_free(&both);
	MPI_Comm_free(&half);
}

/* In place, ranks 0 and 1 want to exchange unlike amounts. */
static void unlike_exchange(int rank, int size)
{
	int x[8] = { rank, rank }, rc;

	rc = MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, x, rank == 1 ? 2 : 1,
			  MPI_INT, MPI_COMM_WORLD);
	disagreed += rc == MPI_ERR_TRUNCATE;
	good += rc == MPI_SUCCESS || rc == MPI_ERR_TRUNCATE;
	(void)size;
}

static void expect(void (*body)(int rank, int size), int all, int fine,
		   const char *what)
{
	for (int workers = 1; workers <= 2; workers++) {
		disagreed = good = 0;
		if (!ranks_run(4, workers, body)) {
			skip(1, "%s: not on %d workers", what, workers);
			continue;
		}
		ranks_share(&disagreed, 1);
		ranks_share(&good, 1);
		ok(disagreed == all && good == fine,
		   "%s: %d ranks have the error on %d workers", what, all,
		   workers);
	}
}

int main(void)
{
	plan(12);
	for (tried = 0; tried < 4; tried++)
		expect(with_roots, 4, 12, "roots that do not fit");
	expect(different_calls, 4, 4, "different operations");
	expect(unlike_exchange, 4, 4, "unlike amounts in place");
	return done_testing();
}
