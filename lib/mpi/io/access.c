/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to the data of a file.
 */
#include "mpi/io/access.h"

#include "mpi/call/status.h"
#include "mpi/io/disk.h"
#include "mpi/io/move.h"
#include "mpi/io/range.h"

/* An access whose arguments were checked. */
struct access {
	struct vm_file *file;
	struct vm_data data;
	MPI_Offset first; /* byte of the view */
	bool write;
	size_t moved;
};

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
		     bool write)
{
	int rc = vm_check_file_seeks(call, file);

	if (rc == 0 && write)
		rc = vm_check_file_writes(call, file);
	if (rc == 0 && !write && (file->amode & MPI_MODE_WRONLY))
		rc = vm_error(call, MPI_ERR_ACCESS,
			      "the file was opened with MPI_MODE_WRONLY");
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

static int access_init(struct vm_call *call, struct access *access,
		       const struct vm_io_args *args)
{
	struct vm_file *file;
	int rc = vm_check_file(call, args->handle, &file);

	if (rc == 0)
		rc = check_way(call, file, args->write);
	if (rc == 0)
		rc = vm_check_size(call, args->count, "count");
	if (rc == 0)
		rc = vm_check_buffer(call, args->buf, args->count,
				     args->datatype);
	if (rc != 0)
		return rc;
	*access = (struct access){
		.file = file,
		.data = vm_type_data(vm_type_get(args->datatype), args->buf,
				     (size_t)args->count),
		.write = args->write,
	};
	rc = check_etypes(call, file, access->data.bytes);
	if (rc != 0)
		return rc;
	if (args->start == VM_IO_AT)
		return vm_check_offset(call, file, args->offset,
				       access->data.bytes, &access->first);
	return own_take(call, file, access->data.bytes, &access->first);
}

/* What the bytes between its own may be used for. */
static bool may_sieve(const struct access *access)
{
	const struct vm_file *file = access->file;

	if (!access->write)
		return file->hints.ds_read != VM_IO_DISABLE;
	return file->hints.ds_write != VM_IO_DISABLE &&
	       atomic_load_explicit(&file->disk->sieves, memory_order_relaxed);
}

/* In atomic mode nobody else is between the first and the last byte. */
static int lock_all(struct vm_move *move, struct vm_range *range,
		    const struct access *access)
{
	const struct vm_view *view = &access->file->view;
	MPI_Offset last = access->first + (MPI_Offset)access->data.bytes - 1;

	*range = (struct vm_range){
		.first = vm_view_place(view, access->first),
		.end = vm_view_place(view, last) + 1,
		.alone = access->write,
	};
	/* The whole file, if it goes forth and back. */
	if (!view->sorted) {
		range->first = 0;
		range->end = INT64_MAX;
	}
	move->locked = true;
	return vm_range_take(access->file->disk, range);
}

/* Moves the data: 0 or an errno. */
static int access_do(struct access *access)
{
	const struct vm_io_hints *hints = &access->file->hints;
	bool atomic = access->file->atomic;
	struct vm_range range;
	struct vm_move move = {
		.disk = access->file->disk,
		.write = access->write,
		.sieve = may_sieve(access),
		.buffer_bytes = (size_t)(access->write ? hints->write_buffer :
							 hints->read_buffer),
	};
	int error = 0;

	if (!access->data.bytes)
		return 0;
	vm_walk_init(&move.walk, &access->file->view, access->first,
		     access->data.bytes);
	vm_cursor_init(&move.memory, &access->data);
	if (atomic)
		error = lock_all(&move, &range, access);
	if (error)
		return error;
	error = vm_move_all(&move);
	access->moved = move.moved;
	if (atomic)
		vm_range_give(access->file->disk, &range);
	return error;
}

int vm_io_now(struct vm_call *call, const struct vm_io_args *args,
	      MPI_Status *status)
{
	struct access access;
	int error, rc = access_init(call, &access, args);

	if (rc != 0)
		return vm_file_exit(call, args->handle, rc);
	error = access_do(&access);
	if (error)
		rc = vm_disk_fail(call, error, args->write ? "write" : "read");
	/* Also of an access that failed. */
	if (status != MPI_STATUS_IGNORE) {
		vm_status_set_bytes(status, access.moved);
		vm_status_set_cancelled(status, false);
	}
	return vm_file_exit(call, args->handle, rc);
}
