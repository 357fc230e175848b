/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes to another process is one block of bytes: a struct call for each
 * member, the sizes of the blocks that these send there, then the blocks
 * themselves, each where any type may begin.
 */
#include "mpi/coll_far.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 16

/* What another process has to know of a member's call. */
struct call {
	uint32_t id;
	int32_t root;
	uint8_t in_place, commutes;
	uint8_t op;	    /* predefined: its handle - MPI_OP_NULL; else 0 */
	uint8_t type, kind; /* predefined: its handle - MPI_DATATYPE_NULL */
	uint8_t spare[3];
	uint64_t count, size; /* of the receiving side */
	int64_t extent;
	uint64_t blocks; /* that it sends to this process */
};

VM_STATIC_ASSERT(sizeof(struct call) % ALIGN == 0, "sizes follow aligned");

static size_t aligned(size_t bytes)
{
	return (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* The place of an operation among the predefined ones; 0: the user's. */
static uint8_t op_number(const struct vm_op *op)
{
	for (unsigned i = 0; op && op->loops && i < VM_OP_BUILTINS; i++)
		if (vm_op_builtin[i] == op)
			return (uint8_t)i;
	return 0;
}

static struct call call_of(const struct vm_coll *coll, size_t blocks)
{
	const struct vm_type *type = coll->recv.type;
	struct call call = { .id = coll->id,
			     .root = coll->root,
			     .in_place = coll->in_place,
			     .commutes = coll->op && coll->op->commutes,
			     .op = op_number(coll->op),
			     .count = coll->recv.count,
			     .blocks = blocks };

	if (coll->kind->reduces && type) {
		call.type = type->builtin ? type->value : 0;
		call.kind = type->kind;
		call.size = type->size;
		call.extent = type->extent;
	}
	return call;
}

/* Whether a member of the channel is on the second side of an
 * intercommunicator. */
static bool is_second(const struct vm_coll *coll, size_t seat)
{
	return coll->first_size && seat >= (size_t)coll->first_size;
}

/* The number of a member among those that the blocks are for. */
static size_t block_of(const struct vm_coll *coll, size_t seat)
{
	return is_second(coll, seat) ? seat - (size_t)coll->first_size : seat;
}

/* Whether what member `from` sends may be for member `to`. */
static bool reaches(const struct vm_coll *coll, size_t from, size_t to)
{
	return !coll->first_size ||
	       is_second(coll, from) != is_second(coll, to);
}

/* The seat of the root that a member names on its own or the other side. */
static size_t root_seat(const struct vm_coll *coll, size_t from)
{
	if (coll->first_size && !is_second(coll, from))
		return (size_t)coll->first_size + (size_t)coll->root;
	return (size_t)coll->root;
}

size_t vm_coll_slice(const struct vm_coll *coll)
{
	size_t limit = (size_t)mpi_cvar.coll_operand_bytes, row;

	/* Parts of others need all elements. */
	if (!coll->kind->reduces || !coll->kind->slices || coll->first_size)
		return 0;
	row = coll->recv.type->size * (size_t)coll->size;
	if (row == 0 || coll->recv.count <= 1 ||
	    coll->recv.count <= limit / row)
		return 0;
	return limit / row ? limit / row : 1;
}

/* Whether this member sends anything to any other. */
static bool sends(const struct vm_coll *coll)
{
	if (vm_coll_slice(coll))
		return false;
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

/* Whether member `from` sends block `to` (or its only one) to member `to`. */
static bool sends_to(const struct vm_coll *coll, size_t from, size_t to)
{
	if (!sends(coll) || !reaches(coll, from, to))
		return false;
	return coll->kind->flow != VM_FLOW_GATHER ||
	       root_seat(coll, from) == to;
}

static bool has_blocks(const struct vm_coll *coll)
{
	return coll->kind->flow == VM_FLOW_SCATTER ||
	       coll->kind->flow == VM_FLOW_BLOCKS;
}

/* What a member sends to member `to`. */
static struct vm_data data_for(const struct vm_coll *coll, size_t to)
{
	const struct vm_blocks *side = &coll->send;
	size_t block = has_blocks(coll) ? block_of(coll, to) : 0;

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

/* Goes through the blocks that a member sends to a process: what visit() needs
 * is in arg.  Returns how many there are. */
static size_t blocks_each(const struct vm_coll *coll, size_t from,
			  const struct vm_far_process *there,
			  void (*visit)(const struct vm_data *data, void *arg),
			  void *arg)
{
	size_t n = 0;

	for (uint32_t i = 0; i < there->count; i++) {
		struct vm_data data;

		if (!sends_to(coll, from, there->members[i]))
			continue;
		n++;
		if (visit) {
			data = data_for(coll, there->members[i]);
			visit(&data, arg);
		}
		if (!has_blocks(coll))
			break;
	}
	return n;
}

/* What goes to one process while it is put together; first it is measured. */
struct pack {
	char *memory; /* NULL: only measured */
	uint64_t *size;
	size_t sizes, at;
};

static void block_measure(const struct vm_data *data, void *arg)
{
	struct pack *pack = arg;

	pack->sizes++;
	pack->at += aligned(data->bytes);
}

static void block_pack(const struct vm_data *data, void *arg)
{
	struct pack *pack = arg;
	struct vm_data to = vm_data_bytes(pack->memory + pack->at, data->bytes);

	*pack->size++ = data->bytes;
	if (data->bytes)
		vm_data_copy_slow(&to, data);
	pack->at += aligned(data->bytes);
}

static size_t calls_bytes(const struct vm_far_process *process)
{
	return process->count * sizeof(struct call);
}

/* Puts together what goes to a process: 0 or -VMPI_ENOMEM. */
static int part_pack(const struct vm_meet *meet,
		     const struct vm_far_process *here,
		     const struct vm_far_process *there,
		     struct vm_far_part *part)
{
	struct pack pack = { 0 };
	struct call *calls;
	size_t head;

	for (uint32_t i = 0; i < here->count; i++) {
		size_t from = here->members[i];

		blocks_each(vm_coll_of(meet, from), from, there, block_measure,
			    &pack);
	}
	head = calls_bytes(here) + aligned(pack.sizes * sizeof(uint64_t));
	part->out_bytes = head + pack.at;
	part->out = pack.memory = calloc(1, part->out_bytes);
	if (!pack.memory)
		return -VMPI_ENOMEM;
	calls = (struct call *)pack.memory;
	pack.size = (uint64_t *)(pack.memory + calls_bytes(here));
	pack.at = head;
	for (uint32_t i = 0; i < here->count; i++) {
		size_t from = here->members[i];
		const struct vm_coll *coll = vm_coll_of(meet, from);
		size_t n = blocks_each(coll, from, there, block_pack, &pack);

		calls[i] = call_of(coll, n);
	}
	return 0;
}

/* Operations of the users of other processes: only one thing is known of them,
 * and they are never applied. */
static const struct vm_op op_commutes = { .commutes = true }, op_not;

/* What has come from a process, while it is taken apart. */
struct unpack {
	const struct vm_far_process *here, *there;
	const struct call *calls;
	const uint64_t *size;
	char *data;
	uint64_t sizes;	     /* that are left */
	size_t bytes;	     /* that are left */
	struct vm_coll *any; /* of a member here */
};

/* The next block; NULL: there is none, which is an error. */
static char *block_next(struct unpack *unpack, size_t *bytes)
{
	char *data = unpack->data;
	size_t whole;

	if (!unpack->sizes--)
		return NULL;
	*bytes = *unpack->size++;
	whole = aligned(*bytes);
	if (*bytes > unpack->bytes || whole > unpack->bytes)
		return NULL;
	unpack->data += whole;
	unpack->bytes -= whole;
	return data;
}

/* Blocks by member, as counts of bytes; false: they make no sense. */
static bool blocks_fill(struct unpack *unpack, struct vm_coll *stand,
			size_t seat, int *counts)
{
	const struct vm_far_process *here = unpack->here;
	int *displs = counts + stand->size;

	stand->send.counts = counts;
	stand->send.displs = displs;
	stand->send.buf = unpack->data;
	for (uint32_t i = 0; i < here->count; i++) {
		size_t to = here->members[i], block, bytes;
		char *data;

		if (!reaches(stand, seat, to))
			continue;
		data = block_next(unpack, &bytes);
		if (!data || bytes > INT_MAX ||
		    data - (char *)stand->send.buf > INT_MAX)
			return false;
		block = block_of(stand, to);
		counts[block] = (int)bytes;
		displs[block] = (int)(data - (char *)stand->send.buf);
	}
	return true;
}

/* The sending side of a stand-in. */
static bool send_fill(struct unpack *unpack, struct vm_coll *stand, size_t seat,
		      const struct call *call)
{
	int *counts;

	stand->send.type = vm_type_get(MPI_BYTE);
	if (!call->blocks)
		return true;
	if (has_blocks(stand)) {
		counts = calloc((size_t)stand->size * 2, sizeof(*counts));
		stand->temp = counts;
		return counts && blocks_fill(unpack, stand, seat, counts);
	}
	stand->send.buf = block_next(unpack, &stand->send.count);
	return stand->send.buf != NULL;
}

/* A type that compares like that of a member elsewhere. */
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

static void stand_fill(struct vm_coll *stand, struct vm_type *type,
		       const struct vm_coll *any, const struct call *call,
		       size_t seat, size_t size)
{
	bool second = is_second(any, seat);
	size_t first_size = (size_t)any->first_size;

	stand->kind = any->kind;
	stand->id = (enum vm_call_id)call->id;
	stand->root = call->root;
	stand->first_size = any->first_size;
	stand->in_place = call->in_place;
	stand->rank = (int)(second ? seat - first_size : seat);
	stand->size = (int)(!first_size ? size :
			    second	? first_size :
					  size - first_size);
	if (any->kind->reduces) {
		stand->op = call->op	   ? vm_op_builtin[call->op] :
			    call->commutes ? &op_commutes :
					     &op_not;
		stand->recv.type = type_fill(type, call);
	}
	stand->recv.count = call->count;
}

/* The stand-ins for the members of one process: 0 or -VMPI_EINVAL. */
static int part_unpack(struct vm_coll_view *view, struct unpack *unpack,
		       const struct vm_far_part *part)
{
	size_t head = calls_bytes(unpack->there);
	const struct call *calls = part->in;
	size_t sizes = 0;

	if (part->in_bytes < head)
		return -VMPI_EINVAL;
	for (uint32_t i = 0; i < unpack->there->count; i++)
		sizes += calls[i].blocks;
	unpack->sizes = sizes;
	unpack->size = (const uint64_t *)((const char *)part->in + head);
	head += aligned(sizes * sizeof(uint64_t));
	if (part->in_bytes < head)
		return -VMPI_EINVAL;
	unpack->data = (char *)part->in + head;
	unpack->bytes = part->in_bytes - head;
	for (uint32_t i = 0; i < unpack->there->count; i++) {
		size_t seat = unpack->there->members[i];
		struct vm_coll *stand = &view->stands[seat];

		stand_fill(stand, &view->types[seat], unpack->any, &calls[i],
			   seat, view->meet.size);
		atomic_store_explicit(&view->meet.seats[seat].args, stand,
				      memory_order_relaxed);
		if (calls[i].id == (uint32_t)unpack->any->id &&
		    !send_fill(unpack, stand, seat, &calls[i]))
			return -VMPI_EINVAL;
		if (calls[i].id != (uint32_t)unpack->any->id)
			for (uint64_t n = 0; n < calls[i].blocks; n++) {
				size_t bytes;

				block_next(unpack, &bytes);
			}
	}
	return 0;
}

/* Packs and exchanges: 0, or an error that all leaders get. */
static int parts_exchange(struct vm_meet *meet, struct vm_far_part *parts)
{
	const struct vm_far *far = meet->far;
	const struct vm_far_process *here = &far->processes[far->self];
	int rc = 0;

	for (int p = 0; p < far->count && rc == 0; p++)
		if (p != far->self)
			rc = part_pack(meet, here, &far->processes[p],
				       &parts[p]);
	if (rc == 0)
		return vm_far_exchange(meet, VM_FAR_COLL, parts);
	/* The others wait for us all the same. */
	vm_far_barrier(meet, VM_FAR_MISMATCH);
	return rc;
}

static int view_alloc(struct vm_coll_view *view, const struct vm_meet *meet)
{
	size_t n = meet->size;

	memset(view, 0, sizeof(*view));
	view->meet.size = meet->size;
	view->meet.seats = aligned_alloc(_Alignof(struct vm_seat),
					 n * sizeof(*view->meet.seats));
	view->stands = calloc(n, sizeof(*view->stands));
	view->types = calloc(n, sizeof(*view->types));
	view->parts = calloc((size_t)meet->far->count, sizeof(*view->parts));
	if (!view->meet.seats || !view->stands || !view->types || !view->parts)
		return -VMPI_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		atomic_init(&view->meet.seats[i].args, vm_meet_args(meet, i));
	return 0;
}

int vm_coll_view_open(struct vm_coll_view *view, struct vm_meet *meet)
{
	const struct vm_far *far = meet->far;
	const struct vm_far_process *here = &far->processes[far->self];
	struct unpack unpack = { .here = here };
	int rc = view_alloc(view, meet);

	if (rc != 0) {
		vm_far_barrier(meet, VM_FAR_MISMATCH);
		return rc;
	}
	rc = parts_exchange(meet, view->parts);
	view->any = unpack.any = vm_coll_of(meet, here->members[0]);
	for (int p = 0; p < far->count && rc == 0; p++) {
		if (p == far->self)
			continue;
		unpack.there = &far->processes[p];
		rc = part_unpack(view, &unpack, &view->parts[p]);
	}
	return rc;
}

/* Whether the bytes of operands are operands already. */
static bool is_plain(const struct vm_type *type)
{
	return type->dense && !type->dense_offset &&
	       type->extent == (MPI_Count)type->size;
}

/* The operands of a stand-in, in memory of their own unless they are plain. */
static int operands_fill(struct vm_coll *stand, const struct vm_coll *like)
{
	const struct vm_type *type = like->recv.type;
	struct vm_data from = vm_data_bytes(stand->send.buf, stand->send.count);
	struct vm_data to;
	ptrdiff_t low;
	size_t bytes;

	stand->op = like->op;
	stand->send.type = type;
	stand->send.count = like->recv.count;
	if (from.addr && !is_plain(type)) {
		bytes = vm_coll_span(type, like->recv.count, &low);
		/* Elements keep their alignment, as in coll_reduce.c. */
		stand->temp = calloc(1, bytes + 128);
		if (!stand->temp)
			return -VMPI_ENOMEM;
		stand->send.buf = vm_at(
			stand->temp, (ptrdiff_t)(-(uintptr_t)stand->temp & 63) +
					     (low & 63) - low);
		to = vm_type_data(type, stand->send.buf, like->recv.count);
		vm_data_copy_slow(&to, &from);
	}
	stand->recv = stand->send;
	return 0;
}

/* The plan of a reduce-scatter is that of a member of the same side. */
static const int *counts_like(const struct vm_coll_view *view, size_t seat)
{
	for (size_t i = 0; i < view->meet.size; i++) {
		const struct vm_coll *coll = vm_coll_of(&view->meet, i);

		if (coll->owner && is_second(coll, i) == is_second(coll, seat))
			return coll->recv.counts;
	}
	return NULL;
}

int vm_coll_view_compute(struct vm_coll_view *view)
{
	const struct vm_coll *like = view->any;
	int rc = 0;

	/* Beside a root there may be some that compute nothing. */
	for (size_t i = 0; i < view->meet.size; i++) {
		const struct vm_coll *coll = vm_coll_of(&view->meet, i);

		if (coll->owner && coll->op)
			like = coll;
	}
	for (size_t i = 0; i < view->meet.size && rc == 0; i++) {
		struct vm_coll *stand = vm_coll_of(&view->meet, i);

		if (stand->owner)
			continue;
		/* It takes nothing. */
		atomic_store_explicit(&stand->error, MPI_ERR_OTHER,
				      memory_order_relaxed);
		stand->in_place = stand->kind->reduces && stand->kind->slices;
		stand->recv.type = stand->send.type;
		stand->recv.count = 0;
		if (stand->kind->flow == VM_FLOW_BCAST)
			stand->recv = stand->send;
		if (!stand->kind->reduces || !like->op)
			continue;
		rc = operands_fill(stand, like);
		if (!stand->kind->slices)
			stand->recv.counts = counts_like(view, i);
	}
	return rc;
}

void vm_coll_view_close(struct vm_coll_view *view, const struct vm_meet *meet)
{
	for (size_t i = 0; view->stands && i < meet->size; i++)
		free(view->stands[i].temp);
	for (int p = 0; view->parts && p < meet->far->count; p++) {
		free((void *)(uintptr_t)view->parts[p].out);
		free(view->parts[p].in);
	}
	free(view->parts);
	free(view->types);
	free(view->stands);
	free(view->meet.seats);
}
