/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of the arguments of collectives.
 */
#include "mpi/joint/args.h"

int vm_coll_root(struct vm_call *call, struct vm_coll *coll, int root)
{
	coll->root = root;
	if (coll->comm->inter && (root == MPI_ROOT || root == MPI_PROC_NULL))
		return 0;
	return vm_check_root(call, coll->comm, root);
}

static int check_count(struct vm_call *call, MPI_Count count, int i)
{
	if (VM_LIKELY(count >= 0))
		return 0;
	if (i < 0)
		return vm_check_size(call, count, "count");
	return vm_error(call, MPI_ERR_COUNT,
			"the count for rank %d is %lld, must not be negative",
			i, (long long)count);
}

static int check_buf(struct vm_call *call, const void *buf,
		     const struct vm_type *type)
{
	if (buf == MPI_IN_PLACE)
		return vm_error(call, MPI_ERR_BUFFER,
				"MPI_IN_PLACE is not allowed here");
	/* MPI_BOTTOM is NULL: right with a type that holds addresses. */
	if (!buf && mpi_cvar.check && type->builtin)
		return vm_error(call, MPI_ERR_BUFFER, "the buffer is NULL");
	return 0;
}

/* Says which side an error is about, where there are two. */
static int side_close(struct vm_call *call, const struct vm_coll *coll,
		      const struct vm_blocks *side, int rc)
{
	if (coll->kind->reduces || coll->kind->flow == VM_FLOW_BCAST)
		return rc;
	return vm_error_of_side(call, rc, side == &coll->send);
}

int vm_coll_side(struct vm_call *call, struct vm_coll *coll,
		 struct vm_blocks *side, const void *buf, MPI_Count count,
		 MPI_Datatype datatype)
{
	struct vm_type *type;
	int rc = vm_check_type_of(call, datatype, count != 0, &type);

	if (rc == 0)
		rc = check_count(call, count, -1);
	if (rc == 0)
		rc = vm_check_bytes(call, type, count, coll->size);
	if (rc == 0 && count > 0)
		rc = check_buf(call, buf, type);
	if (rc == 0) {
		side->buf = buf;
		side->type = type;
		side->count = (size_t)count;
	}
	return side_close(call, coll, side, rc);
}

static int check_arrays(struct vm_call *call, struct vm_ints counts,
			struct vm_ints displs)
{
	if (!counts.array)
		return vm_error(call, MPI_ERR_ARG,
				"the array of counts is NULL");
	if (!displs.array)
		return vm_error(call, MPI_ERR_ARG,
				"the array of displacements is NULL");
	return 0;
}

int vm_coll_side_v(struct vm_call *call, struct vm_coll *coll,
		   struct vm_blocks *side, const void *buf,
		   struct vm_ints counts, struct vm_ints displs,
		   MPI_Datatype datatype)
{
	struct vm_type *type;
	int rc = check_arrays(call, counts, displs);

	if (rc == 0)
		rc = vm_check_type_of(call, datatype,
				      datatype != MPI_DATATYPE_NULL ||
					      vm_ints_any(counts,
							  coll->comm->size),
				      &type);
	for (int i = 0; rc == 0 && i < coll->comm->size; i++) {
		MPI_Count count = vm_ints_get(counts, (size_t)i);

		rc = check_count(call, count, i);
		if (rc == 0)
			rc = vm_check_bytes(call, type, count, coll->size);
		if (rc == 0 && count > 0)
			rc = check_buf(call, buf, type);
	}
	if (rc == 0)
		*side = (struct vm_blocks){ .buf = buf,
					    .type = type,
					    .counts = counts,
					    .displs = displs };
	return side_close(call, coll, side, rc);
}

int vm_coll_side_w(struct vm_call *call, struct vm_coll *coll,
		   struct vm_blocks *side, const void *buf,
		   struct vm_ints counts, struct vm_ints displs,
		   const MPI_Datatype types[])
{
	struct vm_type *type;
	int rc = check_arrays(call, counts, displs);

	if (rc == 0 && !types)
		rc = vm_error(call, MPI_ERR_ARG,
			      "the array of datatypes is NULL");
	for (int i = 0; rc == 0 && i < coll->comm->size; i++) {
		MPI_Count count = vm_ints_get(counts, (size_t)i);

		rc = check_count(call, count, i);
		if (rc != 0 || count == 0)
			continue;
		rc = vm_check_committed(call, types[i], &type);
		if (rc == 0)
			rc = vm_check_bytes(call, type, count, coll->size);
		if (rc == 0)
			rc = check_buf(call, buf, type);
	}
	if (rc == 0)
		*side = (struct vm_blocks){ .buf = buf,
					    .counts = counts,
					    .displs = displs,
					    .types = types };
	return side_close(call, coll, side, rc);
}

/* Rejects a buffer to send that is the one to receive in; both have data.
 * MPI_BOTTOM is no buffer: what matters is in the types. */
static int check_same(struct vm_call *call, const void *buf, size_t bytes)
{
	if (!buf || !bytes || !mpi_cvar.check)
		return 0;
	return vm_error(call, MPI_ERR_BUFFER,
			"sendbuf and recvbuf are the same, MPI_IN_PLACE is "
			"what reads and writes one buffer");
}

int vm_coll_check_same(struct vm_call *call, const struct vm_coll *coll)
{
	const struct vm_blocks *sides[] = { &coll->send, &coll->recv };
	bool many[] = { coll->kind == &vm_coll_scatter ||
				coll->kind == &vm_coll_alltoall,
			coll->kind != &vm_coll_scatter };
	struct vm_data own[2];

	for (int i = 0; i < 2; i++)
		own[i] = vm_blocks_data(sides[i],
					many[i] ? (size_t)coll->rank : 0);
	if (own[0].addr != own[1].addr || !own[1].bytes)
		return 0;
	return check_same(call, own[0].addr, own[0].bytes);
}

/* Returns a hash of the counts. */
static int shares_hash(struct vm_ints counts, int n)
{
	uint64_t hash = 0;

	for (int i = 0; i < n; i++)
		hash = (hash ^ (uint64_t)vm_ints_get(counts, (size_t)i)) *
		       0x9e3779b97f4a7c15u;
	return (int)(hash >> 33);
}

static int too_many(struct vm_call *call)
{
	return vm_error(call, MPI_ERR_COUNT,
			"the sum of the counts is larger than any count");
}

int vm_coll_shares(struct vm_call *call, struct vm_coll *coll,
		   struct vm_ints counts, MPI_Count *total)
{
	int rc = vm_check_pointer(call, counts.array, "recvcounts");

	*total = 0;
	for (int i = 0; rc == 0 && i < coll->comm->local_size; i++) {
		MPI_Count count = vm_ints_get(counts, (size_t)i);

		if (count < 0)
			rc = vm_error(call, MPI_ERR_COUNT,
				      "recvcounts[%d] is %lld, must not be "
				      "negative",
				      i, (long long)count);
		else if (__builtin_add_overflow(*total, count, total))
			rc = too_many(call);
	}
	if (rc != 0)
		return rc;
	coll->recv.counts = counts;
	/* Each side of an intercommunicator has its own. */
	if (!coll->first_size)
		coll->shares = shares_hash(counts, coll->size);
	return 0;
}

int vm_coll_blocks(struct vm_call *call, struct vm_coll *coll, MPI_Count count,
		   MPI_Count *total)
{
	if (__builtin_mul_overflow(count, coll->comm->local_size, total))
		return too_many(call);
	return 0;
}

int vm_coll_operands(struct vm_call *call, struct vm_coll *coll,
		     const void *sendbuf, void *recvbuf, MPI_Count count,
		     MPI_Datatype datatype, MPI_Op op, bool receives)
{
	struct vm_type *type;
	int rc = vm_check_committed(call, datatype, &type);

	if (rc == 0)
		rc = vm_check_op(call, op, type, &coll->op);
	if (rc == 0)
		rc = check_count(call, count, -1);
	if (rc == 0)
		rc = vm_check_bytes(call, type, count, 1);
	if (rc == 0 && count > 0 && receives)
		rc = check_buf(call, recvbuf, type);
	/* MPI_IN_PLACE is only valid for members that receive. */
	if (rc == 0 && receives && vm_coll_in_place(coll, sendbuf))
		sendbuf = recvbuf;
	else if (rc == 0 && count > 0 && vm_coll_is_leaf(coll))
		rc = check_buf(call, sendbuf, type);
	if (rc == 0 && receives && sendbuf == recvbuf && !coll->in_place)
		rc = check_same(call, sendbuf, (size_t)count * type->size);
	if (rc == 0) {
		coll->recv.buf = recvbuf;
		coll->send.buf = sendbuf;
		coll->recv.type = coll->send.type = type;
		coll->recv.count = coll->send.count = (size_t)count;
	}
	return rc;
}
