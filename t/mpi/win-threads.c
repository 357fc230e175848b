/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OS threads of a rank access one window at the same time: short and long, many
 * before a flush and each with its own, with requests and without.  Each thread of
 * each rank has an area of its own at every target.
 */
#include "mtap.h"

#include <pthread.h>
#include <stdint.h>

#define THREADS 4
#define ROUNDS 120
#define BATCH 24 /* accesses before a flush */
#define AREA (64 << 10)
#define WORDS (AREA / sizeof(uint64_t))

static MPI_Win win;
static uint64_t *memory;

struct worker {
	pthread_t thread;
	int number;
	uint64_t random;
	const char *wrong; /* what did not hold first */
	uint64_t out[WORDS], in[WORDS];
};

static uint64_t next(struct worker *worker)
{
	worker->random =
		worker->random * 6364136223846793005u + 1442695040888963407u;
	return worker->random >> 33;
}

static void wrong(struct worker *worker, const char *what)
{
	if (!worker->wrong)
		worker->wrong = what;
}

/* Where the area of a thread of a rank begins; the first words are counters. */
static MPI_Aint area_of(int origin, int number)
{
	return (MPI_Aint)sizeof(uint64_t) * THREADS +
	       (MPI_Aint)AREA * (origin * THREADS + number);
}

/* Makes `out` what no round before had there. */
static void out_fill(struct worker *worker, size_t words)
{
	for (size_t i = 0; i < words; i++)
		worker->out[i] = next(worker) << 8 | (uint64_t)worker->number;
}

static size_t words_next(struct worker *worker)
{
	static const size_t sizes[] = { 1,   2,	   16,	 31,   128,
					129, 1024, 2000, WORDS };

	return sizes[next(worker) % (sizeof(sizes) / sizeof(sizes[0]))];
}

static void put(struct worker *worker, size_t at, size_t words, int target)
{
	MPI_Put(worker->out + at, (int)words, MPI_UINT64_T, target,
		area_of(rank, worker->number) + (MPI_Aint)(at * 8), (int)words,
		MPI_UINT64_T, win);
}

static void get(struct worker *worker, size_t at, size_t words, int target)
{
	MPI_Get(worker->in + at, (int)words, MPI_UINT64_T, target,
		area_of(rank, worker->number) + (MPI_Aint)(at * 8), (int)words,
		MPI_UINT64_T, win);
}

/* One put of any length, and a get of it. */
static void alone(struct worker *worker, int target)
{
	size_t words = words_next(worker);

	out_fill(worker, words);
	memset(worker->in, 0, words * 8);
	put(worker, 0, words, target);
	MPI_Win_flush(target, win);
	get(worker, 0, words, target);
	MPI_Win_flush(target, win);
	if (memcmp(worker->in, worker->out, words * 8) != 0)
		wrong(worker, "a get brings what was put before");
}

/* Many, and one flush for all targets. */
static void many(struct worker *worker, int target)
{
	size_t words = 1 + next(worker) % (WORDS / BATCH);
	size_t all = words * BATCH;

	out_fill(worker, all);
	memset(worker->in, 0, all * 8);
	for (size_t i = 0; i < BATCH; i++)
		put(worker, i * words, words, target);
	MPI_Win_flush_all(win);
	for (size_t i = 0; i < BATCH; i++)
		get(worker, (BATCH - 1 - i) * words, words, target);
	MPI_Win_flush_all(win);
	if (memcmp(worker->in, worker->out, all * 8) != 0)
		wrong(worker, "gets bring what many puts have put");
}

/* With requests; the buffer of a put changes once its request is complete. */
static void asked(struct worker *worker, int target)
{
	size_t words = words_next(worker);
	MPI_Aint at = area_of(rank, worker->number);
	MPI_Request request;
	uint64_t first;

	out_fill(worker, words);
	first = worker->out[0];
	MPI_Rput(worker->out, (int)words, MPI_UINT64_T, target, at, (int)words,
		 MPI_UINT64_T, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	worker->out[0] = 0;
	MPI_Win_flush(target, win);
	MPI_Rget(worker->in, (int)words, MPI_UINT64_T, target, at, (int)words,
		 MPI_UINT64_T, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	worker->out[0] = first;
	if (memcmp(worker->in, worker->out, words * 8) != 0)
		wrong(worker, "a get with a request brings what was put");
}

/* A flush ends a put of few bytes, which may take another way than a get of many
 * that begins there. */
static void passed(struct worker *worker, int target)
{
	size_t words = WORDS / 4;

	for (int i = 0; i < BATCH; i++) {
		worker->out[0] = next(worker);
		put(worker, 0, 1, target);
		MPI_Win_flush(target, win);
		get(worker, 0, words, target);
		MPI_Win_flush(target, win);
		if (worker->in[0] != worker->out[0])
			wrong(worker, "a flush ends a put");
	}
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	uint64_t one = 1, old;

	worker->random = (uint64_t)(rank * THREADS + worker->number) * 77777;
	for (int i = 0; i < ROUNDS; i++) {
		int target = (int)(next(worker) % (uint64_t)size);

		MPI_Fetch_and_op(&one, &old, MPI_UINT64_T, target,
				 8 * (MPI_Aint)worker->number, MPI_SUM, win);
		if (i % 6 == 0)
			alone(worker, target);
		else if (i % 6 == 1)
			many(worker, target);
		else if (i % 6 == 2)
			asked(worker, target);
		else
			passed(worker, target);
	}
	return NULL;
}

static struct worker workers[THREADS];

/* Runs them as the threads of the rank; what did not hold first, or NULL. */
static const char *run(void *(*body)(void *))
{
	const char *what = NULL;

	for (int i = 0; i < THREADS; i++) {
		workers[i].number = i;
		workers[i].wrong = NULL;
		pthread_create(&workers[i].thread, NULL, body, &workers[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		if (workers[i].wrong)
			what = workers[i].wrong;
	}
	if (what)
		fprintf(stderr, "# rank %d: not so: %s\n", rank, what);
	return what;
}

/* Each thread locks a member that no other one does. */
static void *lock(void *arg)
{
	struct worker *worker = arg;
	int target = worker->number;

	for (int i = 0; i < ROUNDS && target < size; i++) {
		MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
		worker->out[0] = (uint64_t)(rank + i);
		put(worker, 0, 1, target);
		MPI_Win_flush(target, win);
		get(worker, 0, 1, target);
		MPI_Win_unlock(target, win);
		if (worker->in[0] != worker->out[0])
			wrong(worker, "an unlock ends a get");
	}
	return NULL;
}

/* The counters of all ranks together. */
static uint64_t counted(void)
{
	uint64_t sum = 0, all = 0;

	for (int i = 0; i < THREADS; i++)
		sum += memory[i];
	MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

/* In memory of the window's own, or of the program. */
static void threads(bool allocated)
{
	const char *where = allocated ? ", in memory of the window's own" : "";
	const char *what;
	MPI_Aint bytes = area_of(size, 0);

	memory = NULL;
	if (allocated) {
		MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
				 &memory, &win);
	} else {
		memory = malloc((size_t)bytes);
		MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
			       &win);
	}
	memset(memory, 0, (size_t)bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	all_ok(!run(lock), "each thread locks a member of its own%s", where);
	MPI_Win_lock_all(0, win);
	what = run(work);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	all_ok(!what, "each thread gets what it has put%s", where);
	all_ok(counted() == (uint64_t)size * THREADS * ROUNDS,
	       "no addition of a thread is lost");
	MPI_Win_free(&win);
	if (!allocated)
		free(memory);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	threads(true);
	threads(false);
	return mtap_end();
}
