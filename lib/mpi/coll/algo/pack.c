/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The message to another process: the plan, a struct call for each member, the
 * sizes of the blocks that members send there, then the small blocks, each
 * aligned for any type.
 */
#include "mpi/coll/algo/pack.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/coll/algo/node_reduce.h"
#include "mpi/coll/types.h"
#include "mpi/type/signature.h"

#define ALIGN 16
/* Flag in the size of a block: it is sent separately. */
#define DIRECT ((uint64_t)1 << 63)
/* Below it the length, above it the signature. */
#define SIZE_BITS (63 - VM_SIGNATURE_BITS)

/* A member's call as sent to other processes. */
struct call {
	uint16_t id, as;
	int32_t root; /* or the hash of its shares */
	uint8_t in_place, commutes;
	uint8_t op;   /* predefined: its handle - MPI_OP_NULL; else 0 */
	uint8_t type; /* predefined: its handle - MPI_DATATYPE_NULL */
	uint32_t kind : 8;
	uint32_t signature : VM_SIGNATURE_BITS; /* of what it sends to all */
	uint64_t count, size; /* of the receiving side; size: or of its block */
	int64_t extent;
	uint64_t blocks; /* that it sends to this process */
};

VM_STATIC_ASSERT(sizeof(struct call) % ALIGN == 0, "sizes follow aligned");
VM_STATIC_ASSERT(sizeof(struct vm_coll_plan) % ALIGN == 0,
		 "calls follow aligned");

static size_t aligned(size_t bytes)
{
	return (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Returns the seat of the root that a member names, on its own or the other
 * side. */
static size_t root_seat(const struct vm_coll *coll, size_t from)
{
	if (coll->first_size && !vm_coll_is_second(coll, from))
		return (size_t)coll->first_size + (size_t)coll->root;
	return (size_t)coll->root;
}

/* Tells whether a member sends data to others. */
static bool sends(const struct vm_coll *coll)
{
	switch (coll->kind->flow) {
	case VM_FLOW_NONE:
		return false;
	case VM_FLOW_BCAST:
	case VM_FLOW_SCATTER:
		return vm_coll_is_root(coll);
	case VM_FLOW_GATHER:
		return coll->first_size ?
			       coll->root >= 0 :
			       !coll->in_place || coll->kind->reduces;
	default:
		return true;
	}
}

/* Tells whether member `from` sends block `to` (or its only one) to member
 * `to`. */
static bool sends_to(const struct vm_coll *coll, size_t from, size_t to)
{
	if (!sends(coll) || !vm_coll_reaches(coll, from, to))
		return false;
	return coll->kind->flow != VM_FLOW_GATHER ||
	       root_seat(coll, from) == to;
}

static bool has_blocks(const struct vm_coll *coll)
{
	return coll->kind->flow == VM_FLOW_SCATTER ||
	       coll->kind->flow == VM_FLOW_BLOCKS;
}

struct vm_data vm_coll_data_for(const struct vm_coll *coll, size_t to)
{
	const struct vm_blocks *side = &coll->send;
	size_t block = has_blocks(coll) ? vm_coll_block_of(coll, to) : 0;

	if (coll->kind->reduces)
		return vm_type_data(coll->recv.type, coll->send.buf,
				    coll->recv.count);
	if (coll->kind->flow == VM_FLOW_BCAST)
		return vm_blocks_data(&coll->recv, 0);
	if (coll->in_place && coll->kind->flow != VM_FLOW_SCATTER) {
		side = &coll->recv;
		if (!has_blocks(coll))
			block = (size_t)coll->rank;
	}
	return vm_blocks_data(side, block);
}

static struct call call_of(const struct vm_coll *coll, size_t blocks)
{
	const struct vm_type *type = coll->recv.type;
	struct call call = { .id = coll->id,
			     .as = coll->as,
			     .root = coll->kind->rooted ? coll->root :
							  coll->shares,
			     .in_place = coll->in_place,
			     .commutes = coll->op && coll->op->commutes,
			     .op = coll->op ? coll->op->number : 0,
			     .count = coll->recv.count,
			     .blocks = blocks };

	if (coll->kind->reduces && type) {
		call.type = type->builtin ? type->value : 0;
		call.kind = type->kind;
		call.size = type->size;
		call.extent = type->extent;
	} else if (coll->kind->relays && !coll->first_size) {
		call.size = vm_coll_data_for(coll, 0).bytes;
	}
	if (mpi_cvar.check_types && !coll->kind->reduces && sends(coll) &&
	    !has_blocks(coll)) {
		call.size = vm_coll_data_for(coll, 0).bytes;
		call.signature = vm_coll_signature(coll, 0);
	}
	return call;
}

/* The message to one process, which is first measured, then packed. */
struct pack {
	struct vm_coll_view *view;
	const struct vm_coll *coll; /* whose turn it is */
	int process;
	char *memory; /* NULL: only measured */
	uint64_t *size;
	size_t sizes, at;
	size_t most; /* bytes of a block that is packed */
};

/* To a process of this host a block is copied once if it is not packed, and
 * three times if it is; from here on that takes longer than one more message
 * does. */
#define NEAR_PACKED_BYTES 2048

size_t vm_coll_packed_most(const struct vm_coll_view *view, int p)
{
	size_t most = view->packed_bytes;

	return most > NEAR_PACKED_BYTES && vm_leaders_near(view->leaders, p) ?
		       NEAR_PACKED_BYTES :
		       most;
}

/* Tells whether a block is sent separately.  In-place data is not, since other
 * data is received in the same buffer. */
static bool is_direct(const struct pack *pack, size_t bytes)
{
	const struct vm_coll *coll = pack->coll;

	return coll->kind->direct && !(coll->kind->swaps && coll->in_place) &&
	       bytes > pack->most;
}

/* What is sent about a block: its length, and while types are compared its
 * signature. */
static uint64_t size_of(size_t bytes, uint32_t signature)
{
	if (bytes >> SIZE_BITS)
		return bytes;
	return bytes | (uint64_t)signature << SIZE_BITS;
}

static uint64_t length_of(uint64_t size)
{
	size &= ~DIRECT;
	return mpi_cvar.check_types ? size & (((uint64_t)1 << SIZE_BITS) - 1) :
				      size;
}

static void block_measure(const struct vm_data *data, struct pack *pack)
{
	pack->sizes++;
	if (!is_direct(pack, data->bytes))
		pack->at += aligned(data->bytes);
}

/* Adds an empty block to the list; NULL when out of memory. */
static struct vm_coll_block *block_add(struct vm_coll_blocks *blocks)
{
	size_t room = blocks->room ? 2 * blocks->room : 16;
	struct vm_coll_block *more;

	if (blocks->count == blocks->room) {
		more = realloc(blocks->list, room * sizeof(*more));
		if (!more)
			return NULL;
		blocks->list = more;
		blocks->room = room;
	}
	more = &blocks->list[blocks->count++];
	memset(more, 0, sizeof(*more));
	return more;
}

/* Packs a block; false: out of memory. */
static bool block_pack(const struct vm_data *data, struct pack *pack,
		       uint32_t signature)
{
	struct vm_coll_block *block;
	struct vm_data to;

	*pack->size = size_of(data->bytes, signature);
	if (is_direct(pack, data->bytes)) {
		block = block_add(&pack->view->going);
		if (!block)
			return false;
		block->process = pack->process;
		block->out = *data;
		*pack->size |= DIRECT;
	} else if (data->bytes) {
		to = vm_data_bytes(pack->memory + pack->at, data->bytes);
		vm_data_copy_slow(&to, data);
		pack->at += aligned(data->bytes);
	}
	pack->size++;
	return true;
}

/* Measures or packs a block; false: out of memory. */
static bool block_visit(struct pack *pack, const struct vm_data *data,
			uint32_t signature)
{
	if (pack->memory)
		return block_pack(data, pack, signature);
	block_measure(data, pack);
	return true;
}

/* Measures or packs the vector of a hierarchical reduction. */
static long node_reduce_visit(struct pack *pack, size_t from)
{
	const struct vm_coll_view *view = pack->view;
	struct vm_data data;

	if (from != view->here->members[0] ||
	    !vm_coll_node_reduce_wanted(view, pack->process))
		return 0;
	data = vm_coll_node_reduce_data(view->reduce);
	return block_visit(pack, &data, 0) ? 1 : -1;
}

/* Visits the blocks that a member sends to a process and returns their number;
 * -1 when out of memory. */
static long blocks_visit(struct pack *pack, size_t from)
{
	const struct vm_coll_view *view = pack->view;
	const struct vm_leaders_process *there =
		&view->leaders->processes[pack->process];
	const struct vm_coll *coll = vm_coll_of(&view->meet, from);
	long n = 0;

	pack->coll = coll;
	if (!view->plan.packs)
		return 0;
	if (view->reduce)
		return node_reduce_visit(pack, from);
	for (uint32_t i = 0; i < there->count; i++) {
		struct vm_data data;

		if (!sends_to(coll, from, there->members[i]))
			continue;
		n++;
		data = vm_coll_data_for(coll, there->members[i]);
		if (!block_visit(pack, &data,
				 vm_coll_signature(coll, there->members[i])))
			return -1;
		if (!has_blocks(coll))
			break;
	}
	return n;
}

static size_t calls_bytes(const struct vm_leaders_process *process)
{
	return sizeof(struct vm_coll_plan) +
	       process->count * sizeof(struct call);
}

int vm_coll_pack(struct vm_coll_view *view, int p)
{
	const struct vm_leaders_process *here = view->here;
	struct vm_leaders_msg *part = &view->parts[p];
	struct pack pack = { .view = view,
			     .process = p,
			     .most = vm_coll_packed_most(view, p) };
	struct call *calls;
	size_t head;

	for (uint32_t i = 0; i < here->count; i++)
		blocks_visit(&pack, here->members[i]);
	head = calls_bytes(here) + aligned(pack.sizes * sizeof(uint64_t));
	part->out_bytes = head + pack.at;
	part->out = pack.memory = malloc(part->out_bytes);
	if (!pack.memory)
		return -VMPI_ENOMEM;
	memcpy(pack.memory, &view->plan, sizeof(view->plan));
	calls = (struct call *)(pack.memory + sizeof(view->plan));
	pack.size = (uint64_t *)(pack.memory + calls_bytes(here));
	pack.at = head;
	for (uint32_t i = 0; i < here->count; i++) {
		long n = blocks_visit(&pack, here->members[i]);

		if (n < 0)
			return -VMPI_ENOMEM;
		calls[i] = call_of(vm_coll_of(&view->meet, here->members[i]),
				   (size_t)n);
	}
	return 0;
}

/* User operations of other processes: known is only whether they commute, and
 * they are never applied. */
static const struct vm_op op_commutes = { .commutes = true }, op_not;

/* The message of a process, while it is unpacked. */
struct unpack {
	struct vm_coll_view *view;
	int process;
	const uint64_t *size;
	bool same; /* it is that of all blocks */
	char *data;
	uint64_t sizes; /* that are left */
	size_t bytes;	/* that are left */
};

/* Takes the next block from member `from` for member `to`; false: there is
 * none, or out of memory. */
static bool block_next(struct unpack *unpack, struct vm_data *block,
		       uint32_t from, uint32_t to)
{
	struct vm_coll_block *coming;
	size_t bytes, whole, signature;
	bool direct;

	if (!unpack->sizes)
		return false;
	unpack->sizes--;
	bytes = length_of(*unpack->size);
	signature = (*unpack->size & ~DIRECT) >> SIZE_BITS;
	direct = *unpack->size & DIRECT;
	unpack->size += !unpack->same;
	if (direct) {
		*block = vm_data_bytes(NULL, bytes);
		block->count = signature;
		coming = block_add(&unpack->view->coming);
		if (!coming)
			return false;
		coming->process = unpack->process;
		coming->from = from;
		coming->to = to;
		coming->data = block;
		return true;
	}
	whole = aligned(bytes);
	if (bytes > unpack->bytes || whole > unpack->bytes)
		return false;
	*block = vm_data_bytes(unpack->data, bytes);
	block->count = signature;
	unpack->data += whole;
	unpack->bytes -= whole;
	return true;
}

bool vm_coll_proxy_blocks(struct vm_coll *proxy, size_t count)
{
	/* Only asked whether there are any. */
	static const int none;
	struct vm_data *made = calloc(count, sizeof(*made));

	proxy->temp = made;
	proxy->send.made = made;
	proxy->send.counts = proxy->send.displs = VM_INTS(&none);
	return made != NULL;
}

/* Sets what a proxy sends; false: malformed message, or out of memory. */
static bool send_fill(struct unpack *unpack, struct vm_coll *proxy,
		      uint32_t seat, const struct call *call)
{
	const struct vm_leaders_process *here = unpack->view->here;
	struct vm_data *made, block;

	proxy->send.type = vm_type_get(MPI_BYTE);
	if (!call->blocks)
		return true;
	if (!proxy->kind->direct) {
		if (!block_next(unpack, &block, seat, 0))
			return false;
		proxy->send.buf = block.addr;
		proxy->send.count = block.bytes;
		return true;
	}
	if (!vm_coll_proxy_blocks(proxy,
				  has_blocks(proxy) ? (size_t)proxy->size : 1))
		return false;
	made = proxy->temp;
	if (!has_blocks(proxy))
		return block_next(unpack, made, seat, 0);
	for (uint32_t i = 0; i < here->count; i++) {
		uint32_t to = here->members[i];

		if (vm_coll_reaches(proxy, seat, to) &&
		    !block_next(unpack, &made[vm_coll_block_of(proxy, to)],
				seat, to))
			return false;
	}
	return true;
}

/* Makes a type that compares like that of a remote member. */
static const struct vm_type *type_fill(struct vm_type *type,
				       const struct call *call)
{
	if (call->type)
		return vm_type_builtin[call->type];
	type->size = call->size;
	type->extent = call->extent;
	type->kind = call->kind;
	return type;
}

static void proxy_fill(struct vm_coll *proxy, struct vm_type *type,
		       const struct vm_coll *any, const struct call *call,
		       size_t seat, size_t size)
{
	bool second = vm_coll_is_second(any, seat);
	size_t first_size = (size_t)any->first_size;

	proxy->kind = any->kind;
	proxy->id = call->id;
	proxy->as = call->as;
	proxy->root = call->root;
	proxy->shares = any->kind->rooted ? 0 : call->root;
	proxy->first_size = any->first_size;
	proxy->in_place = call->in_place;
	proxy->rank = (int)(second ? seat - first_size : seat);
	proxy->size = (int)(!first_size ? size :
			    second	? first_size :
					  size - first_size);
	if (any->kind->reduces) {
		proxy->op = call->op	   ? vm_op_builtin[call->op] :
			    call->commutes ? &op_commutes :
					     &op_not;
		proxy->recv.type = type_fill(type, call);
	}
	proxy->recv.count = call->count;
	proxy->signature = call->signature;
	if (call->signature)
		proxy->recv.count = call->size;
}

/* Skips the blocks of a call of another kind. */
static void blocks_skip(struct unpack *unpack, uint64_t blocks)
{
	for (; blocks && unpack->sizes; blocks--) {
		size_t whole = aligned(length_of(*unpack->size));

		unpack->sizes--;
		if (*unpack->size++ & DIRECT)
			continue;
		if (whole > unpack->bytes)
			whole = unpack->bytes;
		unpack->data += whole;
		unpack->bytes -= whole;
	}
}

/* Makes the proxy of a member; as send_fill(). */
static bool proxy_make(struct unpack *unpack, uint32_t seat,
		       const struct call *call)
{
	struct vm_coll_view *view = unpack->view;
	struct vm_coll *proxy = &view->proxies[seat];

	proxy_fill(proxy, &view->types[seat], view->any, call, seat,
		   view->meet.size);
	view->sizes[seat] = call->size;
	atomic_store_explicit(&view->meet.seats[seat].args, proxy,
			      memory_order_relaxed);
	if (call->as == view->any->as)
		return send_fill(unpack, proxy, seat, call);
	blocks_skip(unpack, call->blocks);
	return true;
}

static int proxies_fill(struct unpack *unpack, const struct call *calls)
{
	const struct vm_leaders_process *there =
		&unpack->view->leaders->processes[unpack->process];

	for (uint32_t i = 0; i < there->count; i++)
		if (!proxy_make(unpack, there->members[i], &calls[i]))
			return -VMPI_EINVAL;
	return 0;
}

/* Whether a call of a message of so many bytes names what there can be. */
static bool call_valid(const struct call *call, size_t bytes)
{
	return call->op < VM_OP_BUILTINS &&
	       (!call->op || vm_op_builtin[call->op]) &&
	       (!call->type || vm_type_builtin[call->type]) &&
	       call->blocks <= bytes / sizeof(uint64_t);
}

int vm_coll_unpack(struct vm_coll_view *view, int p)
{
	const struct vm_leaders_msg *part = &view->parts[p];
	const struct vm_leaders_process *there = &view->leaders->processes[p];
	struct unpack unpack = { .view = view, .process = p };
	size_t head = calls_bytes(there);
	const struct call *calls;

	if (part->in_bytes < head)
		return -VMPI_EINVAL;
	memcpy(&view->plans[p], part->in, sizeof(view->plans[p]));
	calls = (const struct call *)((char *)part->in + sizeof(view->plan));
	for (uint32_t i = 0; i < there->count; i++) {
		if (!call_valid(&calls[i], part->in_bytes))
			return -VMPI_EINVAL;
		unpack.sizes += calls[i].blocks;
	}
	unpack.size = (const uint64_t *)((const char *)part->in + head);
	head += aligned(unpack.sizes * sizeof(uint64_t));
	if (part->in_bytes < head)
		return -VMPI_EINVAL;
	unpack.data = (char *)part->in + head;
	unpack.bytes = part->in_bytes - head;
	return proxies_fill(&unpack, calls);
}

/* How many blocks a member elsewhere sends to the members here. */
static size_t blocks_from(const struct vm_coll_view *view, uint32_t seat)
{
	const struct vm_coll *any = view->any;
	bool root = seat == (uint32_t)any->root;

	if (!view->plan.packs || any->kind->reduces)
		return 0;
	switch (any->kind->flow) {
	case VM_FLOW_BCAST:
		return root;
	case VM_FLOW_SCATTER:
		return root ? view->here->count : 0;
	case VM_FLOW_GATHER:
		return vm_meet_here(&view->meet, (uint32_t)any->root);
	case VM_FLOW_ALL:
		return 1;
	case VM_FLOW_BLOCKS:
		return view->here->count;
	default:
		return 0;
	}
}

/* Notes what the members here send to a process; false: out of memory. */
static bool blocks_announce(struct vm_coll_view *view, int p)
{
	const struct vm_leaders_process *there = &view->leaders->processes[p];

	for (uint32_t i = 0; i < view->here->count; i++) {
		uint32_t from = view->here->members[i];
		const struct vm_coll *coll = vm_coll_of(&view->meet, from);

		for (uint32_t j = 0; j < there->count; j++) {
			struct vm_coll_block *block;

			if (!sends_to(coll, from, there->members[j]))
				continue;
			block = block_add(&view->going);
			if (!block)
				return false;
			block->process = p;
			block->out = vm_coll_data_for(coll, there->members[j]);
			if (!has_blocks(coll))
				break;
		}
	}
	return true;
}

int vm_coll_foresee(struct vm_coll_view *view, int p, size_t bytes)
{
	const struct vm_leaders_process *there = &view->leaders->processes[p];
	uint64_t size = bytes | DIRECT;
	struct unpack unpack = {
		.view = view, .process = p, .size = &size, .same = true
	};

	view->plans[p] = view->plan;
	if (view->plan.packs && !view->any->kind->reduces &&
	    !blocks_announce(view, p))
		return -VMPI_ENOMEM;
	for (uint32_t i = 0; i < there->count; i++) {
		struct call call = call_of(
			view->any, blocks_from(view, there->members[i]));

		call.in_place &= view->any->kind->swaps;
		if (!view->any->kind->reduces)
			call.size = bytes;
		unpack.sizes = call.blocks;
		if (!proxy_make(&unpack, there->members[i], &call))
			return -VMPI_ENOMEM;
	}
	return 0;
}
