/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sending side: a partition goes as soon as it is ready, whether or not the
 * receiver has started, or made its request.
 */
#include <stdlib.h>

#include "mpi/call/status.h"
#include "mpi/p2p/request.h"
#include "mpi/part/part.h"

static void intro_sent(struct vm_req *req)
{
	free(req->user);
}

/* Sends the introduction, of which the message has a copy. */
static int intro_send(const struct vm_part *part)
{
	struct vm_part_intro *intro = malloc(sizeof(*intro));
	struct vm_data data = vm_data_bytes(intro, sizeof(*intro));
	struct vm_req *req;
	int rc;

	if (!intro)
		return MPI_ERR_NO_MEM;
	*intro = part->intro;
	rc = vm_isend(part->peer, part->env, &data, VM_SEND_STANDARD, &req);
	if (rc != 0 || req == &vm_req_done_send) {
		free(intro);
		return rc;
	}
	req->user = intro;
	req->on_free = intro_sent;
	vm_req_detach(req);
	return 0;
}

/* Sets where each piece is: 0 or MPI_ERR_NO_MEM. */
static int pieces_place(const struct vm_part *part,
			struct vm_part_piece *pieces)
{
	struct vm_data all = vm_type_data(part->type, part->buf, part->count);
	size_t each = part->count / (size_t)part->partitions;
	ptrdiff_t step = (ptrdiff_t)part->type->extent * (ptrdiff_t)each;
	struct vm_cursor cursor;

	vm_cursor_init(&cursor, &all);
	for (int i = 0; i < part->partitions; i++) {
		char *at =
			(char *)((uintptr_t)part->buf + (uintptr_t)(i * step));

		if (part->bytes == part->type->size * each) {
			pieces[i].data = vm_type_data(part->type, at, each);
			vm_layout_hold(pieces[i].data.layout);
			continue;
		}
		pieces[i].data = vm_part_slice(&cursor, part->buf, part->bytes);
		if (!pieces[i].data.layout)
			return MPI_ERR_NO_MEM;
	}
	return 0;
}

int vm_part_send_init(struct vm_part *part, struct vm_comm *comm)
{
	struct vm_part_piece *pieces =
		vm_part_pieces_new(part, part->partitions);

	if (!pieces)
		return MPI_ERR_NO_MEM;
	if (part->partitions && pieces_place(part, pieces) != 0) {
		vm_part_pieces_free(pieces, part->partitions);
		return MPI_ERR_NO_MEM;
	}
	atomic_store_explicit(&part->pieces, pieces, memory_order_release);
	part->intro = (struct vm_part_intro){
		.bytes = part->bytes,
		.partitions = part->partitions,
		.tag = atomic_fetch_add_explicit(&comm->part_tags,
						 (uint32_t)part->partitions,
						 memory_order_relaxed),
	};
	return intro_send(part);
}

int vm_part_send_start(struct vm_req *req, struct vm_persist *persist)
{
	struct vm_part *part = (struct vm_part *)persist;
	struct vm_part_piece *pieces =
		atomic_load_explicit(&part->pieces, memory_order_relaxed);

	for (int i = 0; i < part->partitions; i++)
		atomic_store_explicit(&pieces[i].ready, false,
				      memory_order_relaxed);
	atomic_store_explicit(&part->missing, (size_t)part->partitions + 1,
			      memory_order_relaxed);
	vm_part_begin(part);
	vm_part_count(part, 0);
	return 0;
}

void vm_part_send_piece(struct vm_part *part, int i)
{
	struct vm_part_piece *piece =
		atomic_load_explicit(&part->pieces, memory_order_relaxed) + i;
	struct vm_req *req;
	int rc = vm_isend(part->peer, vm_part_piece_env(part, i), &piece->data,
			  VM_SEND_STANDARD, &req);

	if (rc != 0 || req == &vm_req_done_send)
		vm_part_piece_end(piece, rc);
	else
		vm_part_piece_watch(piece, req);
}
