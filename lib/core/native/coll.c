/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h: collectives.  The last member to arrive does the work of all in its
 * process, and exchanges messages with those of other processes.
 */
#include "core/native/coll.h"

#include <stdlib.h>
#include <string.h>

#include "core/instrument/calls.h"
#include "core/rank/chan.h"
#include "core/rank/wait.h"
#include "core/runtime/checks.h"

#define ENTRY(name) VM_ENTRY_WAITS(vmpi_##name)
VM_API_CALLS_COLL(ENTRY)
#undef ENTRY

struct vm_leaders_msg *
vm_all_messages(struct vm_meet *meet, const struct vm_all_head *head,
		size_t (*bytes)(const struct vm_meet *,
				const struct vm_all_head *, int from, int to))
{
	const struct vm_leaders *leaders = meet->leaders;
	struct vm_leaders_msg *messages =
		calloc((size_t)leaders->count, sizeof(*messages));

	for (int p = 0; messages && p < leaders->count; p++) {
		size_t more;
		void *out;

		if (p == leaders->self)
			continue;
		more = bytes(meet, head, leaders->self, p);
		out = malloc(sizeof(*head) + more);
		if (!out) {
			vm_all_messages_free(meet, messages);
			messages = NULL;
			break;
		}
		memcpy(out, head, sizeof(*head));
		messages[p].out = out;
		messages[p].out_bytes = sizeof(*head) + more;
	}
	if (!messages) {
		vm_leaders_barrier(meet, VM_LEADERS_MISMATCH);
		meet->result = -VMPI_ENOMEM;
	}
	return messages;
}

void vm_all_messages_free(const struct vm_meet *meet,
			  struct vm_leaders_msg *messages)
{
	for (int p = 0; p < meet->leaders->count; p++) {
		free((void *)(uintptr_t)messages[p].out);
		free(messages[p].in);
	}
	free(messages);
}

int vm_all_exchange(struct vm_meet *meet, const struct vm_all_head *head,
		    struct vm_leaders_msg *messages)
{
	int rc = vm_leaders_exchange(meet, VM_LEADERS_COLL, messages);

	for (int p = 0; !rc && p < meet->leaders->count; p++)
		if (p != meet->leaders->self &&
		    (messages[p].in_bytes < sizeof(*head) ||
		     memcmp(messages[p].in, head, sizeof(*head))))
			rc = -VMPI_EMISMATCH;
	return rc;
}

/* Whether the members of this process are in the same call. */
static bool members_agree(const struct vm_meet *meet,
			  const struct vm_all_head *head)
{
	for (uint32_t i = 0; i < meet->size; i++)
		if (vm_meet_here(meet, i) &&
		    memcmp(&vm_all_args_of(meet, i)->head, head, sizeof(*head)))
			return false;
	return true;
}

static uint32_t first_here(const struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;

	return leaders ? leaders->processes[leaders->self].members[0] : 0;
}

/* For all members of this process, run by one of them. */
static void coll_last(struct vm_meet *meet)
{
	struct vm_all_head head = vm_all_args_of(meet, first_here(meet))->head;

	if (!members_agree(meet, &head)) {
		meet->result = -VMPI_EMISMATCH;
		if (meet->leaders)
			vm_leaders_barrier(meet, VM_LEADERS_MISMATCH);
	} else if (head.kind >= VM_ALL_REDUCE) {
		vm_all_reduce(meet, &head);
	} else {
		vm_all_move(meet, &head);
	}
}

static int coll(vmpi_chan *chan, enum vm_api_call_id call,
		struct vm_all_args *args)
{
	int rc = vm_chan_check(chan);

	if (!rc &&
	    (args->head.root < 0 || args->head.root >= chan->group->size))
		rc = -VMPI_ERANK;
	if (rc)
		return rc;
	vm_wait_in(vm_self, call);
	return vm_meet(chan, args, coll_last);
}

/* The head, with no bytes between its fields. */
static struct vm_all_head head_of(enum vm_all_kind kind, int root,
				  uint64_t bytes, uint64_t count)
{
	VM_STATIC_ASSERT(sizeof(struct vm_all_head) == 24,
			 "heads are compared by bytes");
	return (struct vm_all_head){ kind, root, bytes, count };
}

int vmpi_bcast(vmpi_chan *chan, void *buf, size_t bytes, int root)
{
	struct vm_all_args args = {
		.head = head_of(VM_ALL_BCAST, root, bytes, 0),
		.in = buf,
		.out = buf,
	};

	if (!buf && bytes)
		return -VMPI_EINVAL;
	return coll(chan, VM_API_CALL_bcast, &args);
}

/* At the root alone both buffers are needed. */
static int rooted(vmpi_chan *chan, enum vm_all_kind kind,
		  enum vm_api_call_id call, void *out, const void *in,
		  size_t bytes, int root)
{
	struct vm_all_args args = {
		.head = head_of(kind, root, bytes, 0),
		.in = in,
		.out = out,
	};
	bool is_root = chan && chan->rank == root;
	const void *always = kind == VM_ALL_GATHER ? in : out;

	if (bytes && (!always || (is_root && (!in || !out))))
		return -VMPI_EINVAL;
	return coll(chan, call, &args);
}

int vmpi_gather(vmpi_chan *chan, void *all, const void *own, size_t bytes,
		int root)
{
	return rooted(chan, VM_ALL_GATHER, VM_API_CALL_gather, all, own, bytes,
		      root);
}

int vmpi_scatter(vmpi_chan *chan, void *own, const void *all, size_t bytes,
		 int root)
{
	return rooted(chan, VM_ALL_SCATTER, VM_API_CALL_scatter, own, all,
		      bytes, root);
}

static int everybody(vmpi_chan *chan, enum vm_all_kind kind,
		     enum vm_api_call_id call, void *out, const void *in,
		     size_t bytes)
{
	struct vm_all_args args = {
		.head = head_of(kind, 0, bytes, 0),
		.in = in,
		.out = out,
	};

	if (bytes && (!in || !out))
		return -VMPI_EINVAL;
	return coll(chan, call, &args);
}

int vmpi_allgather(vmpi_chan *chan, void *all, const void *own, size_t bytes)
{
	return everybody(chan, VM_ALL_ALLGATHER, VM_API_CALL_allgather, all,
			 own, bytes);
}

int vmpi_alltoall(vmpi_chan *chan, void *to, const void *from, size_t bytes)
{
	return everybody(chan, VM_ALL_ALLTOALL, VM_API_CALL_alltoall, to, from,
			 bytes);
}

int vmpi_reduce(vmpi_chan *chan, void *out, const void *in, size_t bytes,
		size_t count, vmpi_op op, void *arg, int root)
{
	struct vm_all_args args = {
		.head = head_of(VM_ALL_REDUCE, root, bytes * count, count),
		.in = in,
		.out = out,
		.op = op,
		.op_arg = arg,
	};

	if (!op || (bytes && count > SIZE_MAX / bytes) ||
	    (args.head.bytes > 0 &&
	     (!in || (chan && chan->rank == root && !out))))
		return -VMPI_EINVAL;
	return coll(chan, VM_API_CALL_reduce, &args);
}

int vmpi_allreduce(vmpi_chan *chan, void *out, const void *in, size_t bytes,
		   size_t count, vmpi_op op, void *arg)
{
	struct vm_all_args args = {
		.head = head_of(VM_ALL_ALLREDUCE, 0, bytes * count, count),
		.in = in,
		.out = out,
		.op = op,
		.op_arg = arg,
	};

	if (!op || (bytes && count > SIZE_MAX / bytes) ||
	    (args.head.bytes > 0 && (!in || !out)))
		return -VMPI_EINVAL;
	return coll(chan, VM_API_CALL_allreduce, &args);
}
