/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication of two ranks: rank 0 reaches the memory of rank 1,
 * which waits in a receive, or takes part where the epoch wants it.
 *
 *	onesided [--quick] [NAME]...
 *
 * Prints "NAME ns".  A name is a kind of window, an operation and its bytes;
 * "allocate-put-8" is a put with a flush, "allocate-put64-8" one of 64 puts with
 * a flush behind them, "allocate-put-lock-8" one between MPI_Win_lock and
 * MPI_Win_unlock.  "store-8" is a store without any MPI.  In "both64" rank 1 puts
 * at the same time.
 */
#include <stdbool.h>
#include <string.h>

#include "pair.h"

#define MOST 1048576
#define ROW 64

/* What is done once; and how it is completed. */
enum what { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH, SWAP };
enum how { FLUSH, RATE, BOTH, LOCK, FENCE, PSCW, PLAIN };

struct test {
	MPI_Win win;
	enum what what;
	enum how how;
	int bytes;
	MPI_Group other; /* the other rank */
};

static char *mine, *theirs, *got;
static long old, none, one = 1;

/* The number-th access of a row, each of which has a place of its own as long as
 * there are so many. */
static void reach(const struct test *t, int target, int number)
{
	int longs = t->bytes / (int)sizeof(long);
	int at = (int)((long)number * t->bytes % MOST);

	switch (t->what) {
	case PUT:
		MPI_Put(mine + at, t->bytes, MPI_BYTE, target, at, t->bytes,
			MPI_BYTE, t->win);
		break;
	case GET:
		MPI_Get(mine + at, t->bytes, MPI_BYTE, target, at, t->bytes,
			MPI_BYTE, t->win);
		break;
	case ACCUMULATE:
		MPI_Accumulate(mine + at, longs, MPI_LONG, target, at, longs,
			       MPI_LONG, MPI_SUM, t->win);
		break;
	case GET_ACCUMULATE:
		MPI_Get_accumulate(mine + at, longs, MPI_LONG, got + at, longs,
				   MPI_LONG, target, at, longs, MPI_LONG,
				   MPI_SUM, t->win);
		break;
	case FETCH:
		MPI_Fetch_and_op(&one, &old, MPI_LONG, target, at, MPI_SUM,
				 t->win);
		break;
	case SWAP:
		MPI_Compare_and_swap(&one, &none, &old, MPI_LONG, target, at,
				     t->win);
		break;
	}
}

/* A passive target waits for the next number of repetitions. */
static void flushed(int rank, int n, void *arg)
{
	const struct test *t = arg;
	int row = t->how == FLUSH ? 1 : ROW;

	if (rank == 1 && t->how != BOTH)
		return;
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < row; j++)
			reach(t, !rank, j);
		MPI_Win_flush(!rank, t->win);
	}
}

static void locked(int rank, int n, void *arg)
{
	const struct test *t = arg;

	if (rank == 1)
		return;
	for (int i = 0; i < n; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, t->win);
		reach(t, 1, 0);
		MPI_Win_unlock(1, t->win);
	}
}

static void fenced(int rank, int n, void *arg)
{
	const struct test *t = arg;

	for (int i = 0; i < n; i++) {
		if (rank == 0)
			reach(t, 1, 0);
		MPI_Win_fence(0, t->win);
	}
}

static void posted(int rank, int n, void *arg)
{
	const struct test *t = arg;

	for (int i = 0; i < n; i++) {
		if (rank == 1) {
			MPI_Win_post(t->other, 0, t->win);
			MPI_Win_wait(t->win);
			continue;
		}
		MPI_Win_start(t->other, 0, t->win);
		reach(t, 1, 0);
		MPI_Win_complete(t->win);
	}
}

static void stored(int rank, int n, void *arg)
{
	(void)arg;
	if (rank == 1)
		return;
	for (int i = 0; i < n; i++) {
		*(volatile long *)(theirs + 8 * (i % ROW)) = *(long *)mine;
		__asm__ volatile("" ::: "memory");
	}
}

/* One of each size with a flush, and rows. */
#define TEST(what, how, bytes, name)          \
	{                                     \
		what, how, bytes, name #bytes \
	}
#define SIZE(bytes)                                                       \
	TEST(PUT, FLUSH, bytes, "put-"), TEST(GET, FLUSH, bytes, "get-"), \
		TEST(ACCUMULATE, FLUSH, bytes, "accumulate-"),            \
		TEST(GET_ACCUMULATE, FLUSH, bytes, "getacc-")
#define RATES(bytes)                                                        \
	TEST(PUT, RATE, bytes, "put64-"), TEST(GET, RATE, bytes, "get64-"), \
		TEST(PUT, BOTH, bytes, "both64-")

static const struct {
	enum what what;
	enum how how;
	int bytes;
	const char *name;
} tests[] = {
	{ PUT, FLUSH, 8, "put-8" },
	{ PUT, RATE, 8, "put64-8" },
	{ GET, FLUSH, 8, "get-8" },
	{ GET, RATE, 8, "get64-8" },
	{ ACCUMULATE, FLUSH, 8, "accumulate-8" },
	{ ACCUMULATE, RATE, 8, "accumulate64-8" },
	{ GET_ACCUMULATE, FLUSH, 8, "getacc-8" },
	{ FETCH, FLUSH, 8, "fetch-8" },
	{ PUT, LOCK, 8, "put-lock-8" },
	{ PUT, FENCE, 8, "put-fence-8" },
	{ PUT, PSCW, 8, "put-pscw-8" },
	SIZE(1024),
	SIZE(4096),
	SIZE(8192),
	SIZE(16384),
	SIZE(65536),
	SIZE(1048576),
	RATES(1024),
	RATES(4096),
	RATES(8192),
	RATES(16384),
	RATES(65536),
	/* Last: Open MPI 4.1 may hang. */
	{ SWAP, FLUSH, 8, "swap-8" },
};

/* Whether the command line asks for it, or for nothing. */
static bool wanted(int argc, char **argv, const char *name)
{
	bool any = false;

	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-')
			continue;
		any = true;
		if (!strcmp(argv[i], name))
			return true;
	}
	return !any;
}

static void measure(int rank, const struct effort *effort, struct test *t,
		    const char *name)
{
	static const pair_work works[] = {
		[FLUSH] = flushed, [RATE] = flushed, [BOTH] = flushed,
		[LOCK] = locked,   [FENCE] = fenced, [PSCW] = posted,
		[PLAIN] = stored,
	};
	bool all = t->how == FLUSH || t->how == RATE || t->how == BOTH;
	bool row = t->how == RATE || t->how == BOTH;
	double ns;

	if (t->how == FENCE)
		MPI_Win_fence(0, t->win);
	if (all && (rank == 0 || t->how == BOTH))
		MPI_Win_lock_all(0, t->win);
	ns = pair_measure(rank, effort, works[t->how], t);
	if (all && (rank == 0 || t->how == BOTH))
		MPI_Win_unlock_all(t->win);
	if (t->how == FENCE)
		MPI_Win_fence(MPI_MODE_NOSUCCEED, t->win);
	if (rank == 0) {
		printf("%s %.2f\n", name, row ? ns / ROW : ns);
		fflush(stdout);
	}
}

static void kind(int rank, int argc, char **argv, const char *which,
		 struct test *t)
{
	struct effort effort = effort_of(argc, argv);
	char name[64];

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		snprintf(name, sizeof(name), "%s-%s", which, tests[i].name);
		if (!wanted(argc, argv, name))
			continue;
		t->what = tests[i].what;
		t->how = tests[i].how;
		t->bytes = tests[i].bytes;
		measure(rank, &effort, t, name);
	}
}

int main(int argc, char **argv)
{
	int rank = pair_rank(&argc, &argv), other = !rank;
	struct effort effort = effort_of(argc, argv);
	struct test t = { .how = PLAIN };
	MPI_Group all;
	char *own;

	mine = calloc(1, MOST);
	got = calloc(1, MOST);
	own = calloc(1, MOST);
	/* Pages that were never written are one and the same. */
	memset(mine, 1, MOST);
	memset(got, 1, MOST);
	memset(own, 1, MOST);
	theirs = own;
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &other, &t.other);
	if (wanted(argc, argv, "store-8"))
		measure(rank, &effort, &t, "store-8");
	MPI_Win_create(own, MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &t.win);
	kind(rank, argc, argv, "create", &t);
	MPI_Win_free(&t.win);
	MPI_Win_allocate(MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &theirs,
			 &t.win);
	memset(theirs, 0, MOST);
	MPI_Barrier(MPI_COMM_WORLD);
	kind(rank, argc, argv, "allocate", &t);
	MPI_Win_free(&t.win);
	MPI_Group_free(&t.other);
	MPI_Group_free(&all);
	MPI_Finalize();
	return 0;
}
