/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The race that matched probes were made for: "KIND-WAY-messages N", of them
 * "KIND-WAY-wrong N".  held: receivers stop between probe and receive until all
 * have probed, so that without luck all but one get what was promised to
 * another.  free: the same, not stopped.  mixed: receivers with all kinds of
 * wildcards want the same messages.  crossed: listings 1.3 and 1.4 of the
 * paper, a deadlock for locks that are held while probing.
 */
#include "mprobe_job.h"

#define ROUNDS 20
#define BYTES_MAX 4096

static pthread_barrier_t all_probed, round_over;

static void wait_for_all(void)
{
	pthread_barrier_wait(&all_probed);
}

/* Sizes that differ from message to message, from a label upwards. */
static int size_of(uint32_t number)
{
	return (int)(sizeof(struct label) +
		     (number * 2654435761u >> 16) %
			     (BYTES_MAX - sizeof(struct label)));
}

static void send_various(int n, int tag)
{
	static char buffer[BYTES_MAX];

	for (uint32_t i = 0; i < (uint32_t)n; i++)
		job_send(buffer,
			 (struct label){ job.rank,
					 tag < 0 ? (int)(i % 16384) : tag,
					 size_of(i), i },
			 0);
}

static void held_receive(struct member *member, int n)
{
	for (int i = 0; i < n; i++) {
		job_take(member, MPI_ANY_SOURCE, MPI_ANY_TAG);
		pthread_barrier_wait(&round_over);
	}
}

static void free_receive(struct member *member, int n)
{
	(void)n;
	while (job_claim())
		job_take(member, MPI_ANY_SOURCE, MPI_ANY_TAG);
}

static void mixed_receive(struct member *member, int n)
{
	int source = member->index & 1 ? MPI_ANY_SOURCE : 1;
	int tag = member->index & 2 ? MPI_ANY_TAG : 2;

	for (int i = 0; i < n; i++)
		job_take(member, source, tag);
}

/* Thread 0 waits for (1, 2), thread 1 for (1, any tag); the message with tag 2
 * comes when thread 1 has answered that with tag 1. */
static void crossed_receive(struct member *member, int n)
{
	for (int i = 0; i < n; i++) {
		job_take(member, 1, member->index == 0 ? 2 : MPI_ANY_TAG);
		MPI_Send(NULL, 0, MPI_BYTE, 1, member->index, job.data);
		pthread_barrier_wait(&round_over);
	}
}

static void crossed_send(int n)
{
	char buffer[sizeof(struct label)];

	for (int i = 0; i < n; i++)
		for (int tag = 1; tag <= 2; tag++) {
			job_send(buffer,
				 (struct label){ 1, tag, sizeof(buffer),
						 (uint32_t)i },
				 0);
			MPI_Recv(NULL, 0, MPI_BYTE, 0, tag == 1, job.data,
				 MPI_STATUS_IGNORE);
		}
}

struct race {
	const char *kind;
	enum pattern pattern;
	int threads, senders;
	int times; /* how often each sender sends each number */
	void (*receive)(struct member *member, int n);
};

/* Rank 0's part: n pieces of work for each thread, `sent` messages in all. */
static void receive(const struct race *race, int n, int sent)
{
	struct tally from[RANKS_MAX];
	long wrong, taken;

	job.left = sent;
	job.way->open(job.data, race->pattern);
	pthread_barrier_init(&all_probed, NULL, (unsigned)race->threads);
	pthread_barrier_init(&round_over, NULL, (unsigned)race->threads);
	team_start(&job.team, race->threads, race->receive);
	team_work(&job.team, n);
	team_stop(&job.team);
	pthread_barrier_destroy(&round_over);
	pthread_barrier_destroy(&all_probed);
	job.way->close();
	taken = team_tally(&job.team, from, &wrong);
	if (taken != sent)
		job_fail("messages were lost, or came twice");
	if (job.way->safe)
		for (int i = 1; i <= race->senders; i++)
			if (!tally_holds(&from[i], sizeof(struct label),
					 (uint64_t)(sent / race->senders /
						    race->times),
					 (uint64_t)race->times))
				job_fail("a message is missing");
	printf("%s-%s-messages %d\n%s-%s-wrong %ld\n", race->kind,
	       job.way->name, sent, race->kind, job.way->name, wrong);
	fflush(stdout);
	if (job.way->safe && wrong)
		job_fail("messages came to the wrong receiver");
}

/* The kinds; each sender sends `sent` messages, each receiver does n pieces. */
static void held(int n)
{
	static const struct race race = { "held", ANY, RECEIVERS,
					  1,	  1,   held_receive };

	way_between = wait_for_all;
	if (job.rank == 0)
		receive(&race, n, n * RECEIVERS);
	else if (job.rank == 1)
		send_various(n * RECEIVERS, -1);
	way_between = NULL;
}

static void free_for_all(int n)
{
	static const struct race race = { "free",    ANY, RECEIVERS,
					  RECEIVERS, 1,	  free_receive };

	if (job.rank == 0)
		receive(&race, n, n * RECEIVERS);
	else
		send_various(n, -1);
}

static void mixed(int n)
{
	static const struct race race = { "mixed", MIXED, RECEIVERS,
					  1,	   1,	  mixed_receive };

	if (job.rank == 0)
		receive(&race, n, n * RECEIVERS);
	else if (job.rank == 1)
		send_various(n * RECEIVERS, 2);
}

static void crossed(int n)
{
	static const struct race race = { "crossed", MIXED, 2,
					  1,	     2,	    crossed_receive };

	if (job.rank == 0)
		receive(&race, n, n * 2);
	else if (job.rank == 1)
		crossed_send(n);
}

void job_race(void)
{
	int n = job.messages ? job.messages : ROUNDS;

	for (int i = 0; i < WAYS; i++) {
		job.way = &ways[i];
		job.pattern = ANY;
		if (job.way->splits)
			held(n);
		MPI_Barrier(MPI_COMM_WORLD);
		free_for_all(n);
		MPI_Barrier(MPI_COMM_WORLD);
		if (!job.way->mixes)
			continue;
		mixed(n);
		MPI_Barrier(MPI_COMM_WORLD);
		crossed(n);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}
