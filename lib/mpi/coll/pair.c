/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever is in any respect unusual is left to the usual way before anything has
 * been shown: data that are not in one piece, sizes that do not fit, and who finds
 * another post than it expects, or none for a while.  A post is as the usual way
 * would show it, but for the blocks of a scatterv, which has one here.
 */
#include "mpi/coll/pair.h"

#include "base/copy.h"
#include "core/meeting/meet_pair.h"
#include "mpi/coll/key.h"

/* A call here. */
struct pair_call {
	struct vm_coll *coll;
	const struct vm_chan *chan;
	struct vm_meet_worker *self;
	vm_meet_last last; /* of the usual way */
};

/* Whether a post may have these data: both members think the same, since blocks have
 * as many bytes on either side. */
static inline bool fits(const struct pair_call *call,
			const struct vm_data *data)
{
	return VM_LIKELY(!data->layout && data->bytes &&
			 data->bytes <= call->self->room);
}

/* Leaves data to the other. */
static int tell(const struct pair_call *call, const struct vm_data *data)
{
	struct vm_meet_post *post;

	if (!fits(call, data))
		return VM_PENDING;
	post = vm_meet_pair_begin(call->chan, call->self);
	vm_coll_key(post->key, call->coll);
	vm_copy(post->data, data->addr, data->bytes);
	vm_meet_pair_leave(call->chan->meet, call->self, post, data->bytes,
			   call->last);
	return VM_DONE;
}

/* Gets what the other has left, so many bytes; NULL: the usual way is needed. */
static const char *hear(const struct pair_call *call, size_t bytes)
{
	const struct vm_meet_post *post = vm_meet_pair_hear(call->self);
	uint64_t key[VM_MEET_KEY_WORDS];

	if (VM_UNLIKELY(!post))
		return NULL;
	vm_coll_key(key, call->coll);
	if (VM_UNLIKELY(post->bytes != (bytes | VM_MEET_GONE) ||
			post->last != call->last || key[0] != post->key[0] ||
			key[1] != post->key[1] || key[2] != post->key[2] ||
			key[3] != post->key[3]))
		return NULL;
	return post->data;
}

static int took(const struct pair_call *call)
{
	vm_meet_pair_took(call->chan->meet, call->self);
	return VM_DONE;
}

static int take(const struct pair_call *call, const struct vm_data *data)
{
	const char *from;

	if (!fits(call, data))
		return VM_PENDING;
	from = hear(call, data->bytes);
	if (VM_UNLIKELY(!from))
		return VM_PENDING;
	vm_copy(data->addr, from, data->bytes);
	return took(call);
}

/* The root's part of its own block. */
static void own_part(const struct pair_call *call)
{
	struct vm_meet *meet = call->chan->meet;
	struct vm_coll *coll = call->coll;
	size_t rank = (size_t)coll->rank;

	atomic_store_explicit(&meet->seats[rank].args, coll,
			      memory_order_relaxed);
	coll->kind->part(meet, coll, rank, rank + 1);
}

static int bcast(const struct pair_call *call)
{
	struct vm_data data = vm_blocks_data(&call->coll->recv, 0);

	return call->coll->rank == call->coll->root ? tell(call, &data) :
						      take(call, &data);
}

static int scatter(const struct pair_call *call)
{
	const struct vm_coll *coll = call->coll;
	struct vm_data data;
	int rc;

	if (coll->rank != coll->root) {
		data = vm_blocks_data(&coll->recv, 0);
		return take(call, &data);
	}
	data = vm_blocks_data(&coll->send, (size_t)(1 - coll->rank));
	rc = tell(call, &data);
	if (VM_LIKELY(rc == VM_DONE))
		own_part(call);
	return rc;
}

static int gather(const struct pair_call *call)
{
	const struct vm_coll *coll = call->coll;
	struct vm_data data;

	if (coll->rank != coll->root) {
		data = vm_blocks_data(&coll->send, 0);
		return tell(call, &data);
	}
	data = vm_blocks_data(&coll->recv, (size_t)(1 - coll->rank));
	if (!fits(call, &data))
		return VM_PENDING;
	own_part(call);
	return take(call, &data);
}

/* Adds the other's operand to that of the caller, in the order of their ranks. */
static int add(const struct pair_call *call, const struct vm_data *own)
{
	const struct vm_coll *coll = call->coll;
	const void *mine = own->addr, *other;

	if (!fits(call, own))
		return VM_PENDING;
	other = hear(call, own->bytes);
	if (VM_UNLIKELY(!other))
		return VM_PENDING;
	coll->op->loops[coll->recv.type->kind].two(
		coll->rank ? other : mine, coll->rank ? mine : other,
		(void *)(uintptr_t)coll->recv.buf, coll->recv.count);
	return took(call);
}

/* Reductions to a root, and scans, whose last member is the root. */
static int reduce(const struct pair_call *call)
{
	const struct vm_coll *coll = call->coll;
	const struct vm_type *type = coll->recv.type;
	size_t bytes = coll->recv.count * type->size;
	struct vm_data own = vm_data_bytes(coll->send.buf, bytes);
	int root = coll->kind->rooted ? coll->root : 1, rc;

	if (VM_UNLIKELY(!coll->op->loops || !type->dense ||
			type->dense_offset ||
			type->extent != (MPI_Count)type->size))
		return VM_PENDING;
	if (coll->rank == root) {
		if (coll->kind != &vm_coll_exscan)
			return add(call, &own);
		own = vm_data_bytes(coll->recv.buf, bytes);
		return take(call, &own);
	}
	rc = tell(call, &own);
	if (rc == VM_DONE && coll->kind == &vm_coll_scan && !coll->in_place)
		vm_copy((void *)(uintptr_t)coll->recv.buf, own.addr, bytes);
	return rc;
}

static int any(const struct pair_call *call)
{
	const struct vm_coll_kind *kind = call->coll->kind;

	if (kind == &vm_coll_bcast)
		return bcast(call);
	if (kind == &vm_coll_scatter)
		return scatter(call);
	if (kind == &vm_coll_gather)
		return gather(call);
	if (kind == &vm_coll_reduce || kind->family == VM_FAMILY_SCAN)
		return reduce(call);
	return VM_PENDING;
}

int vm_coll_pair(struct vm_coll *coll, const struct vm_chan *chan,
		 vm_meet_last last)
{
	struct pair_call call;
	int rc;

	if (VM_UNLIKELY(coll->first_size || mpi_cvar.check_types))
		return VM_PENDING;
	call.coll = coll;
	call.chan = chan;
	call.self = vm_meet_pair_of(chan);
	call.last = last;
	rc = any(&call);
	if (rc == VM_DONE)
		vm_meet_counts(coll->kind->calls);
	return rc;
}

bool vm_coll_pair_differs(struct vm_coll *coll, const struct vm_chan *chan,
			  vm_meet_last last)
{
	const struct vm_meet_worker *self = vm_meet_pair_of(chan);
	const struct vm_meet_post *post = vm_meet_post_of(self->other, self);

	if (!vm_meet_post_is_gone(post) || post->last != last)
		return false;
	vm_coll_differ_one(coll, post->key[0], (uint32_t)(1 - chan->rank));
	return true;
}
