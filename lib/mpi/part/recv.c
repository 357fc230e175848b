/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiving side: it posts a receive for each partition of the sender once
 * it knows these.  A start that comes before the introduction leaves that to a
 * task.
 */
#include <limits.h>
#include <stdlib.h>

#include "core/comm/cancel.h"
#include "core/local/task.h"
#include "core/rank/rank.h"
#include "mpi/p2p/request.h"
#include "mpi/part/part.h"

int vm_part_recv_init(struct vm_part *part)
{
	struct vm_data data = vm_data_bytes(&part->intro, sizeof(part->intro));

	return vm_irecv(part->env, &data, &part->intro_req);
}

void vm_part_recv_end(struct vm_part *part)
{
	struct vm_req *req = part->intro_req;

	if (!req)
		return;
	vm_req_cancel(req);
	/* Another thread may be copying it now. */
	while (!vm_req_is_done(req))
		vm_cpu_relax();
	vm_req_finish(req, NULL);
	part->intro_req = NULL;
}

/* Where element i of the buffer is. */
static void *at(const struct vm_part *part, size_t i)
{
	ptrdiff_t offset = (ptrdiff_t)i * (ptrdiff_t)part->type->extent;

	return (void *)((uintptr_t)part->buf + (uintptr_t)offset);
}

/* Sets where each piece goes: 0 or MPI_ERR_NO_MEM. */
static int pieces_place(const struct vm_part *part,
			struct vm_part_piece *pieces)
{
	size_t bytes = part->intro.bytes, size = part->type->size;
	struct vm_data all = vm_type_data(part->type, part->buf, part->count);
	struct vm_cursor cursor;

	vm_cursor_init(&cursor, &all);
	for (int i = 0; i < part->intro.partitions; i++) {
		size_t from = (size_t)i * bytes;

		if (!all.layout || !bytes) {
			pieces[i].data =
				vm_data_bytes((char *)all.addr + from, bytes);
		} else if (bytes % size == 0) {
			pieces[i].data = vm_type_data(part->type,
						      at(part, from / size),
						      bytes / size);
			vm_layout_hold(pieces[i].data.layout);
		} else {
			pieces[i].data =
				vm_part_slice(&cursor, part->buf, bytes);
			if (!pieces[i].data.layout)
				return MPI_ERR_NO_MEM;
		}
	}
	return 0;
}

/* Makes the pieces of what the introduction says, which can be less than there
 * is room for, as it can in any other receive. */
static int pieces_make(struct vm_part *part)
{
	size_t room = part->bytes * (size_t)part->partitions;
	size_t comes = part->intro.bytes * (size_t)part->intro.partitions;
	struct vm_part_piece *pieces;
	int rc;

	if (comes > room) {
		vm_status_truncate(&part->req->status, comes, room);
		return -VMPI_ETRUNC;
	}
	part->req->status.bytes = comes;
	pieces = vm_part_pieces_new(part, part->intro.partitions);
	if (!pieces)
		return MPI_ERR_NO_MEM;
	rc = pieces_place(part, pieces);
	if (rc == 0)
		atomic_store_explicit(&part->pieces, pieces,
				      memory_order_release);
	else
		vm_part_pieces_free(pieces, part->intro.partitions);
	return rc;
}

/* Posts the receives of a round.  The round may be over, and the request freed,
 * when this returns. */
static void receive(struct vm_part *part)
{
	struct vm_part_piece *pieces =
		atomic_load_explicit(&part->pieces, memory_order_relaxed);
	int n = part->intro.partitions;

	for (int i = 0; i < n; i++) {
		struct vm_req *req;
		int rc = vm_irecv(vm_part_piece_env(part, i), &pieces[i].data,
				  &req);

		if (rc != 0)
			vm_part_piece_end(&pieces[i], rc);
		else
			vm_part_piece_watch(&pieces[i], req);
	}
	vm_part_count(part, 0);
}

/* Sets how many have to come, when that is known. */
static void expect(struct vm_part *part)
{
	struct vm_part_piece *pieces =
		atomic_load_explicit(&part->pieces, memory_order_relaxed);

	for (int i = 0; i < part->intro.partitions; i++)
		atomic_store_explicit(&pieces[i].done, false,
				      memory_order_relaxed);
	atomic_store_explicit(&part->missing,
			      (size_t)part->intro.partitions + 1,
			      memory_order_relaxed);
}

/* Waits for the introduction and begins the round with it. */
static int receive_main(void *arg)
{
	struct vm_part *part = arg;

	vm_req_await(&part->intro_req, 1, 1);
	part->failed = vm_req_finish(part->intro_req, NULL);
	part->intro_req = NULL;
	if (part->failed == 0)
		part->failed = pieces_make(part);
	if (part->failed != 0) {
		atomic_store_explicit(&part->missing, 1, memory_order_relaxed);
		vm_part_count(part, part->failed);
		return 0;
	}
	expect(part);
	receive(part);
	return 0;
}

int vm_part_recv_start(struct vm_req *req, struct vm_persist *persist)
{
	struct vm_part *part = (struct vm_part *)persist;
	struct vm_ult *task;

	if (part->failed != 0)
		return part->failed;
	if (part->intro_req) {
		bool here = vm_req_is_done(part->intro_req);

		vm_part_begin(part);
		if (!here && vm_task_new(&task, receive_main, part) == 0)
			vm_ult_detach(task);
		else
			receive_main(part);
		return 0;
	}
	expect(part);
	vm_part_begin(part);
	receive(part);
	return 0;
}

/* The piece that a byte of the buffer comes with; what does not come is there
 * when the last one is. */
static size_t piece_at(const struct vm_part *part, size_t byte)
{
	size_t last = (size_t)part->intro.partitions - 1;
	size_t i = part->intro.bytes ? byte / part->intro.bytes : last;

	return i < last ? i : last;
}

bool vm_part_arrived(const struct vm_part *part, int partition)
{
	struct vm_part_piece *pieces =
		atomic_load_explicit(&part->pieces, memory_order_acquire);
	size_t bytes = part->bytes;
	size_t first, last, n;

	if (!pieces)
		return false;
	n = (size_t)part->intro.partitions;
	first = piece_at(part, (size_t)partition * bytes);
	last = piece_at(part, ((size_t)partition + 1) * bytes - 1);
	for (size_t i = first; i <= last && i < n; i++)
		/* Pairs with the store in vm_part_piece_end(). */
		if (!atomic_load_explicit(&pieces[i].done,
					  memory_order_acquire))
			return false;
	return true;
}
