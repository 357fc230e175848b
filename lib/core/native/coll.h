/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of vmpi.h: what each member brings to their meeting
 * (core/meeting/meet.h), and what the leaders of processes tell each other.
 */
#ifndef CORE_NATIVE_COLL_H
#define CORE_NATIVE_COLL_H

#include <stddef.h>
#include <stdint.h>

#include "core/meeting/leaders.h"
#include "core/meeting/meet.h"
#include "vmpi.h"

enum vm_all_kind {
	VM_ALL_BCAST,
	VM_ALL_GATHER,
	VM_ALL_SCATTER,
	VM_ALL_ALLGATHER,
	VM_ALL_ALLTOALL,
	VM_ALL_REDUCE,
	VM_ALL_ALLREDUCE
};

/* What all members have alike; the head of each message of a leader. */
struct vm_all_head {
	uint32_t kind;
	int32_t root;	/* 0 where there is none */
	uint64_t bytes; /* of a block, or of all elements */
	uint64_t count; /* of elements, 0 where there are none */
};

struct vm_all_args {
	struct vm_all_head head;
	const void *in;
	void *out; /* a broadcast has one buffer, as both */
	vmpi_op op;
	void *op_arg;
};

/* The arguments of a member of this process. */
static inline const struct vm_all_args *
vm_all_args_of(const struct vm_meet *meet, uint32_t rank)
{
	return vm_meet_args(meet, rank);
}

/* Moves blocks; reduces: meet->result. */
void vm_all_move(struct vm_meet *meet, const struct vm_all_head *head);
void vm_all_reduce(struct vm_meet *meet, const struct vm_all_head *head);

/*
 * The messages of a leader to the others, each with room for so many bytes behind
 * its head; NULL: no memory, which the others are told.  vm_all_exchange()
 * sends them: 0, and what came is in them, with the same heads and sizes, or an
 * error.  To be freed in any case.
 */
struct vm_leaders_msg *
vm_all_messages(struct vm_meet *meet, const struct vm_all_head *head,
		size_t (*bytes)(const struct vm_meet *,
				const struct vm_all_head *, int from, int to));
int vm_all_exchange(struct vm_meet *meet, const struct vm_all_head *head,
		    struct vm_leaders_msg *messages);
void vm_all_messages_free(const struct vm_meet *meet,
			  struct vm_leaders_msg *messages);

/* What is behind the head. */
static inline char *vm_all_out(const struct vm_leaders_msg *message)
{
	return (char *)(uintptr_t)message->out + sizeof(struct vm_all_head);
}

static inline const char *vm_all_in(const struct vm_leaders_msg *message)
{
	return (const char *)message->in + sizeof(struct vm_all_head);
}

#endif
