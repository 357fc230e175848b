/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that move blocks: each is a set of senders and one of receivers,
 * every sender has a block for every receiver.
 */
#include <string.h>

#include "core/native/coll.h"

/* Members from first to the one before end. */
struct range {
	uint32_t first, end;
};

static struct range range_of(const struct vm_meet *meet, bool root_only,
			     int32_t root)
{
	return root_only ?
		       (struct range){ (uint32_t)root, (uint32_t)root + 1 } :
		       (struct range){ 0, meet->size };
}

static struct range senders(const struct vm_meet *meet,
			    const struct vm_all_head *head)
{
	return range_of(meet,
			head->kind == VM_ALL_BCAST ||
				head->kind == VM_ALL_SCATTER,
			head->root);
}

static struct range receivers(const struct vm_meet *meet,
			      const struct vm_all_head *head)
{
	return range_of(meet, head->kind == VM_ALL_GATHER, head->root);
}

/* Whether a sender has the same block for all. */
static bool is_same(const struct vm_all_head *head)
{
	return head->kind == VM_ALL_BCAST || head->kind == VM_ALL_ALLGATHER;
}

/* The block of member i for member j, where i has it, and where j wants it. */
static const char *block_from(const struct vm_meet *meet,
			      const struct vm_all_head *head, uint32_t i,
			      uint32_t j)
{
	const char *in = vm_all_args_of(meet, i)->in;
	bool many = head->kind == VM_ALL_SCATTER ||
		    head->kind == VM_ALL_ALLTOALL;

	return in + (many ? j * head->bytes : 0);
}

static char *block_to(const struct vm_meet *meet,
		      const struct vm_all_head *head, uint32_t i, uint32_t j)
{
	char *out = vm_all_args_of(meet, j)->out;
	bool many = head->kind != VM_ALL_BCAST && head->kind != VM_ALL_SCATTER;

	return out + (many ? i * head->bytes : 0);
}

static void block_copy(const struct vm_meet *meet,
		       const struct vm_all_head *head, const char *from,
		       uint32_t i, uint32_t j)
{
	char *to = block_to(meet, head, i, j);

	if (from != to && head->bytes)
		memmove(to, from, head->bytes);
}

/* The member of a process that is in range, from its k-th on; -1: none. */
static int member_next(const struct vm_leaders_process *process, uint32_t *k,
		       struct range range)
{
	for (; *k < process->count; ++*k) {
		uint32_t member = process->members[*k];

		if (member >= range.first && member < range.end) {
			++*k;
			return (int)member;
		}
	}
	return -1;
}

static uint32_t count_in(const struct vm_leaders_process *process,
			 struct range range)
{
	uint32_t k = 0, count = 0;

	while (member_next(process, &k, range) >= 0)
		count++;
	return count;
}

/* What the members of one process have for those of another. */
static size_t bytes_between(const struct vm_meet *meet,
			    const struct vm_all_head *head, int from, int to)
{
	const struct vm_leaders_process *processes = meet->leaders->processes;
	size_t out = count_in(&processes[from], senders(meet, head));
	size_t in = count_in(&processes[to], receivers(meet, head));

	if (is_same(head) && in)
		in = 1;
	return out * in * head->bytes;
}

/* Puts what is for members of process p behind the head of its message. */
static void pack(const struct vm_meet *meet, const struct vm_all_head *head,
		 char *to, int p)
{
	const struct vm_leaders *leaders = meet->leaders;
	uint32_t k = 0, l;
	int i, j;

	while ((i = member_next(&leaders->processes[leaders->self], &k,
				senders(meet, head))) >= 0) {
		l = 0;
		while ((j = member_next(&leaders->processes[p], &l,
					receivers(meet, head))) >= 0) {
			if (head->bytes)
				memcpy(to,
				       block_from(meet, head, (uint32_t)i,
						  (uint32_t)j),
				       head->bytes);
			to += head->bytes;
			if (is_same(head))
				break;
		}
	}
}

/* Gives the members here what came from process p. */
static void unpack(const struct vm_meet *meet, const struct vm_all_head *head,
		   const char *from, int p)
{
	const struct vm_leaders *leaders = meet->leaders;
	uint32_t k = 0, l;
	int i, j;

	while ((i = member_next(&leaders->processes[p], &k,
				senders(meet, head))) >= 0) {
		l = 0;
		while ((j = member_next(&leaders->processes[leaders->self], &l,
					receivers(meet, head))) >= 0) {
			block_copy(meet, head, from, (uint32_t)i, (uint32_t)j);
			if (!is_same(head))
				from += head->bytes;
		}
		if (is_same(head))
			from += head->bytes;
	}
}

/* Between members of this process. */
static void move_here(const struct vm_meet *meet,
		      const struct vm_all_head *head)
{
	struct range out = senders(meet, head), in = receivers(meet, head);

	for (uint32_t i = out.first; i < out.end; i++) {
		if (!vm_meet_here(meet, i))
			continue;
		for (uint32_t j = in.first; j < in.end; j++)
			if (vm_meet_here(meet, j))
				block_copy(meet, head,
					   block_from(meet, head, i, j), i, j);
	}
}

void vm_all_move(struct vm_meet *meet, const struct vm_all_head *head)
{
	const struct vm_leaders *leaders = meet->leaders;
	struct vm_leaders_msg *messages;
	int rc;

	if (!leaders) {
		move_here(meet, head);
		return;
	}
	messages = vm_all_messages(meet, head, bytes_between);
	if (!messages)
		return;
	for (int p = 0; p < leaders->count; p++)
		if (p != leaders->self)
			pack(meet, head, vm_all_out(&messages[p]), p);
	move_here(meet, head);
	rc = vm_all_exchange(meet, head, messages);
	for (int p = 0; !rc && p < leaders->count; p++)
		if (p != leaders->self)
			unpack(meet, head, vm_all_in(&messages[p]), p);
	meet->result = rc;
	vm_all_messages_free(meet, messages);
}
