/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it costs to look at every call: a halo exchange in a ring with
 * computing between, alone, with a hook that does nothing, and with one that
 * reads all performance variables of the rank at the begin of each call.
 *
 *	sampling [RANKS [WORKERS [COMPUTE_US]]]
 *
 * The three take turns in one process; medians of processor time are printed,
 * in ns per call and in percent, and what one read of all takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <vmpi.h>

#define TURNS 15
#define STEPS 200 /* of a turn: computing and 5 calls */
#define CALLS 5
#define HALO 1024 /* bytes */

enum way { NOTHING, HOOK, READ, WAYS };

static int ranks = 2, workers = 1;
static double compute_us = 100;
static long loops; /* that take compute_us */
static vmpi_session **sessions;
static int words;

/* Processor time: others may use the machine. */
static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static volatile double sink;

static void compute(long n)
{
	double x = sink; /* which no compiler knows */

	for (long i = 0; i < n; i++)
		x = x * 0.999999 + 1e-6;
	sink = x;
}

static int body(void *arg)
{
	static char in[2][HALO], out[HALO];
	int left = (vmpi_rank() + ranks - 1) % ranks;
	int right = (vmpi_rank() + 1) % ranks;
	vmpi_chan *world = vmpi_world();

	(void)arg;
	for (int i = 0; i < STEPS; i++) {
		vmpi_req *reqs[2];

		vmpi_irecv(world, &reqs[0], in[0], HALO, left, 1);
		vmpi_irecv(world, &reqs[1], in[1], HALO, right, 2);
		vmpi_send(world, out, HALO, right, 1);
		vmpi_send(world, out, HALO, left, 2);
		compute(loops);
		vmpi_wait_all(reqs, NULL, 2);
	}
	return 0;
}

static void nothing(int rank, int call, void *arg)
{
	(void)rank;
	(void)call;
	(void)arg;
}

static void look(int rank, int call, void *arg)
{
	uint64_t values[2048];

	vmpi_session_read(sessions[rank], values);
	sink = (double)values[0];
	(void)call;
	(void)arg;
}

static double turn(enum way way)
{
	vmpi_hook *hook = NULL;
	double begin;

	if (way != NOTHING &&
	    vmpi_hook_add(&hook, way == HOOK ? nothing : look, nothing, NULL))
		exit(1);
	begin = now_us();
	if (vmpi_run(NULL, body, NULL))
		exit(1);
	begin = now_us() - begin;
	if (hook)
		vmpi_hook_remove(&hook);
	return begin;
}

static int by_value(const void *a, const void *b)
{
	double one = *(const double *)a, two = *(const double *)b;

	return (one > two) - (one < two);
}

static double median(double *list)
{
	qsort(list, TURNS, sizeof(*list), by_value);
	return list[TURNS / 2];
}

static void calibrate(void)
{
	double begin, took;

	loops = 1000000;
	begin = now_us();
	compute(loops);
	took = now_us() - begin;
	loops = (long)((double)loops * compute_us / took);
}

static double read_ns(void)
{
	uint64_t values[2048];
	double begin = now_us();

	for (int i = 0; i < 100000; i++)
		vmpi_session_read(sessions[0], values);
	return (now_us() - begin) * 1000 / 100000;
}

/* All variables of ranks. */
static void sessions_make(void)
{
	const char *names[2048];
	static vmpi_var infos[2048];
	int n = 0, count = vmpi_var_count(VMPI_PERFORMANCE);

	for (int i = 0; i < count && n < 2048; i++)
		if (!vmpi_var_info(i, &infos[n]) &&
		    infos[n].of == VMPI_OF_RANK) {
			names[n] = infos[n].name;
			n++;
		}
	sessions = calloc((size_t)ranks, sizeof(vmpi_session *));
	for (int r = 0; r < ranks; r++)
		if (vmpi_session_new(&sessions[r], r, names, n))
			exit(1);
	words = vmpi_session_words(sessions[0]);
}

int main(int argc, char **argv)
{
	static double times[WAYS][TURNS];
	double calls, base;

	if (argc > 1)
		ranks = (int)strtol(argv[1], NULL, 10);
	if (argc > 2)
		workers = (int)strtol(argv[2], NULL, 10);
	if (argc > 3)
		compute_us = strtod(argv[3], NULL);
	if (ranks < 1 || workers < 1 || compute_us < 0) {
		fprintf(stderr, "sampling [RANKS [WORKERS [COMPUTE_US]]]\n");
		return 2;
	}
	calibrate();
	if (vmpi_start(&(vmpi_config){ .ranks = ranks, .workers = workers }))
		return 1;
	sessions_make();
	for (int t = 0; t < TURNS; t++)
		for (int way = 0; way < WAYS; way++)
			times[way][t] = turn((enum way)way);
	calls = (double)ranks * STEPS * CALLS;
	base = median(times[NOTHING]);
	printf("words %d\nread_ns %.1f\n", words, read_ns());
	for (int way = HOOK; way < WAYS; way++) {
		double took = median(times[way]);

		printf("%s_ns_per_call %.1f\n%s_percent %.2f\n",
		       way == HOOK ? "hook" : "sample",
		       (took - base) * 1000 / calls,
		       way == HOOK ? "hook" : "sample",
		       100 * (took - base) / base);
	}
	for (int r = 0; r < ranks; r++)
		vmpi_session_free(&sessions[r]);
	free(sessions);
	return vmpi_stop() != 0;
}
