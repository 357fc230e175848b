/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The states and waits of a job's ranks in words, and whether the waits can
 * ever end: for all programs that show them.
 */
#ifndef REPORT_LIVE_STATES_H
#define REPORT_LIVE_STATES_H

#include "report/live/job.h"
#include "report/live/deadlock.h"

/* What a rank's stack says about it; texts may be empty. */
struct vm_stack_note {
	char place[96]; /* the line of the program: "ring.c:33" */
	char does[64];	/* "in the kernel (read)", "in libgomp" */
};

/* All ranks of a job. */
struct vm_states {
	const struct vm_live_job *job;
	unsigned count;
	struct vm_live_doing *doing;
	bool *known; /* its process is on this host */
	struct vm_deadlock_rank *needs;
	unsigned stuck; /* how many can never go on; needs[].stuck marks them */
	bool idle;	/* no worker of the job has anything to do */
	bool hung;	/* it is known that nothing can go on any more */
	/* What the stacks say, by rank, or NULL: of the caller. */
	const struct vm_stack_note *notes;
	uint64_t sleeps; /* how often workers began to sleep */
};

/*
 * Reads the job, which stays open, and finds the ranks that are stuck: none
 * unless all its workers sleep, and, while it lives, nothing has moved for a
 * moment, which this call then takes.  0, -VMPI_ENOMEM.
 */
int vm_states_init(struct vm_states *states, const struct vm_live_job *job);

/* The same of a job of which is known that nothing in it can go on any more. */
int vm_states_init_hung(struct vm_states *states,
			const struct vm_live_job *job);
void vm_states_fini(struct vm_states *states);

/* As vm_states_init(), for data that the caller has read of count ranks, where
 * nothing moves: fills needs, and returns how many are stuck. */
unsigned vm_states_judge(struct vm_deadlock_rank *needs,
			 const struct vm_live_doing *doing, const bool *known,
			 unsigned count);

/* Whether the partner's number is that of the job. */
static inline bool vm_states_of_world(const struct vm_export_wait *wait)
{
	return wait->context == 0 || (wait->flags & VM_EXPORT_OF_WORLD);
}

/* What differs among several ranks that do the same. */
struct vm_states_span {
	char partner[96]; /* "ranks 3, 7-9", "rank - 1"; "": that of the rank */
	int32_t tag_least, tag_most;
	uint64_t bytes_least, bytes_most;
};

#define VM_STATES_TEXT_MAX 384

/* The state of a rank in words: "in MPI_Recv: receives from rank 3, tag 7, up
 * to 8 bytes", "in MPI_Barrier of all ranks", "runs, or could". */
void vm_states_rank(const struct vm_states *states,
		    char text[VM_STATES_TEXT_MAX], unsigned rank);

/* The same for several ranks of which this is one. */
void vm_states_ranks(const struct vm_states *states,
		     char text[VM_STATES_TEXT_MAX], unsigned rank,
		     const struct vm_states_span *span);

/* The call that it waits in, "MPI_Recv"; NULL: in none that is known. */
const char *vm_states_call(const struct vm_states *states, unsigned rank);

typedef void (*vm_states_line)(const char *line, void *arg);

/*
 * Prints the states of all ranks, equal ones together, in at most `most` lines
 * (0: in as many as it takes) and one that counts the others; and then, if
 * there is one, the deadlock.  If there are more lines, ranks are put together
 * whose partners follow from their numbers in the same way, "rank - 1", and, if
 * that is not enough, those that differ in partners, lengths or tags.  Of a job that is hung those that few do come
 * first, after a line that says what most do.  0, -VMPI_ENOMEM.
 */
int vm_states_say(const struct vm_states *states, unsigned most,
		  vm_states_line line, void *arg);

/* The circle of ranks that wait for each other, malloc'ed: *length of them; 0:
 * they wait for one that has ended, *ended.  NULL: out of memory, or none is
 * stuck. */
unsigned *vm_states_circle(const struct vm_states *states, unsigned *length,
			   unsigned *ended);

#endif
