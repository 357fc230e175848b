/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours, blocks and messages of neighbourhood collectives.
 */
#include "mpi/topo/neighbor.h"

#include "core/comm/p2p.h"
#include "mpi/call/check.h"
#include "mpi/comm/comm.h"
#include "mpi/topo/graph.h"
#include "mpi/p2p/joined.h"
#include "mpi/p2p/typed.h"
#include "mpi/topo/cart.h"

/* The tag: the number of the call, and where the block arrives. */
#define SLOT_BITS 10
VM_STATIC_ASSERT(((VM_COLL_TAG_MAX + 1) & VM_COLL_TAG_MAX) == 0,
		 "tags of collectives are bits");

static int in_count(const struct vm_comm *comm)
{
	return comm->topo ? 2 * comm->topo->count : comm->graph->in.count;
}

static int out_count(const struct vm_comm *comm)
{
	return comm->topo ? 2 * comm->topo->count : comm->graph->out.count;
}

void vm_nbr_counts(const struct vm_comm *comm, int *in, int *out)
{
	*in = in_count(comm);
	*out = out_count(comm);
}

/* In a grid neighbour 2 * d is the lower one in dimension d, the next one the
 * upper. */
static int in_rank(const struct vm_comm *comm, int j)
{
	return comm->topo ? vm_topo_shift(comm, j / 2, j % 2 ? 1 : -1) :
			    comm->graph->in.ranks[j];
}

static int out_rank(const struct vm_comm *comm, int j)
{
	return comm->topo ? vm_topo_shift(comm, j / 2, j % 2 ? 1 : -1) :
			    comm->graph->out.ranks[j];
}

/* Returns the envelope of a block; slot is the block's index at the
 * receiver. */
static struct vm_env envelope(const struct vm_comm *comm, uint32_t sequence,
			      int source, int slot)
{
	uint32_t tag =
		(sequence << SLOT_BITS) |
		((uint32_t)(comm->topo ? slot : 0) & ((1u << SLOT_BITS) - 1));

	return (struct vm_env){ .context = comm->context + 1,
				.source = source,
				.tag = (int32_t)(tag & VM_COLL_TAG_MAX) };
}

static const char *at(const void *buf, ptrdiff_t offset)
{
	return (const char *)((uintptr_t)buf + (uintptr_t)offset);
}

static size_t block_count(const struct vm_nbr_side *side, int j)
{
	return (size_t)(side->counts.array ?
				vm_ints_get(side->counts, (size_t)j) :
				side->count);
}

/* Without elements the type may be any, even MPI_DATATYPE_NULL. */
static struct vm_type *block_type(const struct vm_nbr_side *side, int j)
{
	if (!side->types)
		return (struct vm_type *)(uintptr_t)side->type;
	return vm_type_checked(side->types[j]);
}

static struct vm_data block(const struct vm_nbr_side *side, int j)
{
	const struct vm_type *type = block_type(side, j);
	size_t count = block_count(side, j);
	ptrdiff_t before;

	if (side->types && count == 0)
		return (struct vm_data){ 0 };
	if (side->types)
		before = vm_ints_get(side->displs, (size_t)j);
	else if (side->counts.array)
		before = vm_ints_get(side->displs, (size_t)j) * type->extent;
	else
		before = (side->same ? 0 : j) * (ptrdiff_t)count * type->extent;
	return vm_type_data(type, at(side->buf, before), count);
}

int vm_nbr_open(struct vm_call *call, struct vm_nbr *nbr, MPI_Comm handle)
{
	int rc = vm_check_intra(call, handle, &nbr->comm);

	if (rc == 0 && !nbr->comm->topo && !nbr->comm->graph)
		rc = vm_error(call, MPI_ERR_TOPOLOGY,
			      "the communicator has no topology");
	return rc;
}

/* The counts and types of several blocks. */
static int check_blocks(struct vm_call *call, const struct vm_nbr_side *side,
			int blocks)
{
	const struct vm_type *type = side->type;
	struct vm_type *own;
	int rc = vm_check_pointer(call, side->counts.array,
				  "the array of counts");

	if (rc == 0)
		rc = vm_check_pointer(call, side->displs.array,
				      "the array of displacements");
	for (int j = 0; j < blocks && rc == 0; j++) {
		MPI_Count count = vm_ints_get(side->counts, (size_t)j);

		rc = vm_check_size(call, count, "count");
		if (rc == 0 && side->types && count > 0)
			rc = vm_check_committed(call, side->types[j], &own);
		if (rc == 0 && count > 0)
			rc = vm_check_bytes(call, side->types ? own : type,
					    count, blocks);
	}
	return rc;
}

static int check_side(struct vm_call *call, struct vm_nbr_side *side,
		      MPI_Datatype handle, int blocks, bool many)
{
	struct vm_type *type = NULL;
	int rc = 0;

	if (!side->types) {
		bool any = many ? handle != MPI_DATATYPE_NULL ||
					   !side->counts.array ||
					   vm_ints_any(side->counts, blocks) :
				  side->count != 0;

		rc = vm_check_type_of(call, handle, any, &type);
		side->type = type;
	}
	if (rc == 0 && many && blocks > 0)
		rc = check_blocks(call, side, blocks);
	if (rc == 0 && !many)
		rc = vm_check_size(call, side->count, "count");
	if (rc == 0 && !many && blocks > 0)
		rc = vm_check_bytes(call, type, side->count, blocks);
	if (rc == 0 && side->buf == MPI_IN_PLACE)
		rc = vm_error(call, MPI_ERR_BUFFER,
			      "MPI_IN_PLACE is not allowed here");
	if (rc == 0 && !many && blocks > 0)
		rc = vm_check_buffer(call, side->buf, side->count, handle);
	return rc;
}

int vm_nbr_send(struct vm_call *call, struct vm_nbr *nbr,
		const struct vm_nbr_side *side, MPI_Datatype type)
{
	nbr->send = *side;
	return vm_error_of_side(call,
				check_side(call, &nbr->send, type,
					   out_count(nbr->comm),
					   side->counts.array || side->types ||
						   side->displs.array),
				true);
}

int vm_nbr_recv(struct vm_call *call, struct vm_nbr *nbr,
		const struct vm_nbr_side *side, MPI_Datatype type)
{
	nbr->recv = *side;
	return vm_error_of_side(call,
				check_side(call, &nbr->recv, type,
					   in_count(nbr->comm),
					   side->counts.array || side->types ||
						   side->displs.array),
				false);
}

static int start_receives(struct vm_nbr *nbr, uint32_t sequence,
			  struct vm_joined *joined)
{
	const struct vm_comm *comm = nbr->comm;
	int rc = 0;

	for (int j = 0; j < in_count(comm) && rc == 0; j++) {
		struct vm_data data;
		struct vm_req *req;
		int rank = in_rank(comm, j);

		if (rank == MPI_PROC_NULL)
			continue;
		data = block(&nbr->recv, j);
		rc = vm_irecv(envelope(comm, sequence, rank, j), &data, &req);
		if (rc == 0 && data.bytes)
			rc = vm_typed_receive(req, block_type(&nbr->recv, j),
					      block_count(&nbr->recv, j));
		if (rc == 0)
			vm_joined_add(joined, req);
	}
	return rc;
}

static int start_sends(struct vm_nbr *nbr, uint32_t sequence,
		       struct vm_joined *joined)
{
	const struct vm_comm *comm = nbr->comm;
	int rc = 0;

	for (int j = 0; j < out_count(comm) && rc == 0; j++) {
		struct vm_data data;
		struct vm_req *req;
		int rank = out_rank(comm, j);

		if (rank == MPI_PROC_NULL)
			continue;
		data = block(&nbr->send, j);
		if (data.bytes)
			vm_typed_send(block_type(&nbr->send, j),
				      block_count(&nbr->send, j));
		/* To the lower neighbour: it comes from its upper one. */
		rc = vm_isend(comm->ranks[rank],
			      envelope(comm, sequence, comm->rank, j ^ 1),
			      &data, VM_SEND_STANDARD, &req);
		if (rc == 0)
			vm_joined_add(joined, req);
	}
	return rc;
}

int vm_nbr_start(struct vm_nbr *nbr, struct vm_joined **out)
{
	struct vm_comm *comm = nbr->comm;
	uint32_t sequence = comm->nbr_sequence++;
	struct vm_joined *joined =
		vm_joined_new(comm->context, in_count(comm) + out_count(comm));
	int rc;

	if (!joined)
		return MPI_ERR_NO_MEM;
	rc = start_receives(nbr, sequence, joined);
	if (rc == 0)
		rc = start_sends(nbr, sequence, joined);
	if (rc == 0)
		*out = joined;
	else
		vm_joined_give_up(joined);
	return rc;
}
