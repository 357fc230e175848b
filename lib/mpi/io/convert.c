/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses whose data have another representation in the file: some elements
 * after the other, through a buffer.
 */
#include "mpi/io/access.h"
#include "mpi/io/datarep.h"
#include "mpi/io/disk.h"

#include <errno.h>

#define BUFFER_BYTES (1 << 20)

/* Some elements; true: go on. */
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
	op->error = vm_io_move(op, &data,
			       op->first + (MPI_Offset)(part->first * op->each),
			       &moved);
	read.count = moved / op->each;
	read.bytes = read.count * op->each;
	if (!op->write && read.count)
		op->class = vm_datarep_convert(call, rep, &read, false);
	op->moved += read.count * op->type->size;
	return !op->class && moved == part->bytes;
}

void vm_io_convert(struct vm_call *call, struct vm_io_op *op)
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
