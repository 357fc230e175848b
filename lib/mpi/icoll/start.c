/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and end of nonblocking collectives.
 *
 * Each member leaves a copy of its call at the meeting, with references to
 * datatypes and operation, which the user may free meanwhile, and copies of the
 * arrays of counts etc.  MPI 4.1, 6.12, requires the user to keep those, but
 * programs that know only implementations that read them at the call change or
 * free them.
 */
#include "mpi/icoll/start.h"

#include <stdlib.h>

#include "core/local/engine.h"
#include "core/comm/revoke.h"
#include "mpi/call/array.h"
#include "mpi/call/errh.h"
#include "mpi/coll/algo/shown.h"
#include "mpi/coll/algo/small.h"
#include "mpi/call/status.h"

/* Takes (or gives up) a reference on all types that one side uses. */
static inline void types_count(const struct vm_blocks *blocks, int size,
			       void (*count)(struct vm_type *type))
{
	if (blocks->type)
		count((struct vm_type *)(uintptr_t)blocks->type);
	if (VM_LIKELY(!blocks->types))
		return;
	for (int i = 0; i < size; i++)
		if (vm_ints_get(blocks->counts, (size_t)i) > 0)
			count(vm_type_checked(blocks->types[i]));
}

static void type_hold(struct vm_type *type)
{
	vm_type_hold(type);
}

/* How many blocks each side has.  The counts of a reduce-scatter are those of
 * the caller's own side. */
static size_t blocks_of(const struct vm_coll *coll)
{
	return (size_t)(coll->kind->reduces ? coll->comm->local_size :
					      coll->size);
}

static size_t arrays_room(const struct vm_blocks *blocks, size_t n)
{
	if (!blocks->counts.array)
		return 0;
	return vm_ints_room(blocks->counts, n) +
	       vm_ints_room(blocks->displs, n) +
	       vm_array_room(blocks->types, n * sizeof(*blocks->types));
}

static void arrays_keep(struct vm_blocks *blocks, size_t n, void **place)
{
	if (!blocks->counts.array)
		return;
	blocks->counts = vm_ints_keep(place, blocks->counts, n);
	blocks->displs = vm_ints_keep(place, blocks->displs, n);
	blocks->types =
		vm_array_keep(place, blocks->types, n * sizeof(*blocks->types));
}

size_t vm_coll_arrays_room(const struct vm_coll *coll)
{
	size_t n = blocks_of(coll);

	return arrays_room(&coll->send, n) + arrays_room(&coll->recv, n);
}

void vm_coll_hold(struct vm_coll *coll, void *room)
{
	size_t n = blocks_of(coll);

	arrays_keep(&coll->send, n, &room);
	arrays_keep(&coll->recv, n, &room);
	types_count(&coll->send, coll->size, type_hold);
	types_count(&coll->recv, coll->size, type_hold);
	if (coll->op)
		vm_op_hold(coll->op);
}

void vm_coll_let_go(const struct vm_coll *coll)
{
	types_count(&coll->send, coll->size, vm_type_drop);
	types_count(&coll->recv, coll->size, vm_type_drop);
	if (coll->op)
		vm_op_drop(coll->op);
}

VM_STATIC_ASSERT(sizeof(struct vm_coll) <= VM_KEPT_BYTES,
		 "a call without arrays fits into a pool's object");

/* A call's copy and the room for its arrays, if it has any. */
static struct vm_coll *copy_new(size_t room)
{
	if (VM_LIKELY(room == 0))
		return vm_pool_get(&vm_thread_cache_self()->kept);
	return malloc(sizeof(struct vm_coll) + room);
}

static void copy_free(struct vm_coll *copy, size_t room)
{
	if (VM_LIKELY(room == 0))
		vm_pool_put(&vm_thread_cache_self()->kept, copy);
	else
		free(copy);
}

/* Frees a call whose request has ended or was never started. */
static void end(struct vm_req *req)
{
	struct vm_coll *coll = req->user;

	vm_coll_let_go(coll);
	copy_free(coll, vm_coll_arrays_room(coll));
}

/* The work of a member is done; its request is still to complete. */
static void member_went(const struct vm_coll *coll)
{
	int error = atomic_load_explicit(&coll->error, memory_order_relaxed);

	/* Not written without an error, so that it stays in its owner's
	 * cache. */
	if (error)
		coll->req->status.error = error;
	else
		vm_coll_went(coll, coll->req->node.env.context);
}

void vm_coll_started(struct vm_meet *meet)
{
	vm_coll_arrived(meet);
	for (size_t i = 0; i < meet->size; i++)
		if (vm_meet_here(meet, (uint32_t)i))
			member_went(vm_coll_of(meet, i));
}

static void own_started(struct vm_meet *meet, struct vm_meet_worker *worker,
			void *args)
{
	vm_coll_small_own(meet, worker, args);
	for (uint32_t i = 0; i < worker->member_count; i++)
		member_went(vm_coll_of(meet, worker->members[i]));
}

static size_t block_bytes(const struct vm_blocks *side)
{
	return side->type ? side->count * side->type->size : 0;
}

/* Whether the data of a worker's members will fit into a post.  All members
 * think the same of one call, since blocks have as many bytes on either side. */
static bool is_small(const struct vm_coll *coll, const struct vm_meet *place)
{
	const struct vm_coll_kind *kind = coll->kind;
	size_t bytes = block_bytes(&coll->send);
	size_t most;

	if (!place->parts || coll->first_size || kind->whole ||
	    coll->send.counts.array || coll->recv.counts.array ||
	    (coll->op && !coll->op->loops) || (kind->swaps && coll->in_place) ||
	    mpi_cvar.check_types)
		return false;
	if (!kind->part)
		return true;
	if (block_bytes(&coll->recv) > bytes)
		bytes = block_bytes(&coll->recv);
	most = vm_coll_sends_blocks(coll) ? place->fits_block :
	       kind == &vm_coll_bcast	  ? place->fits_one :
					    place->fits_each;
	return bytes && bytes <= most;
}

/* Whether it takes little among processes: who waits for it may do it. */
static bool is_light(const struct vm_coll *coll)
{
	return !coll->send.counts.array && !coll->recv.counts.array &&
	       block_bytes(&coll->send) <= VM_LEADERS_CARD_DATA &&
	       block_bytes(&coll->recv) <= VM_LEADERS_CARD_DATA;
}

int vm_coll_leave(struct vm_coll *coll, struct vm_chan *chan)
{
	static const struct vm_meet_how how = {
		.show = vm_coll_small_show,
		.own = own_started,
		.last = vm_coll_started,
	};

	if (VM_UNLIKELY(vm_is_revoked(chan)))
		return -VMPI_EREVOKED;
	coll->req->status = vm_status_empty;
	coll->req->node.env.tag = (int)(VM_CALL_MPI_FIRST + coll->id);
	/* Reset, since earlier starts of a persistent one may have set
	 * these. */
	coll->asked = VM_CHAN_STATS_UNSET;
	coll->algorithm = VM_COLL_SHARED;
	vm_coll_begin(coll, coll->req->node.env.context);
	return is_small(coll, chan->meet) ?
		       vm_meet_start_short(chan, coll, &how, coll->req) :
		       vm_meet_start(chan, coll, vm_coll_started, coll->req,
				     is_light(coll) ? vm_coll_small_tell :
						      NULL);
}

static void give_up(struct vm_req *req)
{
	if (!req)
		return;
	vm_req_complete(req);
	vm_req_finish(req, NULL);
}

int vm_coll_start(struct vm_call *call, const struct vm_coll *coll,
		  MPI_Request *request)
{
	size_t room = vm_coll_arrays_room(coll);
	struct vm_coll *copy = copy_new(room);
	struct vm_req *req = vm_req_new(VM_REQ_COLL);
	int rc = -VMPI_ENOMEM;

	if (!copy || !req) {
		if (copy)
			copy_free(copy, room);
		give_up(req);
		return rc;
	}
	*copy = *coll;
	vm_coll_hold(copy, copy + 1);
	copy->req = req;
	req->user = copy;
	req->on_free = end;
	/* Selects the error handler. */
	req->node.env.context = coll->comm->context;
	rc = vm_coll_leave(copy, coll->comm->chan);
	if (rc == -VMPI_EMISMATCH)
		vm_error(call, vm_mpi_error(rc),
			 "the ranks disagree: others wait in a blocking "
			 "collective, it does not match nonblocking ones");
	if (rc != 0)
		give_up(req);
	else
		*request = (MPI_Request)req;
	return rc;
}

void vm_coll_explain(struct vm_call *call, const struct vm_req *req)
{
	const struct vm_coll *coll = req->persistent ? vm_coll_kept(req) :
						       req->user;

	if (req->status.error > 0)
		vm_error(call, req->status.error, "%s: %s",
			 vm_call_name(coll->id), coll->what);
	else if (req->status.error == -VMPI_EMISMATCH)
		vm_error(call, MPI_ERR_OTHER,
			 "the ranks disagree: others have started a call of "
			 "another kind on this communicator");
}
