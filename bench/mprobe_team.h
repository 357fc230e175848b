/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of a rank that work in step: all do their share of a piece of
 * work when the rank's main thread says so.
 */
#ifndef BENCH_MPROBE_TEAM_H
#define BENCH_MPROBE_TEAM_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "mprobe.h"

struct team;

/* One of the threads, and what it got. */
struct member {
	struct team *team;
	int index;
	pthread_t thread;
	struct tally from[RANKS_MAX];
	long taken, wrong;
};

struct team {
	int size, n; /* n: how much work; 0: the end */
	pthread_barrier_t gate;
	void (*work)(struct member *member, int n);
	struct member members[RECEIVERS];
};

static inline void *team_member_main(void *arg)
{
	struct member *member = arg;
	struct team *team = member->team;

	for (;;) {
		pthread_barrier_wait(&team->gate);
		if (team->n == 0)
			return NULL;
		team->work(member, team->n);
		pthread_barrier_wait(&team->gate);
	}
}

/* size <= RECEIVERS threads that will do `work`. */
static inline void team_start(struct team *team, int size,
			      void (*work)(struct member *, int))
{
	team->size = size;
	team->work = work;
	pthread_barrier_init(&team->gate, NULL, (unsigned)size + 1);
	for (int i = 0; i < size; i++) {
		struct member *member = &team->members[i];

		*member = (struct member){ .team = team, .index = i };
		if (pthread_create(&member->thread, NULL, team_member_main,
				   member)) {
			fprintf(stderr, "mprobe: no %d threads\n", size);
			exit(1);
		}
	}
}

/* All members work(n), n > 0; returns when they have. */
static inline void team_work(struct team *team, int n)
{
	team->n = n;
	pthread_barrier_wait(&team->gate);
	pthread_barrier_wait(&team->gate);
}

static inline void team_stop(struct team *team)
{
	team->n = 0;
	pthread_barrier_wait(&team->gate);
	for (int i = 0; i < team->size; i++)
		pthread_join(team->members[i].thread, NULL);
	pthread_barrier_destroy(&team->gate);
}

/* The messages that all members took together, and the wrong ones; forgets
 * them. */
static inline long team_tally(struct team *team, struct tally from[RANKS_MAX],
			      long *wrong)
{
	long taken = 0;

	*wrong = 0;
	memset(from, 0, sizeof(*from) * RANKS_MAX);
	for (int i = 0; i < team->size; i++) {
		struct member *member = &team->members[i];

		for (int k = 0; k < RANKS_MAX; k++)
			tally_merge(&from[k], &member->from[k]);
		taken += member->taken;
		*wrong += member->wrong;
		member->taken = member->wrong = 0;
		memset(member->from, 0, sizeof(member->from));
	}
	return taken;
}

#endif
