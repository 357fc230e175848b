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
 * MPI_Win_unlock.  "store-8" is a store without any MPI.
 */
#include <stdbool.h>
#include <string.h>

#include "pair.h"

#define MOST (1 << 20)
#define ROW 64

/* What is done once; and how it is completed. */
enum what { PUT, GET, ACCUMULATE, FETCH, SWAP };
enum how { FLUSH, RATE, LOCK, FENCE, PSCW, PLAIN };

struct test {
	MPI_Win win;
	enum what what;
	enum how how;
	int bytes;
	MPI_Group other; /* the other rank */
};

static char *mine, *theirs;
static long old, none, one = 1;

static void reach(const struct test *t)
{
	int longs = t->bytes / (int)sizeof(long);

	switch (t->what) {
	case PUT:
		MPI_Put(mine, t->bytes, MPI_BYTE, 1, 0, t->bytes, MPI_BYTE,
			t->win);
		break;
	case GET:
		MPI_Get(mine, t->bytes, MPI_BYTE, 1, 0, t->bytes, MPI_BYTE,
			t->win);
		break;
	case ACCUMULATE:
		MPI_Accumulate(mine, longs, MPI_LONG, 1, 0, longs, MPI_LONG,
			       MPI_SUM, t->win);
		break;
	case FETCH:
		MPI_Fetch_and_op(&one, &old, MPI_LONG, 1, 0, MPI_SUM, t->win);
		break;
	case SWAP:
		MPI_Compare_and_swap(&one, &none, &old, MPI_LONG, 1, 0, t->win);
		break;
	}
}

/* A passive target waits for the next number of repetitions. */
static void flushed(int rank, int n, void *arg)
{
	const struct test *t = arg;
	int row = t->how == RATE ? ROW : 1;

	if (rank == 1)
		return;
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < row; j++)
			reach(t);
		MPI_Win_flush(1, t->win);
	}
}

static void locked(int rank, int n, void *arg)
{
	const struct test *t = arg;

	if (rank == 1)
		return;
	for (int i = 0; i < n; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, t->win);
		reach(t);
		MPI_Win_unlock(1, t->win);
	}
}

static void fenced(int rank, int n, void *arg)
{
	const struct test *t = arg;

	for (int i = 0; i < n; i++) {
		if (rank == 0)
			reach(t);
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
		reach(t);
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
	{ FETCH, FLUSH, 8, "fetch-8" },
	{ PUT, LOCK, 8, "put-lock-8" },
	{ PUT, FENCE, 8, "put-fence-8" },
	{ PUT, PSCW, 8, "put-pscw-8" },
	{ PUT, FLUSH, 1024, "put-1024" },
	{ GET, FLUSH, 1024, "get-1024" },
	{ ACCUMULATE, FLUSH, 1024, "accumulate-1024" },
	{ PUT, FLUSH, 65536, "put-65536" },
	{ GET, FLUSH, 65536, "get-65536" },
	{ ACCUMULATE, FLUSH, 65536, "accumulate-65536" },
	{ PUT, FLUSH, MOST, "put-1048576" },
	{ GET, FLUSH, MOST, "get-1048576" },
	{ ACCUMULATE, FLUSH, MOST, "accumulate-1048576" },
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
		[FLUSH] = flushed, [RATE] = flushed, [LOCK] = locked,
		[FENCE] = fenced,  [PSCW] = posted,  [PLAIN] = stored,
	};
	bool all = t->how == FLUSH || t->how == RATE;
	double ns;

	if (t->how == FENCE)
		MPI_Win_fence(0, t->win);
	if (all && rank == 0)
		MPI_Win_lock_all(0, t->win);
	ns = pair_measure(rank, effort, works[t->how], t);
	if (all && rank == 0)
		MPI_Win_unlock_all(t->win);
	if (t->how == FENCE)
		MPI_Win_fence(MPI_MODE_NOSUCCEED, t->win);
	if (rank == 0) {
		printf("%s %.2f\n", name, t->how == RATE ? ns / ROW : ns);
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
	own = calloc(1, MOST);
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
