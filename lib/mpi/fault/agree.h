/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreement of the members of a communicator, some of whom may fail meanwhile.
 *
 * Each floods what it knows (a flag, who has failed, which failures it has
 * acknowledged), round by round, until nobody has failed in a round; then it
 * tells the others what it has decided, and all that live decide the same.
 * Source: Cachin, Guerraoui, Rodrigues, "Introduction to Reliable and Secure
 * Distributed Programming", algorithm 5.1.  Messages go in the context of the
 * job, so that a communicator that was revoked can be agreed on.
 */
#ifndef MPI_FAULT_AGREE_H
#define MPI_FAULT_AGREE_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/call/state.h"

/* What is agreed on; the bytes of each member follow. */
struct vm_vote {
	uint32_t context, number; /* of the communicator; of the agreement */
	int32_t decided;
	int32_t flag;	      /* those of all, and-ed */
	int32_t chooser;      /* the first member to offer, */
	uint32_t new_context; /* a context for a new communicator */
	uint8_t marks[];      /* of each member: */
};
#define VM_VOTE_FAILED 1  /* somebody knows that it has failed */
#define VM_VOTE_UNACKED 2 /* and somebody has not acknowledged it */

/* A vote of the caller, with the next number of the communicator; NULL: out of
 * memory. */
struct vm_vote *vm_vote_new(struct vm_comm *comm, int flag);

/* Agrees: 0 or -VMPI_ENOMEM.  May switch. */
int vm_vote_agree(struct vm_vote *vote, const struct vm_group *group, int me);

/* Notes the failures that have become known, in order, under
 * vm_node->chans_lock; NULL: there are none, or there is no memory. */
struct vm_chan_faults *vm_faults_look(struct vm_chan *chan);

#endif
