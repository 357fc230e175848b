/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends.
 *
 * The attached memory is a list of segments in the order of addresses, one per
 * message that is not yet sent; the gaps between them are free.  The thread
 * that completes the send of a segment removes it.
 */
#include "mpi/p2p/bsend.h"

#include <stdlib.h>

#include "mpi/call/check.h"
#include "mpi/call/status.h"
#include "mpi/comm/session.h"
#include "mpi/p2p/request.h"
#include "mpi/p2p/route.h"

/* Lies before the data of its message; part of MPI_BSEND_OVERHEAD. */
struct segment {
	struct vm_list link;
	struct vm_bsend *bsend;
	uint64_t number;
	size_t bytes;	      /* with this header */
	struct vm_req *req;   /* given up; NULL while it is being made */
	struct vm_rank *peer; /* of the message, for reports */
	int tag;
} VM_ALIGNED(16);

/* Waits for the segments below a number. */
struct flush {
	struct vm_list link;
	uint64_t below;
	size_t missing;
	struct vm_req *req;
};

struct vm_bsend {
	char *buffer;
	size_t bytes;
	char *begin, *end; /* the aligned part of it; NULL: automatic */
	/* Guards the rest; threads that complete sends take it too, so nothing
	 * else is locked while it is held. */
	struct vm_lock lock;
	struct vm_list segments, flushes;
	uint64_t next; /* number of the next segment */
};

VM_STATIC_ASSERT(sizeof(struct segment) + 2 * 16 <= MPI_BSEND_OVERHEAD,
		 "a segment needs no more than the overhead");

static char *align_up(char *address)
{
	return (char *)(((uintptr_t)address + 15) & ~(uintptr_t)15);
}

struct vm_bsend *vm_bsend_new(void *buffer, size_t bytes)
{
	struct vm_bsend *bsend = malloc(sizeof(*bsend));

	if (!bsend)
		return NULL;
	*bsend = (struct vm_bsend){ .buffer = buffer };
	vm_lock_init(&bsend->lock);
	vm_list_init(&bsend->segments);
	vm_list_init(&bsend->flushes);
	if (buffer != MPI_BUFFER_AUTOMATIC) {
		bsend->bytes = bytes;
		bsend->begin = align_up(buffer);
		bsend->end = (char *)buffer + bytes;
		if (bsend->begin > bsend->end)
			bsend->begin = bsend->end;
	}
	return bsend;
}

void *vm_bsend_buffer(const struct vm_bsend *bsend, MPI_Count *bytes)
{
	*bytes = (MPI_Count)bsend->bytes;
	return bsend->buffer;
}

struct vm_bsend *vm_bsend_of(struct vm_mpi *mpi, const struct vm_comm *comm)
{
	if (comm && comm->bsend)
		return comm->bsend;
	if (comm && comm->session && comm->session->bsend)
		return comm->session->bsend;
	return mpi->bsend;
}

static bool is_automatic(const struct vm_bsend *bsend)
{
	return bsend->buffer == MPI_BUFFER_AUTOMATIC;
}

/* Finds the first gap of `bytes` bytes and the segment after it; the lock is
 * held. */
static struct segment *gap_find(struct vm_bsend *bsend, size_t bytes,
				struct vm_list **next)
{
	char *gap = bsend->begin;

	vm_list_each(*next, &bsend->segments) {
		struct segment *segment =
			vm_container_of(*next, struct segment, link);

		if ((size_t)((char *)segment - gap) >= bytes)
			return (struct segment *)gap;
		gap = (char *)segment + segment->bytes;
	}
	return (size_t)(bsend->end - gap) < bytes ? NULL :
						    (struct segment *)gap;
}

/* For a message of this tag to peer; NULL: there is no room. */
static struct segment *segment_new(struct vm_bsend *bsend, size_t bytes,
				   struct vm_rank *peer, int tag)
{
	struct segment *segment = NULL;
	struct vm_list *next = &bsend->segments;

	if (is_automatic(bsend)) {
		segment = aligned_alloc(16, bytes);
		if (!segment)
			return NULL;
	}
	vm_lock_take(&bsend->lock);
	if (!segment)
		segment = gap_find(bsend, bytes, &next);
	if (segment) {
		*segment = (struct segment){ .bsend = bsend,
					     .number = bsend->next++,
					     .bytes = bytes,
					     .peer = peer,
					     .tag = tag };
		vm_list_append(next, &segment->link);
	}
	vm_lock_give(&bsend->lock);
	return segment;
}

/* Takes those that wait for nothing but this number off the list; the lock is
 * held. */
static void flushes_count(struct vm_bsend *bsend, uint64_t number,
			  struct vm_list *over)
{
	struct vm_list *link = bsend->flushes.next, *next;

	for (; link != &bsend->flushes; link = next) {
		struct flush *flush = vm_container_of(link, struct flush, link);

		next = link->next;
		if (number >= flush->below || --flush->missing)
			continue;
		vm_list_remove(link);
		vm_list_append(over, link);
	}
}

/* The message has been sent, or never will be.  After the last flush that
 * waited for it the buffer may be gone. */
static void segment_end(struct segment *segment)
{
	struct vm_bsend *bsend = segment->bsend;
	struct vm_list over, *link;

	vm_list_init(&over);
	vm_lock_take(&bsend->lock);
	vm_list_remove(&segment->link);
	flushes_count(bsend, segment->number, &over);
	if (is_automatic(bsend))
		free(segment);
	vm_lock_give(&bsend->lock);
	while ((link = vm_list_pop(&over)) != NULL)
		vm_req_complete(vm_container_of(link, struct flush, link)->req);
}

static void segment_sent(struct vm_req *req)
{
	segment_end(req->user);
}

int vm_bsend(struct vm_bsend *bsend, struct vm_rank *peer, struct vm_env env,
	     const struct vm_data *data)
{
	size_t bytes = sizeof(struct segment) + ((data->bytes + 15) & ~15ul);
	struct segment *segment;
	struct vm_data packed;
	struct vm_req *req;
	int rc;

	if (!peer)
		return 0;
	segment = bsend ? segment_new(bsend, bytes, peer, env.tag) : NULL;
	if (!segment)
		return MPI_ERR_BUFFER;
	packed = vm_data_bytes(segment + 1, data->bytes);
	vm_data_copy_slow(&packed, data);
	rc = vm_isend(peer, env, &packed, VM_SEND_STANDARD, &req);
	if (rc != 0 || req == &vm_req_done_send) {
		segment_end(segment);
		return rc;
	}
	segment->req = req;
	req->user = segment;
	req->on_free = segment_sent;
	vm_req_detach(req);
	return 0;
}

/* Enters the flush, unless there is nothing to wait for.  What it waits for, as
 * reports tell it, is the oldest message. */
static void flush_enter(struct vm_bsend *bsend, struct flush *flush)
{
	const struct segment *oldest = NULL;
	struct vm_list *link;

	vm_lock_take(&bsend->lock);
	flush->below = bsend->next;
	vm_list_each(link, &bsend->segments) {
		const struct segment *segment =
			vm_container_of(link, struct segment, link);

		flush->missing++;
		if (!oldest || segment->number < oldest->number)
			oldest = segment;
	}
	if (oldest) {
		flush->req->rank = oldest->peer;
		flush->req->status.tag = oldest->tag;
		flush->req->data.bytes = oldest->bytes - sizeof(*oldest);
		vm_list_append(&bsend->flushes, &flush->link);
	}
	vm_lock_give(&bsend->lock);
	if (!oldest)
		vm_req_complete(flush->req);
}

static void flush_free(struct vm_req *req)
{
	free(req->user);
}

int vm_bsend_flush(struct vm_bsend *bsend, struct vm_req **out)
{
	struct flush *flush = calloc(1, sizeof(*flush));
	struct vm_req *req = flush ? vm_req_new(VM_REQ_SEND) : NULL;

	if (!req) {
		free(flush);
		return MPI_ERR_NO_MEM;
	}
	req->node.env = (struct vm_env){ 0 };
	req->data = (struct vm_data){ 0 };
	req->rndv_send = 0;
	req->status = vm_status_empty;
	req->user = flush;
	req->on_free = flush_free;
	flush->req = req;
	*out = req;
	flush_enter(bsend, flush);
	return 0;
}

int vm_bsend_end(struct vm_bsend **slot)
{
	struct vm_req *req;
	int rc;

	if (!*slot)
		return 0;
	rc = vm_bsend_flush(*slot, &req);
	if (rc != 0)
		return rc;
	vm_req_await(&req, 1, 1);
	vm_req_finish(req, NULL);
	free(*slot);
	*slot = NULL;
	return 0;
}

static int abandon_one(struct vm_bsend **slot)
{
	struct vm_bsend *bsend = *slot;
	struct vm_list *link, *next;

	if (!bsend)
		return 0;
	vm_lock_take(&bsend->lock);
	for (link = bsend->segments.next; link != &bsend->segments;
	     link = next) {
		struct segment *segment =
			vm_container_of(link, struct segment, link);

		next = link->next;
		/* Another thread that has just completed it waits for the
		 * lock. */
		if (!vm_req_reclaim(segment->req))
			continue;
		vm_list_remove(link);
		segment->req->on_free = NULL;
		vm_req_detach(segment->req);
		if (is_automatic(bsend))
			free(segment);
	}
	vm_lock_give(&bsend->lock);
	while (vm_bsend_end(slot) != 0)
		vm_req_poll();
	return 0;
}

/* Calls a function for the buffers of the rank and of all communicators, until
 * one fails. */
static int each(struct vm_mpi *mpi, int (*end)(struct vm_bsend **slot))
{
	struct vm_list *link;
	int rc = end(&mpi->bsend);

	if (rc == 0)
		rc = end(&mpi->world.bsend);
	if (rc == 0)
		rc = end(&mpi->self.bsend);
	/* No communicators are made or freed any more. */
	vm_list_each(link, &mpi->alive[VM_OBJECT_COMM])
		if (rc == 0)
			rc = end(&vm_container_of(link, struct vm_comm,
						  object.link)
					  ->bsend);
	return rc;
}

int vm_bsend_end_all(struct vm_mpi *mpi)
{
	return each(mpi, vm_bsend_end);
}

void vm_bsend_abandon(struct vm_mpi *mpi)
{
	each(mpi, abandon_one);
}

int vm_bsend_call(struct vm_call *call, const void *buf, MPI_Count count,
		  MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	struct vm_route route;
	int rc = vm_route_send(call, &route, buf, count, type, dest, tag, comm);
	struct vm_bsend *bsend;

	if (rc != 0)
		return rc;
	bsend = vm_bsend_of(call->mpi, vm_comm_in(call->mpi, comm));
	rc = vm_bsend(bsend, route.peer, route.env, &route.data);
	if (rc == MPI_ERR_BUFFER)
		vm_error(call, rc, "no room for %zu bytes in %s",
			 route.data.bytes,
			 bsend ? "the attached buffer" :
				 "a buffer, since none is attached");
	return rc;
}
