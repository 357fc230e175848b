/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the parts of bench/mprobe: the rank, the current step, and how a
 * thread takes a message and checks whether it is the right one.
 */
#ifndef BENCH_MPROBE_JOB_H
#define BENCH_MPROBE_JOB_H

#include <mpi.h>
#include <stdatomic.h>

#include "mprobe_team.h"
#include "mprobe_way.h"

struct job {
	int rank, ranks;
	int messages; /* of each sender; 0: as many as the time says */
	bool quick;
	MPI_Comm data; /* where the messages go; its errors are returned */
	const struct way *way;
	enum pattern pattern;
	int bytes;
	_Atomic int left; /* messages that are still to be claimed */
	struct team team;
};

extern struct job job;

static inline const char *pattern_name(void)
{
	return job.pattern == DIRECTED ? "directed" : "any";
}

/* Takes a message and notes in `member` what it was; returns its label, as
 * promised. */
static inline struct label job_take(struct member *member, int source, int tag)
{
	struct parcel parcel;
	struct label label;

	job.way->take(&parcel, source, tag);
	label = (struct label){ parcel.source, parcel.tag, parcel.bytes, 0 };
	member->taken++;
	if (label_fits(parcel.data, &label) && parcel.kept)
		tally_add(&member->from[parcel.source], label.number);
	else
		member->wrong++;
	free(parcel.data);
	return label;
}

/* Whether there is one more message, for the first thread that takes it. */
static inline bool job_claim(void)
{
	return atomic_fetch_sub_explicit(&job.left, 1, memory_order_relaxed) >
	       0;
}

static inline void job_send(void *buffer, struct label label, int dest)
{
	label_write(buffer, label);
	MPI_Send(buffer, label.bytes, MPI_BYTE, dest, label.tag, job.data);
}

/* Says what went wrong and ends all ranks. */
static inline void job_fail(const char *what)
{
	fprintf(stderr, "mprobe: %s, %s, %d bytes, rank %d: %s\n",
		job.way->name, pattern_name(), job.bytes, job.rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Messages between threads of unknown interleaving (mprobe_race.c). */
void job_race(void);

#endif
