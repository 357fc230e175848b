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

int vm_part_send_init(struct vm_part *part, struct vm_comm *comm)
{
	ptrdiff_t step = (ptrdiff_t)part->type->extent * (ptrdiff_t)part->count;
	struct vm_part_piece *pieces =
		vm_part_pieces_new(part, part->partitions);

	if (!pieces)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < part->partitions; i++) {
		char *at =
			(char *)((uintptr_t)part->buf + (uintptr_t)(i * step));

		pieces[i].data = vm_type_data(part->type, at, part->count);
		vm_layout_hold(pieces[i].data.layout);
	}
	atomic_store_explicit(&part->pieces, pieces, memory_order_release);
	part->intro = (struct vm_part_intro){
		.bytes = part->type->size * part->count,
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
