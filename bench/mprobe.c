/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mprobe [--quick | --messages N] rate|trip|race [directed|any [WAY]]
 *
 * Threads receive messages of unknown size, in each of the ways of
 * mprobe_way.h.  rate: 8 ranks send to 8 threads of rank 0; prints
 * "rate-PATTERN-WAY-BYTES messages/s".  trip: threads of two ranks play
 * ping-pong; "trip-PATTERN-WAY-THREADS-BYTES ns".  race: mprobe_race.c.  With
 * --messages it sends so many, however long that takes.
 */
#include "clock.h"
#include "mprobe_job.h"

struct job job;

static char buffers[RECEIVERS][MPROBE_BYTES_MAX];

/* One piece of work: all ranks begin together; the time on rank 0. */
static double work_timed(void (*work)(int n), int n)
{
	double start;

	MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	start = now_ns();
	work(n);
	return now_ns() - start;
}

static void work_follow(void (*work)(int n))
{
	int n;

	for (;;) {
		MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
		if (n == 0)
			return;
		MPI_Barrier(MPI_COMM_WORLD);
		work(n);
	}
}

/* On rank 0: the time of one repetition, of which no more than `most` are done
 * at once. */
static double work_measure(void (*work)(int n), int most)
{
	struct effort effort = { job.quick ? 4e6 : 1e7, job.quick ? 3 : 5 };
	double times[BATCHES_MAX], took;
	int n = job.messages ? job.messages : 1;

	if (job.rank != 0) {
		work_follow(work);
		return 0;
	}
	took = work_timed(work, n);
	if (!job.messages) {
		while (took < effort.batch_ns / 4 && n * 2 <= most)
			took = work_timed(work, n *= 2);
		n = batch_size(&effort, n, took);
		n = n < most ? n : most;
		for (int i = 0; i < effort.batches; i++)
			times[i] = work_timed(work, n) / n;
		took = median_of(times, effort.batches) * n;
	}
	took /= n;
	n = 0;
	MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return took;
}

/* Checks that every message came once, and to the receiver it was promised
 * to. */
static void check(int first, int last, int n, int times)
{
	struct tally from[RANKS_MAX];
	long wrong, taken = team_tally(&job.team, from, &wrong);

	if (taken != (long)n * times * (last - first + 1))
		job_fail("messages were lost, or came twice");
	if (!job.way->safe && job.pattern != DIRECTED)
		return; /* that they are wrong is shown by the race */
	if (wrong)
		job_fail("messages came to the wrong receiver");
	for (int i = first; i <= last; i++)
		if (!tally_holds(&from[i], job.bytes, (uint64_t)n,
				 (uint64_t)times))
			job_fail(
				"a message is missing, another one came twice");
}

static void rate_receive(struct member *member, int n)
{
	if (job.pattern == DIRECTED)
		for (int i = 0; i < n; i++)
			job_take(member, member->index + 1, member->index + 1);
	else
		while (job_claim())
			job_take(member, MPI_ANY_SOURCE, MPI_ANY_TAG);
}

static void rate_work(int n)
{
	if (job.rank == 0) {
		job.left = n * RECEIVERS;
		team_work(&job.team, n);
		check(1, RECEIVERS, n, 1);
		return;
	}
	for (int i = 0; i < n; i++)
		job_send(buffers[0],
			 (struct label){ job.rank, job.rank, job.bytes,
					 (uint32_t)i },
			 0);
}

static void rate(void)
{
	double ns;

	if (job.rank == 0) {
		job.way->open(job.data, job.pattern);
		team_start(&job.team, RECEIVERS, rate_receive);
	}
	for (int i = 0; i < MPROBE_SIZES; i++) {
		job.bytes = mprobe_sizes[i];
		ns = work_measure(rate_work,
				  FLIGHT_BYTES / RECEIVERS / (job.bytes + 256));
		if (job.rank != 0)
			continue;
		printf("rate-%s-%s-%d %.0f\n", pattern_name(), job.way->name,
		       job.bytes, RECEIVERS / ns * 1e9);
		fflush(stdout);
	}
	if (job.rank == 0) {
		team_stop(&job.team);
		job.way->close();
	}
}

static void trip_play(struct member *member, int n)
{
	bool any = job.pattern == ANY;
	int source = any ? MPI_ANY_SOURCE : !job.rank;
	int tag = any ? MPI_ANY_TAG : member->index;
	char *buffer = buffers[member->index];
	struct label label = { job.rank, member->index, job.bytes, 0 };

	for (int i = 0; i < n; i++) {
		label.number = (uint32_t)i;
		if (job.rank == 0)
			job_send(buffer, label, 1);
		label = job_take(member, source, tag);
		label.source = job.rank;
		if (job.rank == 1)
			job_send(buffer, label, 0);
	}
}

static void trip_work(int n)
{
	team_work(&job.team, n);
	check(!job.rank, !job.rank, n, job.team.size);
}

static void trip(void)
{
	double ns;

	job.way->open(job.data, job.pattern);
	for (int i = 0; i < MPROBE_TRIPS; i++) {
		job.bytes = mprobe_trips[i].bytes;
		team_start(&job.team, mprobe_trips[i].threads, trip_play);
		ns = work_measure(trip_work, 1 << 20);
		team_stop(&job.team);
		if (job.rank != 0)
			continue;
		printf("trip-%s-%s-%d-%d %.0f\n", pattern_name(), job.way->name,
		       mprobe_trips[i].threads, job.bytes, ns);
		fflush(stdout);
	}
	job.way->close();
}

static const struct measure {
	const char *name;
	int ranks; /* that it needs */
	void (*run)(void);
	bool no_pattern; /* it has its own */
} measures[] = {
	{ "rate", RECEIVERS + 1, rate, false },
	{ "trip", 2, trip, false },
	{ "race", RECEIVERS + 1, job_race, true },
};

static void usage(const char *why, const char *what)
{
	if (job.rank == 0)
		fprintf(stderr,
			"mprobe: %s '%s'; usage: mprobe [--quick | --messages "
			"N] rate|trip|race [directed|any [matched|locked|"
			"polled|outside|unsafe]]\n",
			why, what);
	MPI_Finalize();
	exit(2);
}

/* The options; returns the other arguments. */
static char **options(char **argv)
{
	char *end;

	for (argv++; *argv && !strncmp(*argv, "--", 2); argv++) {
		if (!strcmp(*argv, "--quick")) {
			job.quick = true;
		} else if (!strcmp(*argv, "--messages") && argv[1]) {
			job.messages = (int)strtol(*++argv, &end, 10);
			if (*end || job.messages < 1 || job.messages > 1000000)
				usage("not a number from 1 to 1000000:", *argv);
		} else {
			usage("unknown option", *argv);
		}
	}
	return argv;
}

static const struct measure *measure_named(const char *name)
{
	for (size_t i = 0; i < sizeof(measures) / sizeof(*measures); i++)
		if (name && !strcmp(measures[i].name, name)) {
			if (job.ranks != measures[i].ranks)
				usage("a wrong number of ranks for", name);
			return &measures[i];
		}
	usage("unknown measure", name ? name : "");
	return NULL;
}

static void all_ways(const struct measure *measure, const char *name)
{
	bool known = false;

	for (int i = 0; i < WAYS; i++) {
		job.way = &ways[i];
		if (name && strcmp(name, job.way->name) != 0)
			continue;
		known = true;
		measure->run();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (!known)
		usage("unknown way", name);
}

static void all_patterns(const struct measure *measure, char **names)
{
	bool known = measure->no_pattern;

	for (job.pattern = DIRECTED; job.pattern <= ANY; job.pattern++) {
		if (*names && strcmp(*names, pattern_name()) != 0)
			continue;
		known = true;
		all_ways(measure, *names ? names[1] : NULL);
	}
	if (!known)
		usage("unknown pattern", *names);
}

int main(int argc, char **argv)
{
	const struct measure *measure;
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
	MPI_Comm_dup(MPI_COMM_WORLD, &job.data);
	MPI_Comm_set_errhandler(job.data, MPI_ERRORS_RETURN);
	if (provided != MPI_THREAD_MULTIPLE)
		usage("MPI_THREAD_MULTIPLE is not to be had from", "this MPI");
	argv = options(argv);
	measure = measure_named(*argv);
	if (measure->no_pattern)
		measure->run();
	else
		all_patterns(measure, argv + 1);
	MPI_Comm_free(&job.data);
	MPI_Finalize();
	return 0;
}
