/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives of which some ranks, or some workers, think that they
 * are short and others do not: calls that do not match, and operands that are
 * short but not contiguous; many at once, started and completed in any order.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

#define ROUNDS 60
#define AT_ONCE 12
#define LONG 5000

static _Atomic int wrong, seen[3];

enum kind { SHORT, LONG_ALL, LONG_SOME, LONG_ROOT, LOOSE, OPS, KINDS };

struct pair {
	double value;
	int index;
};

struct call {
	enum kind kind;
	int root;
	int number;
	bool odd; /* this rank makes another call than most */
	MPI_Request request;
	struct pair pair, least;
	int data[LONG];
};

/* All ranks draw the same numbers from one seed. */
static unsigned draw(unsigned *seed, unsigned below)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % below;
}

static int count_of(const struct call *call, int rank)
{
	bool is_root = rank == call->root;

	switch (call->kind) {
	case LONG_ALL:
		return LONG;
	case LONG_SOME:
		return call->odd && !is_root ? LONG : 3;
	case LONG_ROOT:
		return is_root ? LONG : 3;
	default:
		return 3;
	}
}

static void start(struct call *call, int rank, MPI_Comm comm)
{
	memset(call->data, rank == call->root ? call->number : -1,
	       sizeof(call->data));
	call->pair = (struct pair){ rank - call->root, rank };
	if (call->kind == LOOSE)
		wrong += MPI_Iallreduce(&call->pair, &call->least, 1,
					MPI_DOUBLE_INT, MPI_MINLOC, comm,
					&call->request) != 0;
	else if (call->kind == OPS)
		wrong += MPI_Iallreduce(&call->number, call->data, 1, MPI_INT,
					call->odd ? MPI_MAX : MPI_SUM, comm,
					&call->request) != 0;
	else
		wrong += MPI_Ibcast(call->data, count_of(call, rank), MPI_INT,
				    call->root, comm, &call->request) != 0;
}

static int class_of(int rc)
{
	int class;

	MPI_Error_class(rc, &class);
	return class;
}

static void end(struct call *call, int rank, bool odd)
{
	int class = class_of(MPI_Wait(&call->request, MPI_STATUS_IGNORE));
	int want = MPI_SUCCESS, value;

	if (call->kind == OPS) {
		want = odd ? MPI_ERR_OTHER : MPI_SUCCESS;
	} else if (call->kind == LOOSE) {
		wrong += call->least.index != 0;
	} else if (rank != call->root) {
		if (count_of(call, rank) != count_of(call, call->root))
			want = MPI_ERR_TRUNCATE;
		memset(&value, call->number, sizeof(value));
		wrong += call->data[0] != value || call->data[2] != value;
	}
	wrong += class != want;
	seen[class == MPI_SUCCESS ? 0 : class == MPI_ERR_OTHER ? 1 : 2]++;
}

/* Lets others go first now and then. */
static void dawdle(unsigned *own)
{
	int flag;

	for (unsigned n = draw(own, 8) ? 0 : draw(own, 30); n; n--)
		MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag,
			   MPI_STATUS_IGNORE);
}

static void round_of(struct call *calls, int rank, int size, unsigned *seed,
		     unsigned *own, MPI_Comm comm)
{
	int n = 1 + (int)draw(seed, AT_ONCE), order[AT_ONCE];
	bool any_odd[AT_ONCE] = { false };

	for (int i = 0; i < n; i++) {
		struct call *call = &calls[i];
		int odd = (int)draw(seed, (unsigned)size);

		call->kind = draw(seed, KINDS);
		call->root = (int)draw(seed, (unsigned)size);
		call->number = 1 + (int)draw(seed, 100);
		call->odd = rank == odd;
		any_odd[i] = call->kind == OPS;
		order[i] = i;
		start(call, rank, comm);
		dawdle(own);
	}
	if (draw(seed, 3) == 0)
		MPI_Barrier(comm);
	for (int i = n; i > 0; i--) {
		int k = (int)draw(own, (unsigned)i);

		end(&calls[order[k]], rank, any_odd[order[k]]);
		order[k] = order[i - 1];
	}
}

static void mixed(int rank, int size)
{
	struct call *calls = malloc(AT_ONCE * sizeof(*calls));
	unsigned seed = 20261126, own = (unsigned)rank * 7919u + 1;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Comm comm;

		MPI_Comm_dup(MPI_COMM_WORLD, &comm);
		for (int j = 0; j < 3; j++)
			round_of(calls, rank, size, &seed, &own, comm);
		MPI_Comm_free(&comm);
	}
	free(calls);
}

/* Whoever starts one goes on without its communicator. */
static void freed(int rank, int size)
{
	int sum = 0;

	for (int i = 0; i < 200; i++) {
		MPI_Request requests[3];
		MPI_Comm comm;
		int all[2] = { 0, 0 };

		MPI_Comm_dup(MPI_COMM_WORLD, &comm);
		MPI_Ibarrier(comm, &requests[0]);
		MPI_Iallreduce(&rank, &all[0], 1, MPI_INT, MPI_SUM, comm,
			       &requests[1]);
		MPI_Iallreduce(&size, &all[1], 1, MPI_INT, MPI_MAX, comm,
			       &requests[2]);
		MPI_Comm_free(&comm);
		MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
		sum += all[0] == size * (size - 1) / 2 && all[1] == size;
	}
	wrong += sum != 200;
}

/* What is started and then waited for by others in a blocking call is told. */
static void behind(int rank, int size)
{
	MPI_Request request;
	int token = 0;

	if (rank == 0) {
		MPI_Ibarrier(MPI_COMM_WORLD, &request);
		for (int i = 1; i < size; i++)
			MPI_Send(&token, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
	} else {
		MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		wrong += class_of(MPI_Barrier(MPI_COMM_WORLD)) != MPI_ERR_OTHER;
		MPI_Ibarrier(MPI_COMM_WORLD, &request);
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	/* Some are in a blocking one while others start what these have
	 * started. */
	for (int i = 0; i < 200; i++) {
		wrong += MPI_Ibarrier(MPI_COMM_WORLD, &request) != 0;
		wrong += MPI_Barrier(MPI_COMM_WORLD) != 0;
		wrong += MPI_Wait(&request, MPI_STATUS_IGNORE) != 0;
	}
}

static void run(void (*body)(int rank, int size), const char *what)
{
	for (int workers = 2; workers <= 4; workers++)
		for (int size = workers; size <= 9; size += 2) {
			wrong = 0;
			ranks_run(size, workers, body);
			is_int(wrong, 0, "%s: %d ranks on %d workers", what,
			       size, workers);
		}
}

int main(void)
{
	plan(3 * (4 + 4 + 3) + 1);
	run(mixed, "calls of any size");
	ok(seen[0] > 0 && seen[1] > 0 && seen[2] > 0,
	   "%d went well, %d differed, %d were too long", seen[0], seen[1],
	   seen[2]);
	run(freed, "communicators freed meanwhile");
	run(behind, "blocking ones behind started ones");
	return done_testing();
}
