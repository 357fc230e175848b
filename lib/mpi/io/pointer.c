/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared file pointers, and the calls that set and get them.
 */
#include "mpi/io/pointer.h"

#include "mpi/call/errh.h"
#include "mpi/io/access.h"
#include "mpi/io/agree.h"
#include "mpi/io/disk.h"

/* A member's call in which all move the pointer. */
struct order {
	struct vm_coll coll; /* first: meetings know this */
	MPI_Offset before; /* that the members before it move the pointer by */
	MPI_Offset total;  /* and all of them */
	MPI_Offset base;   /* where it was */
};

/* What it brings. */
struct move {
	MPI_Offset more, base;
	int error;
};

static const struct move *move_of(const struct vm_meet *meet, size_t i)
{
	return vm_comm_coll_brought(vm_coll_of(meet, i));
}

static void order_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		       size_t last)
{
	MPI_Offset total = 0;

	for (size_t i = 0; i < meet->size; i++) {
		struct order *order = (struct order *)vm_coll_of(meet, i);

		if (order->coll.owner)
			order->before = total;
		total += move_of(meet, i)->more;
	}
	for (size_t i = 0; i < meet->size; i++)
		if (vm_coll_of(meet, i)->owner)
			((struct order *)vm_coll_of(meet, i))->total = total;
}

/* Member 0 says where the pointer was. */
static void base_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		      size_t last)
{
	const struct move *move = move_of(meet, 0);

	for (size_t i = 0; i < meet->size; i++) {
		struct order *order = (struct order *)vm_coll_of(meet, i);

		if (move->error)
			vm_coll_fail(&order->coll, move->error,
				     "the shared file pointer is out of reach");
		else if (order->coll.owner)
			order->base = move->base;
	}
}

static const struct vm_coll_kind kind_order = {
	.part = order_part,
	.work = vm_comm_coll_work,
	.whole = true,
	.plain = true,
	.flow = VM_FLOW_ALL,
};
static const struct vm_coll_kind kind_base = {
	.part = base_part,
	.work = vm_comm_coll_work,
	.whole = true,
	.plain = true,
	.flow = VM_FLOW_ALL,
};

static int meet(struct vm_call *call, enum vm_call_id as, struct vm_file *file,
		struct order *order, const struct vm_coll_kind *kind,
		const struct move *move)
{
	vm_comm_coll_init(&order->coll, kind, call, &file->comm, move,
			  sizeof(*move));
	order->coll.as = (uint16_t)as;
	return vm_coll_run(call, &order->coll);
}

/* A call on the window says that the rank is in it. */
static int window_end(struct vm_call *call, int rc)
{
	vm_wait_in(vm_self, VM_CALL_MPI_FIRST + call->id);
	if (rc != MPI_SUCCESS)
		return vm_error(call, vm_error_class(rc),
				"the shared file pointer is out of reach");
	return 0;
}

int vm_pointer_init(struct vm_call *call, struct vm_file *file, MPI_Comm comm,
		    MPI_Offset first)
{
	MPI_Aint bytes = file->comm.rank == 0 ? sizeof(MPI_Offset) : 0;
	MPI_Offset *memory;
	int rc;

	if (file->disk->alone) {
		atomic_store_explicit(&file->disk->shared, first,
				      memory_order_relaxed);
		return 0;
	}
	rc = PMPI_Win_allocate(bytes, sizeof(MPI_Offset), MPI_INFO_NULL, comm,
			       &memory, &file->pointer);
	if (rc != MPI_SUCCESS)
		return window_end(call, rc);
	PMPI_Win_set_errhandler(file->pointer, MPI_ERRORS_RETURN);
	if (bytes)
		*memory = first;
	return window_end(call,
			  PMPI_Win_lock_all(MPI_MODE_NOCHECK, file->pointer));
}

void vm_pointer_fini(struct vm_call *call, struct vm_file *file)
{
	if (file->disk->alone)
		return;
	PMPI_Win_unlock_all(file->pointer);
	window_end(call, PMPI_Win_free(&file->pointer));
}

static int window_fetch(struct vm_call *call, struct vm_file *file,
			MPI_Offset with, MPI_Op op, MPI_Offset *before)
{
	int rc = PMPI_Fetch_and_op(&with, before, MPI_OFFSET, 0, 0, op,
				   file->pointer);

	if (rc == MPI_SUCCESS)
		rc = PMPI_Win_flush(0, file->pointer);
	return window_end(call, rc);
}

int vm_pointer_move(struct vm_call *call, struct vm_file *file, MPI_Offset more,
		    MPI_Offset *before)
{
	if (!file->disk->alone)
		return window_fetch(call, file, more, MPI_SUM, before);
	*before = atomic_fetch_add_explicit(&file->disk->shared, more,
					    memory_order_relaxed);
	return 0;
}

int vm_pointer_set(struct vm_call *call, struct vm_file *file, MPI_Offset to)
{
	MPI_Offset before;

	if (!file->disk->alone)
		return window_fetch(call, file, to, MPI_REPLACE, &before);
	atomic_store_explicit(&file->disk->shared, to, memory_order_relaxed);
	return 0;
}

int vm_pointer_order(struct vm_call *call, enum vm_call_id as,
		     struct vm_file *file, MPI_Offset more, int rc,
		     MPI_Offset *before)
{
	struct order order = { .base = 0 };
	struct move move = { .more = more };
	int met;

	vm_file_turns_wait(file);
	met = meet(call, as, file, &order, &kind_order, &move);
	if (met == 0 && file->comm.rank == 0)
		move.error =
			vm_pointer_move(call, file, order.total, &move.base);
	if (met == 0)
		met = meet(call, as, file, &order, &kind_base, &move);
	*before = order.base + order.before;
	return rc ? rc : met;
}

/* Member 0 sets the pointer, between two agreements. */
static int seek(struct vm_call *call, struct vm_file *file, MPI_Offset offset,
		int whence)
{
	MPI_Offset current, to;
	int rc = vm_pointer_move(call, file, 0, &current);

	if (rc == 0)
		rc = vm_file_seek(call, file, current, offset, whence, &to);
	return rc ? rc : vm_pointer_set(call, file, to);
}

int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_seek_shared);
	struct vm_file *file;
	int rc = vm_check_file(&call, fh, &file);

	if (rc != 0)
		return vm_file_exit(&call, fh, rc);
	rc = vm_check_file_seeks(&call, file);
	rc = vm_io_agree(&call, file, offset, "offset", rc);
	if (rc == 0)
		rc = vm_io_agree(&call, file, whence, "whence", rc);
	if (rc != 0)
		return vm_file_exit(&call, fh, rc);
	if (file->comm.rank == 0)
		rc = seek(&call, file, offset, whence);
	rc = vm_io_agree(&call, file, 0, "nothing", rc);
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_get_position_shared);
	struct vm_file *file;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_check_file_seeks(&call, file);
	if (rc == 0)
		rc = vm_check_pointer(&call, offset, "offset");
	if (rc == 0)
		rc = vm_pointer_move(&call, file, 0, offset);
	return vm_file_exit(&call, fh, rc);
}
