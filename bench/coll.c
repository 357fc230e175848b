/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every collective at 8 B, 1 KiB and 1 MiB, blocking and nonblocking (followed
 * by its wait).  The size is that of one block: what a member sends to another
 * one, or reduces; of what is scattered after a reduction each member gets at
 * least an element.  Every other call is on a communicator whose members are in
 * reverse order, so that none can begin before the one before it has ended:
 * else the root of a broadcast runs ahead and all one sees are its sends.
 * Prints "NAME-BYTES-RANKS ns", from when the first member begins until the
 * last one is done; -1: its buffers need too much memory.
 *
 * Usage: coll --quick|--all SECONDS MIB.  What is not begun after so many
 * seconds is left out; the buffers of all ranks together get so many MiB.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#include "clock.h"

#define HUGE_PAGE ((size_t)1 << 21)
#define LONG_NS 1e8 /* what takes so long once is not repeated */

/* The number of blocks of a buffer: none, one, one per member, that only at the
 * roots, or one of which each gets a share. */
enum blocks { NO, ONE, ALL, ROOT, SHARES };

struct job {
	MPI_Comm comm, comms[2];
	int rank, size; /* in MPI_COMM_WORLD */
	char *send, *recv;
	int bytes;    /* of a block */
	int elements; /* the same in doubles */
	int share;    /* of these, what one member gets of a reduce-scatter */
	/* Blocks of all members: bytes, where, and shares in elements. */
	int *counts, *displs, *shares;
	MPI_Datatype *types;
};

/* name, nonblocking name, blocks sent, blocks received, arguments */
#define COLLS(X)                                                               \
	X(Barrier, Ibarrier, NO, NO, (j->comm))                                \
	X(Bcast, Ibcast, NO, ONE, (j->recv, j->bytes, MPI_BYTE, 0, j->comm))   \
	X(Gather, Igather, ONE, ROOT,                                          \
	  (j->send, j->bytes, MPI_BYTE, j->recv, j->bytes, MPI_BYTE, 0,        \
	   j->comm))                                                           \
	X(Gatherv, Igatherv, ONE, ROOT,                                        \
	  (j->send, j->bytes, MPI_BYTE, j->recv, j->counts, j->displs,         \
	   MPI_BYTE, 0, j->comm))                                              \
	X(Scatter, Iscatter, ROOT, ONE,                                        \
	  (j->send, j->bytes, MPI_BYTE, j->recv, j->bytes, MPI_BYTE, 0,        \
	   j->comm))                                                           \
	X(Scatterv, Iscatterv, ROOT, ONE,                                      \
	  (j->send, j->counts, j->displs, MPI_BYTE, j->recv, j->bytes,         \
	   MPI_BYTE, 0, j->comm))                                              \
	X(Allgather, Iallgather, ONE, ALL,                                     \
	  (j->send, j->bytes, MPI_BYTE, j->recv, j->bytes, MPI_BYTE, j->comm)) \
	X(Allgatherv, Iallgatherv, ONE, ALL,                                   \
	  (j->send, j->bytes, MPI_BYTE, j->recv, j->counts, j->displs,         \
	   MPI_BYTE, j->comm))                                                 \
	X(Alltoall, Ialltoall, ALL, ALL,                                       \
	  (j->send, j->bytes, MPI_BYTE, j->recv, j->bytes, MPI_BYTE, j->comm)) \
	X(Alltoallv, Ialltoallv, ALL, ALL,                                     \
	  (j->send, j->counts, j->displs, MPI_BYTE, j->recv, j->counts,        \
	   j->displs, MPI_BYTE, j->comm))                                      \
	X(Alltoallw, Ialltoallw, ALL, ALL,                                     \
	  (j->send, j->counts, j->displs, j->types, j->recv, j->counts,        \
	   j->displs, j->types, j->comm))                                      \
	X(Reduce, Ireduce, ONE, ONE,                                           \
	  (j->send, j->recv, j->elements, MPI_DOUBLE, MPI_SUM, 0, j->comm))    \
	X(Allreduce, Iallreduce, ONE, ONE,                                     \
	  (j->send, j->recv, j->elements, MPI_DOUBLE, MPI_SUM, j->comm))       \
	X(Reduce_scatter, Ireduce_scatter, SHARES, SHARES,                     \
	  (j->send, j->recv, j->shares, MPI_DOUBLE, MPI_SUM, j->comm))         \
	X(Reduce_scatter_block, Ireduce_scatter_block, SHARES, SHARES,         \
	  (j->send, j->recv, j->share, MPI_DOUBLE, MPI_SUM, j->comm))          \
	X(Scan, Iscan, ONE, ONE,                                               \
	  (j->send, j->recv, j->elements, MPI_DOUBLE, MPI_SUM, j->comm))       \
	X(Exscan, Iexscan, ONE, ONE,                                           \
	  (j->send, j->recv, j->elements, MPI_DOUBLE, MPI_SUM, j->comm))

#define LIST(...) __VA_ARGS__
#define RUN(name, iname, from, to, args)               \
	static void run_##name(const struct job *j)    \
	{                                              \
		MPI_##name args;                       \
	}                                              \
	static void run_##iname(const struct job *j)   \
	{                                              \
		MPI_Request request;                   \
                                                       \
		MPI_##iname(LIST args, &request);      \
		MPI_Wait(&request, MPI_STATUS_IGNORE); \
	}
COLLS(RUN)

struct coll {
	const char *name;
	void (*run)(const struct job *job);
	enum blocks send, recv;
};

#define ROW(name, iname, from, to, args) { #name, run_##name, from, to },
#define I_ROW(name, iname, from, to, args) { #iname, run_##iname, from, to },
static const struct coll colls[] = { COLLS(ROW) COLLS(I_ROW) };

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* The nonblocking ones that are enough for a first look. */
static int quick_wants(const struct coll *coll)
{
	static const char *const names[] = { "Ibarrier", "Ibcast", "Iallreduce",
					     "Ialltoall" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (!strcmp(coll->name, names[i]))
			return 1;
	return coll->name[0] != 'I';
}

/* Bytes of a member's buffer. */
static size_t buffer_bytes(const struct job *job, enum blocks blocks, int rank)
{
	size_t bytes = (size_t)job->bytes, size = (size_t)job->size;

	switch (blocks) {
	case NO:
		return 0;
	case ONE:
		return bytes;
	case ALL:
		return size * bytes;
	case ROOT:
		return rank == 0 || rank == job->size - 1 ? size * bytes : 0;
	case SHARES:
		return size * (size_t)job->share * sizeof(double);
	}
	return 0;
}

/* Of all members' buffers. */
static double total_mib(const struct job *job, const struct coll *coll)
{
	double bytes = 0;

	for (int rank = 0; rank < job->size; rank++)
		bytes += (double)buffer_bytes(job, coll->send, rank) +
			 (double)buffer_bytes(job, coll->recv, rank);
	return bytes / (1 << 20);
}

static void *allocate(size_t bytes)
{
	size_t unit = bytes < HUGE_PAGE / 2 ? 64 : HUGE_PAGE;
	void *memory;

	bytes = (bytes + unit) & ~(unit - 1);
	memory = aligned_alloc(unit, bytes);
	if (!memory) {
		fprintf(stderr, "coll: no memory for %zu bytes\n", bytes);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	if (unit == HUGE_PAGE)
		madvise(memory, bytes, MADV_HUGEPAGE);
	memset(memory, 0, bytes);
	return memory;
}

static void job_init(struct job *job)
{
	MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &job->size);
	job->comms[0] = MPI_COMM_WORLD;
	MPI_Comm_split(MPI_COMM_WORLD, 0, -job->rank, &job->comms[1]);
	job->counts = allocate(3 * sizeof(int) * (size_t)job->size);
	job->displs = job->counts + job->size;
	job->shares = job->displs + job->size;
	job->types = allocate(sizeof(MPI_Datatype) * (size_t)job->size);
	for (int i = 0; i < job->size; i++)
		job->types[i] = MPI_BYTE;
}

static void job_set_bytes(struct job *job, int bytes)
{
	job->bytes = bytes;
	job->elements = bytes / (int)sizeof(double);
	job->share = job->elements / job->size;
	if (job->share == 0)
		job->share = 1;
	for (int i = 0; i < job->size; i++) {
		job->counts[i] = bytes;
		job->displs[i] = i * bytes;
		job->shares[i] = job->share;
	}
}

/* All members get the same, so that all decide alike. */
static double timed(struct job *job, const struct coll *coll, int n)
{
	double mine[2], all[2];

	MPI_Barrier(MPI_COMM_WORLD);
	mine[0] = -now_ns();
	for (int i = 0; i < n; i++) {
		job->comm = job->comms[i % 2];
		coll->run(job);
	}
	mine[1] = now_ns();
	MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return all[0] + all[1];
}

static double measure(const struct effort *effort, struct job *job,
		      const struct coll *coll)
{
	double times[BATCHES_MAX], took;
	int n = 2;

	/* Warms up as well. */
	while ((took = timed(job, coll, n)) < effort->batch_ns / 4)
		n *= 2;
	if (took > LONG_NS)
		return took / n;
	n = batch_size(effort, n, took);
	for (int i = 0; i < effort->batches; i++)
		times[i] = timed(job, coll, n) / n;
	return median_of(times, effort->batches);
}

static void row(const struct effort *effort, struct job *job,
		const struct coll *coll, double limit_mib)
{
	double ns = -1;

	if (total_mib(job, coll) <= limit_mib) {
		job->send = allocate(buffer_bytes(job, coll->send, job->rank));
		job->recv = allocate(buffer_bytes(job, coll->recv, job->rank));
		ns = measure(effort, job, coll);
		free(job->send);
		free(job->recv);
	}
	if (job->rank != 0)
		return;
	printf("%s-%d-%d %.1f\n", coll->name, job->bytes, job->size, ns);
	fflush(stdout);
}

/* Whether rank 0 has time for another row. */
static int time_left(double end)
{
	int left = now_ns() < end;

	MPI_Bcast(&left, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return left;
}

int main(int argc, char **argv)
{
	static const int sizes[] = { 8, 1024, 1 << 20 };
	int quick = argc > 1 && !strcmp(argv[1], "--quick");
	struct effort effort = { .batch_ns = quick ? 1e6 : 4e6, .batches = 5 };
	double end = now_ns();
	struct job job;

	MPI_Init(&argc, &argv);
	if (argc != 4) {
		fprintf(stderr, "usage: coll --quick|--all SECONDS MIB\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	end += atof(argv[2]) * 1e9;
	job_init(&job);
	for (size_t s = 0; s < COUNT_OF(sizes); s++) {
		job_set_bytes(&job, sizes[s]);
		for (size_t i = 0; i < COUNT_OF(colls); i++) {
			if ((quick && !quick_wants(&colls[i])) ||
			    (s > 0 && colls[i].recv == NO))
				continue;
			if (!time_left(end))
				goto over;
			row(&effort, &job, &colls[i], atof(argv[3]));
		}
	}
over:
	MPI_Comm_free(&job.comms[1]);
	free(job.counts);
	free(job.types);
	MPI_Finalize();
	return 0;
}
