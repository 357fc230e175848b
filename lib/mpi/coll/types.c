/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types at both ends of each block of a collective.
 */
#include "mpi/coll/types.h"

#include "mpi/type/signature.h"

/* One block: count elements of a type, or what the proxy of a member elsewhere
 * knows of it. */
struct sent_block {
	const struct vm_type *type; /* NULL: a proxy's */
	size_t count, bytes;
	uint32_t signature;
};

static struct sent_block block_of(const struct vm_blocks *blocks, size_t j)
{
	struct sent_block block = { .type = blocks->type,
				    .count = blocks->count };

	if (blocks->counts.array)
		block.count = (size_t)vm_ints_get(blocks->counts, j);
	if (blocks->types && block.count)
		block.type = vm_type_checked(blocks->types[j]);
	if (!block.type || !block.count)
		return (struct sent_block){ 0 };
	block.bytes = block.count * block.type->size;
	block.signature = vm_signature(block.type, block.count);
	return block;
}

/* Returns what a member of this process sends to another. */
static struct sent_block own_block(const struct vm_coll *from, size_t to)
{
	switch (from->kind->flow) {
	case VM_FLOW_BCAST:
		return block_of(&from->recv, 0);
	case VM_FLOW_SCATTER:
		return block_of(&from->send, to);
	case VM_FLOW_BLOCKS:
		return block_of(from->in_place ? &from->recv : &from->send, to);
	default:
		return from->in_place ?
			       block_of(&from->recv, (size_t)from->rank) :
			       block_of(&from->send, 0);
	}
}

static struct sent_block sent(const struct vm_coll *from, size_t to)
{
	bool blocks = from->kind->flow == VM_FLOW_SCATTER ||
		      from->kind->flow == VM_FLOW_BLOCKS;
	const struct vm_data *made = from->send.made;

	if (from->owner)
		return own_block(from, to);
	if (!blocks)
		return (struct sent_block){ .bytes = from->recv.count,
					    .signature = from->signature };
	if (!made)
		return (struct sent_block){ 0 };
	/* Of plain bytes the count means nothing else (pack.c). */
	return (struct sent_block){ .bytes = made[to].bytes,
				    .signature = (uint32_t)made[to].count };
}

uint32_t vm_coll_signature(const struct vm_coll *coll, size_t to)
{
	if (!mpi_cvar.check_types || coll->kind->reduces || coll->first_size ||
	    (coll->kind->flow == VM_FLOW_GATHER && coll->in_place))
		return 0;
	return own_block(coll, to).signature;
}

/* Compares what `from` sends with block i of what `to` receives. */
static void pair_compare(const struct vm_coll *from, struct vm_coll *to,
			 size_t i)
{
	char sends[64], receives[64];
	struct sent_block out, in;

	if (!to->owner)
		return;
	out = sent(from, (size_t)to->rank);
	in = block_of(&to->recv, i);
	/* Another length is an error of its own. */
	if (!in.type || out.bytes != in.bytes ||
	    vm_signature_fits(out.signature, out.bytes, in.type, in.count))
		return;
	vm_signature_words(sends, sizeof(sends), out.signature, out.bytes);
	vm_signature_words(receives, sizeof(receives), in.signature, in.bytes);
	vm_coll_fail(to, MPI_ERR_TYPE, "rank %d sends %s, rank %d receives %s",
		     from->rank, sends, to->rank, receives);
}

/* Operands of a reduction are alike. */
static void operands_compare(struct vm_meet *meet)
{
	const struct vm_coll *first = NULL;

	for (size_t i = 0; i < meet->size; i++) {
		struct vm_coll *coll = vm_coll_of(meet, i);
		char one[48], other[48];
		struct sent_block a, b;

		if (!coll->owner || !coll->recv.type || coll->recv.counts.array)
			continue;
		if (!first)
			first = coll;
		a = block_of(&first->recv, 0);
		b = block_of(&coll->recv, 0);
		if (!a.type || !b.type ||
		    vm_signature_fits(a.signature, a.bytes, b.type, b.count))
			continue;
		vm_signature_words(one, sizeof(one), a.signature, a.bytes);
		vm_signature_words(other, sizeof(other), b.signature, b.bytes);
		vm_coll_fail(coll, MPI_ERR_TYPE,
			     "rank %d reduces %s, rank %d %s", first->rank, one,
			     coll->rank, other);
	}
}

/* Everybody's data, or one of everybody's blocks, to everybody. */
static void all_compare(struct vm_meet *meet)
{
	for (size_t to = 0; to < meet->size; to++)
		for (size_t from = 0; from < meet->size; from++)
			pair_compare(vm_coll_of(meet, from),
				     vm_coll_of(meet, to), from);
}

/* To or from the root. */
static void rooted_compare(struct vm_meet *meet, size_t root)
{
	struct vm_coll *center = vm_coll_of(meet, root);

	for (size_t i = 0; i < meet->size; i++) {
		struct vm_coll *leaf = vm_coll_of(meet, i);

		if (center->kind->gathers && !leaf->in_place)
			pair_compare(leaf, center, i);
		else if (!center->kind->gathers && leaf != center)
			pair_compare(center, leaf, 0);
	}
}

void vm_coll_types_compare(struct vm_meet *meet)
{
	const struct vm_coll *any = vm_coll_of(meet, 0);

	if (!mpi_cvar.check_types || any->first_size ||
	    any->kind->flow == VM_FLOW_NONE)
		return;
	if (any->kind->reduces)
		operands_compare(meet);
	else if (any->kind->rooted)
		rooted_compare(meet, (size_t)any->root);
	else
		all_compare(meet);
}
