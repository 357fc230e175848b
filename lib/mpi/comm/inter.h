/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators: communication between two groups of ranks.
 *
 * An intercommunicator has one channel of all members, first those of the first
 * side, then those of the second; struct vm_comm records which side is the
 * local one.
 */
#ifndef MPI_COMM_INTER_H
#define MPI_COMM_INTER_H

#include "core/rank/match.h"
#include "core/runtime/guests.h"
#include "mpi/call/check.h"
#include "mpi/comm/talk.h"

/* Turns comm into an intercommunicator whose first side has first_size
 * members. */
void vm_inter_set(struct vm_comm *comm, int first_size);

/* Both sides as joined by one of the leaders, the first side before the second;
 * or an error. */
struct vm_inter_both {
	int32_t error; /* 0 or an MPI error */
	int32_t first_size, size;
	uint32_t context;
	uint64_t far; /* another job: both have to get to know each other */
	struct vm_rank_name ranks[]; /* room for all that the leader knows */
};

/* Where the leader of one side finds that of the other. */
struct vm_inter_peer {
	MPI_Comm handle; /* checked by the leader, with leader and tag */
	int leader;
	int tag;
	/* Or what the leader calls instead of all these, which joins both
	 * sides; `both` has the own side as the first.  0, an MPI error, or a
	 * negative code of core.  May switch. */
	int (*join)(struct vm_call *call, struct vm_inter_both *both,
		    const struct vm_group *local, void *arg);
	void *arg;
	struct vm_talk talk; /* the leader's, if both->far */
};

/*
 * Exchanges the groups between two leaders of a job, of which the one with the
 * lower number joins both; `to` and `from` are the keys of the messages.  A
 * join() may call it.  0 or a negative code of core.  May switch.
 */
int vm_inter_exchange(struct vm_inter_both *both, const struct vm_group *local,
		      struct vm_rank *other, struct vm_env to,
		      struct vm_env from);

/* Makes an intercommunicator of both sides: 0, an MPI error, or a negative code
 * of core.  May switch. */
int vm_inter_create(struct vm_call *call, struct vm_comm *local,
		    int local_leader, struct vm_inter_peer *peer,
		    MPI_Comm *out);

/* Creates the group of the local or of the remote side: 0 or an MPI error. */
int vm_inter_group(struct vm_call *call, const struct vm_comm *comm,
		   bool remote, MPI_Group *group);

/* Compares like MPI_Comm_compare two communicators, at least one of them an
 * intercommunicator, but never finds MPI_CONGRUENT: 0 or MPI_ERR_NO_MEM. */
int vm_inter_compare(const struct vm_comm *a, const struct vm_comm *b,
		     int *result);

/*
 * Makes an intercommunicator of both sides' members of each colour; *out is
 * MPI_COMM_NULL without a colour, or if one side has no member of it.  0, an
 * MPI error, or a negative code of core.  May switch.
 */
int vm_inter_split(struct vm_call *call, struct vm_comm *parent, int color,
		   int key, MPI_Comm *out);

#endif
