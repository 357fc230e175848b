/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small collectives across workers in one step: each worker writes its members'
 * data to its post and does the parts of its own members, with proxies for all
 * others.
 */
#include "mpi/coll/small.h"

#include <string.h>

/* Alignment of each member's bytes, sufficient for any type. */
#define DATA_ALIGN 16

static void key_init(struct vm_coll_key *key, const struct vm_coll *coll)
{
	const struct vm_coll_kind *kind = coll->kind;

	key->id = (uint16_t)coll->id;
	key->in_place = kind->swaps && coll->in_place;
	key->type_kind = 0;
	key->root = kind->rooted ? coll->root : coll->shares;
	key->op = 0;
	key->bytes = 0;
	key->extent = 0;
	if (!kind->reduces)
		return;
	key->type_kind = coll->recv.type->kind;
	key->op = coll->op->loops ? (uintptr_t)coll->op : coll->op->commutes;
	key->bytes = coll->recv.type->size * coll->recv.count;
	key->extent = coll->recv.type->extent;
}

/*
 * Stores to a post wait in the store buffer for its cache line.  A wide load of
 * data written after them by narrower stores would wait too, so structs are
 * copied word by word here.
 */
static void data_set(struct vm_data *data, const struct vm_type *type,
		     const void *buf, size_t count)
{
	struct vm_data from = vm_type_data(type, buf, count);

	vm_data_assign(data, &from);
}

/* Gets the operands of a reduction, which keep their type for the
 * computation. */
static bool operands(const struct vm_coll *coll, struct vm_data *data)
{
	const struct vm_type *type = coll->recv.type;

	if (coll->recv.counts.array || !type->dense || type->dense_offset ||
	    type->extent != (MPI_Count)type->size)
		return false;
	data->addr = (void *)(uintptr_t)coll->send.buf;
	data->bytes = type->size * coll->recv.count;
	data->layout = NULL;
	data->count = 0;
	return true;
}

/* Tells whether a member sends a block to each of the others, not one to
 * all. */
static bool sends_blocks(const struct vm_coll *coll)
{
	return coll->kind == &vm_coll_scatter ||
	       coll->kind == &vm_coll_alltoall;
}

/* Gets all data that a member sends; false: a proxy could not send it. */
static bool small_data(const struct vm_coll *coll, struct vm_data *data)
{
	const struct vm_blocks *side = &coll->send;
	struct vm_data from;
	size_t block = 0;

	if (coll->kind->reduces)
		return operands(coll, data);
	if (sends_blocks(coll)) {
		if (side->counts.array || (coll->in_place && coll->kind->swaps))
			return false;
		data_set(data, side->type, side->buf,
			 side->count * (size_t)coll->size);
		return true;
	}
	if (coll->kind == &vm_coll_bcast) {
		side = &coll->recv;
	} else if (coll->in_place) {
		side = &coll->recv;
		block = (size_t)coll->rank;
	}
	if (!side->counts.array) {
		data_set(data, side->type,
			 vm_at(side->buf, (ptrdiff_t)(block * side->count) *
						  side->type->extent),
			 side->count);
		return true;
	}
	from = vm_blocks_data(side, block);
	vm_data_assign(data, &from);
	return true;
}

static void side_set(struct vm_blocks *side, const void *buf,
		     const struct vm_type *type, size_t count)
{
	side->buf = buf;
	side->type = type;
	side->count = count;
	side->counts = side->displs = (struct vm_ints){ 0 };
	side->types = NULL;
	side->made = NULL;
}

/* Initialises a proxy for member `rank` of a call like this, with its bytes, to
 * which reductions also write. */
static void proxy_init(struct vm_coll *proxy, const struct vm_coll *like,
		       int rank, void *data, size_t bytes)
{
	const struct vm_type *type = vm_type_get(MPI_BYTE);
	size_t count = bytes;

	proxy->kind = like->kind;
	proxy->comm = NULL;
	proxy->owner = NULL;
	proxy->rank = rank;
	proxy->size = like->size;
	proxy->id = like->id;
	proxy->root = like->root;
	proxy->shares = like->shares;
	proxy->first_size = 0;
	proxy->in_place = like->kind->reduces;
	proxy->op = like->op;
	if (like->kind->reduces) {
		type = like->recv.type;
		count = like->recv.count;
	} else if (sends_blocks(like)) {
		count = bytes / (size_t)like->size;
	}
	side_set(&proxy->send, data, type, count);
	side_set(&proxy->recv, data, type, count);
	proxy->temp = NULL;
	proxy->req = NULL;
	atomic_init(&proxy->error, 0);
}

/* Adds what a member sends to a post, of which `used` bytes are. */
static bool data_show(const struct vm_coll *coll, struct vm_meet_post *post,
		      uint32_t room, uint32_t *used)
{
	struct vm_data from, to;

	if (!small_data(coll, &from) || from.bytes > room - *used ||
	    (*used && from.bytes != post->bytes))
		return false;
	/* Members that send nothing are not in the post. */
	if (from.bytes == 0)
		return false;
	post->bytes = (uint32_t)from.bytes;
	if (from.layout) {
		to = vm_data_bytes(post->data + *used, from.bytes);
		vm_data_copy_slow(&to, &from);
	} else {
		memcpy(post->data + *used, from.addr, from.bytes);
	}
	*used += post->bytes;
	return true;
}

bool vm_coll_small_show(struct vm_meet *meet, struct vm_meet_worker *worker,
			struct vm_meet_post *post)
{
	const struct vm_coll *first = vm_coll_of(meet, worker->members[0]);
	char what[sizeof(first->what)];
	uint32_t used = 0;

	/* Bytes have no type. */
	if (VM_UNLIKELY(mpi_cvar.check_types))
		return false;
	for (uint32_t i = 0; i < worker->member_count; i++) {
		const struct vm_coll *coll =
			vm_coll_of(meet, worker->members[i]);

		if (coll->first_size || coll->kind->whole ||
		    (i && vm_coll_differs(first, coll, what, sizeof(what))))
			return false;
		if (vm_coll_small_sends(coll, coll->rank) &&
		    !data_show(coll, post, worker->room, &used))
			return false;
	}
	key_init((struct vm_coll_key *)post->key, first);
	return true;
}

/* A meeting with proxies for the members of other workers. */
struct proxy_view {
	struct vm_meet meet;
	struct vm_coll *proxies;
	char *data;	 /* private bytes of the proxies, */
	size_t distance; /* so far apart; 0: they send those of the posts */
};

VM_STATIC_ASSERT(sizeof(struct vm_coll) % DATA_ALIGN == 0,
		 "data behind proxies is aligned");

static size_t aligned(size_t bytes)
{
	return (bytes + DATA_ALIGN - 1) & ~(size_t)(DATA_ALIGN - 1);
}

/* Divides memory among what the view needs; with NULL only adds it up. */
static size_t view_divide(struct proxy_view *view, const struct vm_coll *like,
			  size_t size, char *memory)
{
	size_t seats = size * sizeof(struct vm_seat);
	size_t proxies = size * sizeof(struct vm_coll);

	view->meet.size = (uint32_t)size;
	view->meet.seats = (struct vm_seat *)memory;
	view->distance = 0;
	if (like->kind->reduces)
		view->distance =
			aligned(like->recv.count * like->recv.type->size);
	if (memory) {
		view->proxies = (struct vm_coll *)(memory + seats);
		view->data = memory + seats + proxies;
	}
	return seats + proxies + size * view->distance;
}

/* Seats proxies for those of a worker's members that send anything. */
static void small_seat(struct proxy_view *view,
		       const struct vm_meet_worker *worker,
		       struct vm_meet_post *post, const struct vm_coll *like)
{
	char *data = post->data;

	for (uint32_t i = 0; i < worker->member_count; i++) {
		uint32_t rank = worker->members[i];
		struct vm_coll *proxy = &view->proxies[rank];
		char *bytes = data;

		if (!vm_coll_small_sends(like, (int)rank))
			continue;
		if (view->distance) {
			bytes = view->data + rank * view->distance;
			memcpy(bytes, data, post->bytes);
		}
		proxy_init(proxy, like, (int)rank, bytes, post->bytes);
		atomic_init(&view->meet.seats[rank].args, proxy);
		data += post->bytes;
	}
}

static void view_fill(struct proxy_view *view, const struct vm_meet *meet,
		      const struct vm_meet_worker *self,
		      const struct vm_coll *like)
{
	for (uint32_t w = 0; w < meet->worker_count; w++) {
		const struct vm_meet_worker *worker = &meet->workers[w];

		if (worker != self && worker->member_count)
			small_seat(view, worker, vm_meet_post_of(worker, self),
				   like);
	}
	for (uint32_t i = 0; i < self->member_count; i++) {
		uint32_t rank = self->members[i];

		atomic_init(&view->meet.seats[rank].args,
			    vm_coll_of(meet, rank));
	}
}

/* Does the parts of the worker's members, consecutive ones in one call. */
static void parts_do(struct vm_meet *meet, const struct vm_meet_worker *self,
		     struct vm_coll *me)
{
	const struct vm_coll_kind *kind = me->kind;

	for (uint32_t i = 0, end; i < self->member_count; i = end) {
		size_t first = self->members[i], last;

		for (end = i + 1; end < self->member_count; end++)
			if (self->members[end] != first + end - i)
				break;
		last = first + end - i;
		kind->part(meet, me, first, last);
		if (kind->finish)
			kind->finish(meet, first, last);
	}
}

static bool is_member(const struct vm_meet_worker *worker, int rank)
{
	for (uint32_t i = 0; i < worker->member_count; i++)
		if (worker->members[i] == (uint32_t)rank)
			return true;
	return false;
}

void vm_coll_small_own(struct vm_meet *meet, struct vm_meet_worker *worker,
		       void *args)
{
	struct vm_coll *me = args;
	const struct vm_coll_kind *kind = me->kind;
	char *memory;
	struct proxy_view view;

	if (!kind->part ||
	    (kind->rooted && kind->gathers && !is_member(worker, me->root)))
		return;
	memory = vm_meet_scratch(worker,
				 view_divide(&view, me, meet->size, NULL));
	if (!memory) {
		for (uint32_t i = 0; i < worker->member_count; i++)
			vm_coll_fail(vm_coll_of(meet, worker->members[i]),
				     MPI_ERR_NO_MEM,
				     "no memory for the data of other ranks");
		return;
	}
	view_divide(&view, me, meet->size, memory);
	view_fill(&view, meet, worker, me);
	if (kind->slices)
		kind->part(&view.meet, me, 0, meet->size);
	else
		parts_do(&view.meet, worker, me);
}
