/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this machine can do at best, without any MPI, as "NAME ns" lines:
 *
 *	switch-N	from one context to the next, N of them in turn
 *	handoff		between two processes on one core, by sched_yield()
 *	copy-BYTES	memcpy() to and fro between two buffers on one core
 *	line		a cache line from one core to another, one way: both
 *			write the same
 *	slot		the same with a line for each direction, as a mailbox
 *			without an answer in it needs
 *	across-BYTES	memcpy() by one core of what another has just copied
 *
 * Usage: limits [switch|handoff|copy|line|slot|across]...; without arguments
 * all.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/lock.h"
#include "clock.h"
#include "sched/ctx.h"

#define BATCHES 11
#define STACK_BYTES 16384
#define CONTEXTS_MAX 1024

/* Context 0 is the caller's own. */
static struct {
	void *contexts[CONTEXTS_MAX];
	int count, current;
	long left;
} ring;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *map(size_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		fail("mmap");
	return map;
}

/* The nth processor this program may use, or -1. */
static int processor(int nth)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		fail("sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && nth-- == 0)
			return cpu;
	return -1;
}

static void bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

/* Goes round until nothing is left.  One place that switches, as in sched. */
static __attribute__((noinline)) void ring_turn(void)
{
	while (ring.left-- > 0) {
		int from = ring.current;
		int to = from + 1 == ring.count ? 0 : from + 1;

		ring.current = to;
		vm_ctx_switch(&ring.contexts[from], ring.contexts[to]);
	}
}

static void ring_entry(void *arg)
{
	(void)arg;
	for (;;) {
		int from = ring.current;

		ring_turn();
		/* Done: back to the caller, until the next batch comes by. */
		ring.current = 0;
		vm_ctx_switch(&ring.contexts[from], ring.contexts[0]);
	}
}

static double switch_batch(void)
{
	long n = 100000;
	double start;

	ring.left = n;
	ring.current = 0;
	start = now_ns();
	ring_turn();
	return (now_ns() - start) / (double)n;
}

static void switch_measure(int count)
{
	size_t bytes = (size_t)count * STACK_BYTES;
	char *stacks = map(bytes);
	double times[BATCHES];

	ring.count = count;
	for (int i = 1; i < count; i++)
		/* Tops a line apart: they are not all in one cache set. */
		ring.contexts[i] = vm_ctx_make(stacks + i * STACK_BYTES,
					       STACK_BYTES - i % 61 * 64,
					       ring_entry, NULL);
	switch_batch();
	for (int i = 0; i < BATCHES; i++)
		times[i] = switch_batch();
	printf("switch-%d %.2f\n", count, median_of(times, BATCHES));
	munmap(stacks, bytes);
}

static void switches(void)
{
	switch_measure(2);
	switch_measure(16);
	switch_measure(64);
	switch_measure(256);
	switch_measure(CONTEXTS_MAX);
}

/* Waits n times until the count is odd (or even) and moves it on. */
static void handoff_side(_Atomic int *turn, int side, int n)
{
	for (int i = 0; i < n; i++) {
		while ((atomic_load_explicit(turn, memory_order_acquire) & 1) !=
		       side)
			sched_yield();
		atomic_fetch_add_explicit(turn, 1, memory_order_release);
	}
}

static void handoff(void)
{
	enum { N = 2000 };
	_Atomic int *turn = map(sizeof(*turn));
	double times[BATCHES];
	pid_t child = fork();

	if (child < 0)
		fail("fork");
	if (child == 0) {
		handoff_side(turn, 1, N * BATCHES);
		_exit(0);
	}
	for (int i = 0; i < BATCHES; i++) {
		double start = now_ns();

		handoff_side(turn, 0, N);
		times[i] = (now_ns() - start) / (2 * N);
	}
	waitpid(child, NULL, 0);
	munmap(turn, sizeof(*turn));
	printf("handoff %.2f\n", median_of(times, BATCHES));
}

static double copy_batch(char *a, char *b, size_t bytes, long n)
{
	double start = now_ns();

	for (long i = 0; i < n; i++) {
		memcpy(b, a, bytes);
		__asm__ volatile("" : : "r"(b) : "memory");
		memcpy(a, b, bytes);
		__asm__ volatile("" : : "r"(a) : "memory");
	}
	return (now_ns() - start) / (double)(2 * n);
}

/* Two buffers as those of pingpong.c, to be freed by the first. */
static void buffers_new(char *buffers[2])
{
	size_t bytes = (size_t)1 << 21;

	buffers[0] = aligned_alloc(bytes, 2 * bytes);
	if (!buffers[0])
		fail("aligned_alloc");
	buffers[1] = buffers[0] + bytes;
	madvise(buffers[0], 2 * bytes, MADV_HUGEPAGE);
	memset(buffers[0], 1, 2 * bytes);
}

static void copy_measure(size_t bytes)
{
	long n = 2000000 / (20 + (long)bytes / 50);
	double times[BATCHES];
	char *buffers[2];

	buffers_new(buffers);
	copy_batch(buffers[0], buffers[1], bytes, n);
	for (int i = 0; i < BATCHES; i++)
		times[i] = copy_batch(buffers[0], buffers[1], bytes, n);
	printf("copy-%zu %.2f\n", bytes, median_of(times, BATCHES));
	free(buffers[0]);
}

static void copies(void)
{
	copy_measure(8);
	copy_measure(1024);
	copy_measure(65536);
	copy_measure(1 << 20);
}

/*
 * Two threads on two cores in turn.  Each turn ends with a copy from the
 * other's buffer to the own one, of 0 bytes when only the line is of interest.
 */
static struct {
	_Atomic long turn VM_ALIGNED(128);
	_Atomic long answer VM_ALIGNED(128);
	/* Constant during a measurement. */
	int other VM_ALIGNED(128); /* processor of the second thread */
	_Atomic long *turns[2];	   /* the words that the two sides poll */
	char *buffers[2];
	size_t bytes;
	int trips; /* per batch */
} line;

static void line_take(int side, long turn)
{
	while (atomic_load_explicit(line.turns[side], memory_order_acquire) !=
	       turn)
		vm_cpu_relax();
	if (line.bytes)
		memcpy(line.buffers[side], line.buffers[!side], line.bytes);
	atomic_store_explicit(line.turns[!side], turn + 1,
			      memory_order_release);
}

static void *line_peer(void *arg)
{
	(void)arg;
	bind_to(line.other);
	for (long i = 0; i < (BATCHES + 1L) * line.trips; i++)
		line_take(1, 2 * i + 1);
	return NULL;
}

static double line_batch(int batch)
{
	long first = (long)batch * line.trips;
	double start = now_ns();

	for (long i = first; i < first + line.trips; i++)
		line_take(0, 2 * i);
	return (now_ns() - start) / (2 * line.trips);
}

static double line_measure(_Atomic long *answer, size_t bytes, int trips)
{
	double times[BATCHES];
	pthread_t peer;

	line.turns[0] = answer;
	line.turns[1] = &line.turn;
	line.bytes = bytes;
	line.trips = trips;
	atomic_store(&line.turn, 0);
	atomic_store(&line.answer, 0);
	if (pthread_create(&peer, NULL, line_peer, NULL))
		fail("pthread_create");
	line_batch(0);
	for (int i = 0; i < BATCHES; i++)
		times[i] = line_batch(i + 1);
	pthread_join(peer, NULL);
	return median_of(times, BATCHES);
}

static void across(void)
{
	static const size_t sizes[] = { 1024, 65536, 1 << 20 };

	buffers_new(line.buffers);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		printf("across-%zu %.2f\n", sizes[i],
		       line_measure(&line.turn, sizes[i],
				    2000000 / (200 + (int)sizes[i] / 20)));
	free(line.buffers[0]);
}

static bool wanted(int argc, char **argv, const char *what)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], what))
			return true;
	return argc == 1;
}

int main(int argc, char **argv)
{
	line.other = processor(1);
	bind_to(processor(0));
	if (wanted(argc, argv, "switch"))
		switches();
	if (wanted(argc, argv, "handoff"))
		handoff();
	if (wanted(argc, argv, "copy"))
		copies();
	if (line.other < 0)
		return 0;
	if (wanted(argc, argv, "line"))
		printf("line %.2f\n", line_measure(&line.turn, 0, 5000));
	if (wanted(argc, argv, "slot"))
		printf("slot %.2f\n", line_measure(&line.answer, 0, 5000));
	if (wanted(argc, argv, "across"))
		across();
	return 0;
}
