/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mprobe_native [--quick | --messages N]
 *
 * bench/mprobe for user-level threads: the receivers are tasks of a rank, on
 * vmpi.h.  There a message is always matched before its size is known, so the
 * other ways do not exist; what is matched can be received into a buffer made
 * for it (matched) or read where it lies (borrowed).  Prints what mprobe
 * prints: "rate-PATTERN-WAY-BYTES messages/s", "trip-PATTERN-WAY-TASKS-BYTES
 * ns".
 */
#include <stdio.h>
#include <stdlib.h>
#include <vmpi.h>

#include "clock.h"
#include "mprobe.h"

enum { RATE_RANKS = RECEIVERS + 1, TRIP_RANKS = 2, TAG_CONTROL = 1000 };

/* The current step; written by rank 0 before a barrier. */
static struct {
	struct effort effort;
	int messages; /* --messages */
	bool any, borrow;
	int bytes, tasks;
} job;

/* A task, and what it got. */
struct member {
	int index, n;
	int *left; /* messages to claim, with wildcards in a rate */
	struct tally from[RATE_RANKS];
	long taken;
};

static void fail(const char *what, int rc)
{
	fprintf(stderr, "mprobe_native: rank %d, %d bytes: %s%s%s\n",
		vmpi_rank(), job.bytes, what, rc ? ": " : "",
		rc ? vmpi_strerror(rc) : "");
	exit(1);
}

static void must(int rc)
{
	if (rc != 0)
		fail("a call failed", rc);
}

/* Takes a message of unknown size; its label as the handle promised. */
static struct label take(struct member *member, int source, int tag)
{
	const void *data;
	void *copy = NULL;
	vmpi_msg *msg;
	struct label label;

	must(vmpi_match(vmpi_world(), &msg, source, tag));
	label = (struct label){ vmpi_msg_source(msg), vmpi_msg_tag(msg),
				(int)vmpi_msg_size(msg), 0 };
	if (job.borrow) {
		must(vmpi_msg_borrow(msg, &data));
	} else {
		data = copy = malloc((size_t)label.bytes + 1);
		if (!copy)
			fail("out of memory", 0);
		must(vmpi_msg_recv(&msg, copy, (size_t)label.bytes, NULL));
	}
	if (!label_fits(data, &label))
		fail("a message came to the wrong receiver", 0);
	if (job.borrow)
		must(vmpi_msg_drop(&msg));
	free(copy);
	tally_add(&member->from[label.source], label.number);
	member->taken++;
	return label;
}

static void send(void *buffer, struct label label, int dest)
{
	label_write(buffer, label);
	must(vmpi_send(vmpi_world(), buffer, (size_t)label.bytes, dest,
		       label.tag));
}

static int rate_task(void *arg)
{
	struct member *member = arg;
	int own = member->index + 1;

	if (!job.any)
		for (int i = 0; i < member->n; i++)
			take(member, own, own);
	else
		while ((*member->left)-- > 0) /* tasks share a worker */
			take(member, VMPI_ANY, VMPI_ANY);
	return 0;
}

static int trip_task(void *arg)
{
	struct member *member = arg;
	int rank = vmpi_rank(), source = job.any ? VMPI_ANY : !rank;
	int tag = job.any ? VMPI_ANY : member->index;
	struct label label = { rank, member->index, job.bytes, 0 };
	char *buffer = calloc(1, (size_t)job.bytes);

	if (!buffer)
		fail("out of memory", 0);
	for (int i = 0; i < member->n; i++) {
		label.number = (uint32_t)i;
		if (rank == 0)
			send(buffer, label, 1);
		label = take(member, source, tag);
		label.source = rank;
		if (rank == 1)
			send(buffer, label, 0);
	}
	free(buffer);
	return 0;
}

/* The calling rank's tasks do n pieces of work each; they receive from ranks
 * first to last, each number `times` times. */
static void team(vmpi_body body, int n, int first, int last, int times)
{
	static struct member members[TRIP_RANKS][RECEIVERS];
	struct tally from[RATE_RANKS] = { { 0 } };
	struct member *mine = members[vmpi_rank() == 1];
	vmpi_task *tasks[RECEIVERS];
	int left = n * RECEIVERS;

	for (int i = 0; i < job.tasks; i++) {
		mine[i] = (struct member){ .index = i, .n = n, .left = &left };
		must(vmpi_spawn(&tasks[i], body, &mine[i]));
	}
	for (int i = 0; i < job.tasks; i++) {
		must(vmpi_join(&tasks[i], NULL));
		for (int k = 0; k < RATE_RANKS; k++)
			tally_merge(&from[k], &mine[i].from[k]);
	}
	for (int i = first; i <= last; i++)
		if (!tally_holds(&from[i], job.bytes, (uint64_t)n,
				 (uint64_t)times))
			fail("a message is missing, or came twice", 0);
}

static void rate_work(int n)
{
	static char buffers[RATE_RANKS][MPROBE_BYTES_MAX];
	int rank = vmpi_rank();

	if (rank == 0)
		team(rate_task, n, 1, RECEIVERS, 1);
	for (int i = 0; i < n && rank != 0; i++)
		send(buffers[rank],
		     (struct label){ rank, rank, job.bytes, (uint32_t)i }, 0);
}

static void trip_work(int n)
{
	int other = !vmpi_rank();

	team(trip_task, n, other, other, job.tasks);
}

/* One piece of work: all ranks begin together; the time on rank 0. */
static double work_timed(void (*work)(int n), int n)
{
	double start;

	for (int i = 1; i < vmpi_size(); i++)
		must(vmpi_send(vmpi_world(), &n, sizeof(n), i, TAG_CONTROL));
	must(vmpi_barrier(vmpi_world()));
	start = now_ns();
	work(n);
	return now_ns() - start;
}

static void work_follow(void (*work)(int n))
{
	int n;

	for (;;) {
		must(vmpi_recv(vmpi_world(), &n, sizeof(n), 0, TAG_CONTROL,
			       NULL));
		if (n == 0)
			return;
		must(vmpi_barrier(vmpi_world()));
		work(n);
	}
}

/* On rank 0: the time of one repetition. */
static double work_measure(void (*work)(int n), int most)
{
	double times[BATCHES_MAX], took;
	int n = job.messages ? job.messages : 1;

	took = work_timed(work, n) / n;
	if (!job.messages) {
		while (took * n < job.effort.batch_ns / 4 && n * 2 <= most) {
			n *= 2;
			took = work_timed(work, n) / n;
		}
		n = batch_size(&job.effort, n, took * n);
		n = n < most ? n : most;
		for (int i = 0; i < job.effort.batches; i++)
			times[i] = work_timed(work, n) / n;
		took = median_of(times, job.effort.batches);
	}
	n = 0;
	for (int i = 1; i < vmpi_size(); i++)
		must(vmpi_send(vmpi_world(), &n, sizeof(n), i, TAG_CONTROL));
	return took;
}

static void print(const char *measure, double value)
{
	printf("%s-%s-%s", measure, job.any ? "any" : "directed",
	       job.borrow ? "borrowed" : "matched");
	if (*measure == 't')
		printf("-%d", job.tasks);
	printf("-%d %.0f\n", job.bytes, value);
	fflush(stdout);
}

static int rate_body(void *arg)
{
	(void)arg;
	if (vmpi_rank() == 0)
		print("rate", RECEIVERS * 1e9 /
				      work_measure(rate_work,
						   FLIGHT_BYTES / RECEIVERS /
							   (job.bytes + 256)));
	else
		work_follow(rate_work);
	return 0;
}

static int trip_body(void *arg)
{
	(void)arg;
	if (vmpi_rank() == 0)
		print("trip", work_measure(trip_work, 1 << 20));
	else
		work_follow(trip_work);
	return 0;
}

/* Everything with `ranks` ranks. */
static void run_all(int ranks, vmpi_body body, int count)
{
	for (int kind = 0; kind < 4; kind++) {
		job.any = kind & 2;
		job.borrow = kind & 1;
		for (int i = 0; i < count; i++) {
			vmpi_config config = { .ranks = ranks };

			job.bytes = ranks == TRIP_RANKS ?
					    mprobe_trips[i].bytes :
					    mprobe_sizes[i];
			job.tasks = ranks == TRIP_RANKS ?
					    mprobe_trips[i].threads :
					    RECEIVERS;
			must(vmpi_run(&config, body, NULL));
		}
	}
}

/* The options; false: not understood. */
static bool options(int argc, char **argv)
{
	char *end;

	job.effort = effort_of(argc, argv);
	job.effort.batches = 5;
	if (argc == 1 || (argc == 2 && !strcmp(argv[1], "--quick")))
		return true;
	if (argc != 3 || strcmp(argv[1], "--messages") != 0)
		return false;
	job.messages = (int)strtol(argv[2], &end, 10);
	return !*end && job.messages >= 1 && job.messages <= 1000000;
}

int main(int argc, char **argv)
{
	if (!options(argc, argv)) {
		fprintf(stderr, "mprobe_native: wrong arguments; usage: "
				"mprobe_native [--quick | --messages N], N "
				"from 1 to 1000000\n");
		return 2;
	}
	run_all(RATE_RANKS, rate_body, MPROBE_SIZES);
	run_all(TRIP_RANKS, trip_body, MPROBE_TRIPS);
	return 0;
}
