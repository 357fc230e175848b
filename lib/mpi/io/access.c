/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to the data of a file.
 */
#include "mpi/io/access.h"

#include <errno.h>

#include "mpi/call/status.h"
#include "mpi/io/collect.h"
#include "mpi/io/datarep.h"
#include "mpi/io/disk.h"
#include "mpi/io/move.h"
#include "mpi/io/pointer.h"
#include "mpi/io/range.h"

/* How much is converted at a time. */
#define BUFFER_BYTES (1 << 20)

int vm_check_offset(struct vm_call *call, const struct vm_file *file,
		    MPI_Offset offset, size_t bytes, MPI_Offset *byte)
{
	if (offset < 0)
		return vm_error(call, MPI_ERR_ARG, "offset %lld is negative",
				(long long)offset);
	if (__builtin_mul_overflow(offset, (MPI_Offset)file->view.unit, byte))
		return vm_error(call, MPI_ERR_ARG, "offset %lld is too large",
				(long long)offset);
	return vm_check_stream(call, &file->view, *byte, bytes);
}

/* Checks that the file is open for this. */
static int check_way(struct vm_call *call, const struct vm_file *file,
		     const struct vm_io_args *args)
{
	int rc = 0;

	if (args->start != VM_IO_SHARED)
		rc = vm_check_file_seeks(call, file);
	if (rc == 0 && args->write)
		rc = vm_check_file_writes(call, file);
	if (rc == 0 && !args->write && (file->amode & MPI_MODE_WRONLY))
		rc = vm_error(call, MPI_ERR_ACCESS,
			      "the file was opened with MPI_MODE_WRONLY");
	if (rc == 0 && args->all && file->split.call)
		rc = vm_error(call, MPI_ERR_OTHER,
			      "the file has a split collective access that %s "
			      "began",
			      vm_call_name((enum vm_call_id)file->split.call));
	return rc;
}

/* Checks that it moves whole etypes. */
static int check_etypes(struct vm_call *call, const struct vm_file *file,
			size_t bytes)
{
	if (bytes % file->view.unit == 0)
		return 0;
	return vm_error(call, MPI_ERR_TYPE,
			"%zu bytes are no multiple of the %zu of the view's "
			"etype",
			bytes, file->view.unit);
}

/* Takes the file pointer and moves it behind the access. */
static int own_take(struct vm_call *call, struct vm_file *file, size_t bytes,
		    MPI_Offset *first)
{
	MPI_Offset more = (MPI_Offset)(bytes / file->view.unit);
	MPI_Offset position =
		atomic_load_explicit(&file->position, memory_order_relaxed);
	int rc;

	do {
		rc = vm_check_offset(call, file, position, bytes, first);
		if (rc != 0)
			return rc;
	} while (!atomic_compare_exchange_weak_explicit(
		&file->position, &position, position + more,
		memory_order_relaxed, memory_order_relaxed));
	return 0;
}

/* Where the access begins. */
static int place_take(struct vm_call *call, struct vm_io_op *op,
		      const struct vm_io_args *args)
{
	struct vm_file *file = op->file;
	size_t bytes = op->bytes;
	MPI_Offset more = (MPI_Offset)(bytes / file->view.unit), offset;
	int rc;

	if (args->start == VM_IO_OWN)
		return own_take(call, file, bytes, &op->first);
	if (args->start == VM_IO_AT)
		return vm_check_offset(call, file, args->offset, bytes,
				       &op->first);
	rc = vm_pointer_move(call, file, more, &offset);
	return rc ? rc : vm_check_offset(call, file, offset, bytes, &op->first);
}

/* Checks everything but the place. */
static int op_check(struct vm_call *call, struct vm_io_op *op,
		    const struct vm_io_args *args)
{
	struct vm_file *file = op->file;
	int rc = check_way(call, file, args);

	if (rc == 0)
		rc = vm_check_size(call, args->count, "count");
	if (rc == 0)
		rc = vm_check_buffer(call, args->buf, args->count,
				     args->datatype);
	if (rc != 0)
		return rc;
	op->type = vm_type_of_buffer(args->datatype);
	op->buf = args->buf;
	op->count = (size_t)args->count;
	op->data = vm_type_data(op->type, op->buf, op->count);
	op->bytes = op->data.bytes;
	if (file->view.rep)
		rc = vm_datarep_size(call, file->view.rep, op->type, &op->each);
	if (rc == 0 && file->view.rep &&
	    __builtin_mul_overflow(op->count, op->each, &op->bytes))
		rc = vm_error(call, MPI_ERR_ARG, "more bytes than there are");
	return rc ? rc : check_etypes(call, file, op->bytes);
}

int vm_io_op_init(struct vm_call *call, struct vm_io_op *op,
		  const struct vm_io_args *args)
{
	struct vm_file *file;
	MPI_Offset offset;
	int rc = vm_check_file(call, args->handle, &file);

	*op = (struct vm_io_op){ .file = file, .write = args->write };
	if (rc != 0)
		return rc;
	rc = op_check(call, op, args);
	if (args->start != VM_IO_SHARED || !args->all)
		return rc ? rc : place_take(call, op, args);
	/* In the order of the members, of whom none waits for one with wrong
	 * arguments. */
	rc = vm_pointer_order(call, args->all, file,
			      rc ? 0 :
				   (MPI_Offset)(op->bytes / file->view.unit),
			      rc, &offset);
	return rc ? rc :
		    vm_check_offset(call, file, offset, op->bytes, &op->first);
}

bool vm_io_may_sieve(const struct vm_io_op *op)
{
	const struct vm_file *file = op->file;

	if (!op->write)
		return file->hints.ds_read != VM_IO_DISABLE;
	return file->hints.ds_write != VM_IO_DISABLE &&
	       atomic_load_explicit(&file->disk->sieves, memory_order_relaxed);
}

/* In atomic mode nobody else is between the first and the last byte. */
static int lock_all(struct vm_range *range, const struct vm_io_op *op)
{
	const struct vm_view *view = &op->file->view;
	MPI_Offset last = op->first + (MPI_Offset)op->bytes - 1;

	*range = (struct vm_range){
		.first = vm_view_place(view, op->first),
		.end = vm_view_place(view, last) + 1,
		.alone = op->write,
	};
	/* The whole file, if it goes forth and back. */
	if (!view->sorted) {
		range->first = 0;
		range->end = INT64_MAX;
	}
	return vm_range_take(op->file->disk, range);
}

/* Moves bytes between memory and the stream of the view, from a byte of it on: 0
 * or an errno, and how many were moved. */
static int op_move(const struct vm_io_op *op, const struct vm_data *data,
		   MPI_Offset first, size_t *moved)
{
	const struct vm_io_hints *hints = &op->file->hints;
	struct vm_move move = {
		.disk = op->file->disk,
		.write = op->write,
		.sieve = vm_io_may_sieve(op),
		.locked = op->file->atomic,
		.buffer_bytes = (size_t)(op->write ? hints->write_buffer :
						     hints->read_buffer),
	};
	int error;

	vm_view_walk_init(&move.walk, &op->file->view, first, data->bytes);
	vm_cursor_init(&move.memory, data);
	error = vm_move_all(&move);
	*moved = move.moved;
	return error;
}

/* Converts some elements; true: go on. */
static bool some_convert(struct vm_call *call, struct vm_io_op *op,
			 const struct vm_datarep_part *part)
{
	const struct vm_datarep *rep = op->file->view.rep;
	const struct vm_data data = vm_data_bytes(part->packed, part->bytes);
	struct vm_datarep_part read = *part;
	size_t moved = 0;

	if (op->write)
		op->class = vm_datarep_convert(call, rep, part, true);
	if (op->class)
		return false;
	op->error = op_move(op, &data,
			    op->first + (MPI_Offset)(part->first * op->each),
			    &moved);
	read.count = moved / op->each;
	read.bytes = read.count * op->each;
	if (!op->write && read.count)
		op->class = vm_datarep_convert(call, rep, &read, false);
	op->moved += read.count * op->type->size;
	return !op->class && moved == part->bytes;
}

static void op_convert(struct vm_call *call, struct vm_io_op *op)
{
	struct vm_disk *disk = op->file->disk;
	size_t most = op->each < BUFFER_BYTES ? BUFFER_BYTES / op->each : 1;
	struct vm_datarep_part part = { .buf = op->buf, .type = op->type };

	if (most > op->count)
		most = op->count;
	part.packed = vm_disk_buffer(disk, most * op->each);
	if (!part.packed) {
		op->error = ENOMEM;
		return;
	}
	for (; part.first < op->count; part.first += part.count) {
		part.count = op->count - part.first;
		if (part.count > most)
			part.count = most;
		part.bytes = part.count * op->each;
		if (!some_convert(call, op, &part))
			break;
	}
	vm_disk_buffer_put(disk, part.packed);
}

void vm_io_op_do(struct vm_call *call, struct vm_io_op *op)
{
	bool atomic = op->file->atomic;
	struct vm_range range;

	if (!op->bytes)
		return;
	if (atomic)
		op->error = lock_all(&range, op);
	if (op->error)
		return;
	if (op->file->view.rep)
		op_convert(call, op);
	else
		op->error = op_move(op, &op->data, op->first, &op->moved);
	if (atomic)
		vm_range_give(op->file->disk, &range);
}

int vm_io_op_result(struct vm_call *call, const struct vm_io_op *op,
		    MPI_Status *status)
{
	if (status != MPI_STATUS_IGNORE) {
		vm_status_set_bytes(status, op->moved);
		vm_status_set_cancelled(status, false);
	}
	if (op->class && op->what)
		return vm_error(call, op->class, "%s", op->what);
	if (op->class && !op->file->view.rep)
		return vm_error(call, op->class,
				"processes of the file are gone");
	if (op->class)
		return vm_error(call, op->class,
				"data cannot be converted to \"%s\"",
				op->file->datarep);
	if (!op->error)
		return 0;
	return vm_disk_fail(call, op->error, op->write ? "write" : "read");
}

int vm_io_now(struct vm_call *call, const struct vm_io_args *args,
	      MPI_Status *status)
{
	struct vm_io_op op;
	int rc = vm_io_op_init(call, &op, args);

	if (args->all && op.file)
		vm_file_turns_wait(op.file);
	if (args->all && op.file)
		rc = vm_io_collect(call, args->all, &op, rc);
	else if (rc == 0)
		vm_io_op_do(call, &op);
	if (rc == 0)
		rc = vm_io_op_result(call, &op, status);
	return vm_file_exit(call, args->handle, rc);
}
