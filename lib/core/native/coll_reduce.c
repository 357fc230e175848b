/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions, in the order of ranks: the result is the same in any number of
 * processes if the operation is associative.
 *
 * Where the members of each process are neighbours it sends one operand, what
 * its own make; else each member's.
 */
#include <stdlib.h>
#include <string.h>

#include "core/native/coll.h"
#include "sched/ult.h"

/* The member that runs this, whose operation is used: in images each rank has a
 * copy of it. */
static const struct vm_all_args *args_self(const struct vm_meet *meet)
{
	const struct vm_all_args *args = NULL;

	for (uint32_t i = 0; i < meet->size; i++) {
		if (!vm_meet_here(meet, i))
			continue;
		if (!args || meet->seats[i].ult == vm_self)
			args = vm_all_args_of(meet, i);
	}
	return args;
}

/* Adds an operand to *sum, which the first one begins. */
static void add(const struct vm_meet *meet, const struct vm_all_head *head,
		char *sum, bool *begun, const void *operand)
{
	const struct vm_all_args *args;

	if (!*begun) {
		if (head->bytes)
			memcpy(sum, operand, head->bytes);
		*begun = true;
		return;
	}
	args = args_self(meet);
	args->op(sum, operand, head->count, args->op_arg);
}

static void add_here(const struct vm_meet *meet, const struct vm_all_head *head,
		     char *sum, bool *begun)
{
	for (uint32_t i = 0; i < meet->size; i++)
		if (vm_meet_here(meet, i))
			add(meet, head, sum, begun,
			    vm_all_args_of(meet, i)->in);
}

static void sum_give(const struct vm_meet *meet, const struct vm_all_head *head,
		     const char *sum)
{
	for (uint32_t i = 0; i < meet->size; i++) {
		bool wants = head->kind == VM_ALL_ALLREDUCE ||
			     (int32_t)i == head->root;

		if (wants && vm_meet_here(meet, i) && head->bytes)
			memcpy(vm_all_args_of(meet, i)->out, sum, head->bytes);
	}
}

/* Whether a process has a member that gets the result. */
static bool wants(const struct vm_meet *meet, const struct vm_all_head *head,
		  int process)
{
	return head->kind == VM_ALL_ALLREDUCE ||
	       meet->leaders->of[head->root] == (uint32_t)process;
}

static size_t bytes_between(const struct vm_meet *meet,
			    const struct vm_all_head *head, int from, int to)
{
	const struct vm_leaders *leaders = meet->leaders;

	if (!wants(meet, head, to))
		return 0;
	return leaders->blocks ? head->bytes :
				 leaders->processes[from].count * head->bytes;
}

/* Writes what this process contributes behind the heads. */
static void operands_put(const struct vm_meet *meet,
			 const struct vm_all_head *head,
			 struct vm_leaders_msg *messages, const char *own)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_leaders_process *here =
		&leaders->processes[leaders->self];

	for (int p = 0; p < leaders->count; p++) {
		char *to;

		if (p == leaders->self || !wants(meet, head, p) || !head->bytes)
			continue;
		to = vm_all_out(&messages[p]);
		if (leaders->blocks) {
			memcpy(to, own, head->bytes);
			continue;
		}
		for (uint32_t k = 0; k < here->count; k++)
			memcpy(to + k * head->bytes,
			       vm_all_args_of(meet, here->members[k])->in,
			       head->bytes);
	}
}

/* All operands in order: of processes, whose members are neighbours. */
static void add_blocks(const struct vm_meet *meet,
		       const struct vm_all_head *head,
		       const struct vm_leaders_msg *messages, const char *own,
		       char *sum)
{
	bool begun = false;

	for (int p = 0; p < meet->leaders->count; p++)
		add(meet, head, sum, &begun,
		    p == meet->leaders->self ? own : vm_all_in(&messages[p]));
}

/* ... of members, of which each process has sent its own in order.  False: no
 * memory. */
static bool add_members(const struct vm_meet *meet,
			const struct vm_all_head *head,
			const struct vm_leaders_msg *messages, char *sum)
{
	uint32_t *taken = calloc((size_t)meet->leaders->count, sizeof(*taken));
	bool begun = false;

	for (uint32_t i = 0; taken && i < meet->size; i++) {
		uint32_t p = meet->leaders->of[i];

		add(meet, head, sum, &begun,
		    vm_meet_here(meet, i) ?
			    vm_all_args_of(meet, i)->in :
			    vm_all_in(&messages[p]) + taken[p]++ * head->bytes);
	}
	begun = taken != NULL;
	free(taken);
	return begun;
}

static int reduce_far(struct vm_meet *meet, const struct vm_all_head *head,
		      struct vm_leaders_msg *messages, char *own, char *sum)
{
	bool begun = false;
	int rc;

	if (meet->leaders->blocks)
		add_here(meet, head, own, &begun);
	operands_put(meet, head, messages, own);
	rc = vm_all_exchange(meet, head, messages);
	if (rc || !wants(meet, head, meet->leaders->self))
		return rc;
	if (meet->leaders->blocks)
		add_blocks(meet, head, messages, own, sum);
	else if (!add_members(meet, head, messages, sum))
		return -VMPI_ENOMEM;
	sum_give(meet, head, sum);
	return 0;
}

void vm_all_reduce(struct vm_meet *meet, const struct vm_all_head *head)
{
	char *sum = malloc(2 * head->bytes + 1);
	struct vm_leaders_msg *messages;
	bool begun = false;

	if (!meet->leaders && !sum) {
		meet->result = -VMPI_ENOMEM;
	} else if (!meet->leaders) {
		add_here(meet, head, sum, &begun);
		sum_give(meet, head, sum);
	} else if (!sum) {
		vm_leaders_barrier(meet, VM_LEADERS_MISMATCH);
		meet->result = -VMPI_ENOMEM;
	} else {
		messages = vm_all_messages(meet, head, bytes_between);
		if (messages) {
			meet->result = reduce_far(meet, head, messages,
						  sum + head->bytes, sum);
			vm_all_messages_free(meet, messages);
		}
	}
	free(sum);
}
