/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends.
 *
 * The attached memory is a list of segments in the order of addresses, one per
 * message that is not yet sent; the gaps between them are free.  Segments of
 * messages that have been sent are freed when space is searched for.
 */
#include "mpi/p2p/bsend.h"

#include <stdlib.h>

#include "mpi/call/check.h"
#include "mpi/p2p/request.h"
#include "mpi/p2p/route.h"

/* Lies before the data of its message; part of MPI_BSEND_OVERHEAD. */
struct segment {
	struct vm_list link;
	size_t bytes;	    /* with this header */
	struct vm_req *req; /* NULL while the message is being sent */
} VM_ALIGNED(16);

/* Guarded by the lock of the rank's struct vm_mpi. */
struct vm_bsend {
	char *buffer;
	size_t bytes;
	char *begin, *end; /* the aligned part of it */
	struct vm_list segments;
};

VM_STATIC_ASSERT(sizeof(struct segment) + 2 * 16 <= MPI_BSEND_OVERHEAD,
		 "a segment needs no more than the overhead");

static char *align_up(char *address)
{
	return (char *)(((uintptr_t)address + 15) & ~(uintptr_t)15);
}

/* Removes the first segment whose message has been sent; NULL: none. */
static struct vm_req *reap_one(struct vm_bsend *bsend)
{
	struct vm_list *link;

	vm_list_each(link, &bsend->segments) {
		struct segment *segment =
			vm_container_of(link, struct segment, link);

		if (segment->req && vm_req_is_done(segment->req)) {
			vm_list_remove(link);
			return segment->req;
		}
	}
	return NULL;
}

static void reap(struct vm_mpi *mpi)
{
	struct vm_req *req;

	do {
		vm_lock_take(&mpi->lock);
		req = mpi->bsend ? reap_one(mpi->bsend) : NULL;
		vm_lock_give(&mpi->lock);
		if (req)
			vm_req_finish(req, NULL);
	} while (req);
}

/* Makes a segment of the first gap of `bytes` bytes; the lock is held. */
static struct segment *segment_new(struct vm_bsend *bsend, size_t bytes)
{
	struct vm_list *link;
	struct segment *segment;
	char *gap = bsend->begin;

	vm_list_each(link, &bsend->segments) {
		char *next =
			(char *)vm_container_of(link, struct segment, link);

		if ((size_t)(next - gap) >= bytes)
			break;
		segment = (struct segment *)next;
		gap = next + segment->bytes;
	}
	if (link == &bsend->segments && (size_t)(bsend->end - gap) < bytes)
		return NULL;
	segment = (struct segment *)gap;
	segment->bytes = bytes;
	segment->req = NULL;
	vm_list_append(link, &segment->link);
	return segment;
}

int vm_bsend(struct vm_mpi *mpi, struct vm_rank *peer, struct vm_env env,
	     const struct vm_data *data)
{
	size_t bytes = sizeof(struct segment) + ((data->bytes + 15) & ~15ul);
	struct segment *segment = NULL;
	struct vm_data packed;
	struct vm_req *req;
	int rc;

	if (!peer)
		return 0;
	reap(mpi);
	vm_lock_take(&mpi->lock);
	if (mpi->bsend)
		segment = segment_new(mpi->bsend, bytes);
	vm_lock_give(&mpi->lock);
	if (!segment)
		return MPI_ERR_BUFFER;
	packed = vm_data_bytes(segment + 1, data->bytes);
	vm_data_copy_slow(&packed, data);
	rc = vm_isend(peer, env, &packed, VM_SEND_STANDARD, &req);
	vm_lock_take(&mpi->lock);
	if (rc == 0)
		segment->req = req;
	else
		vm_list_remove(&segment->link);
	vm_lock_give(&mpi->lock);
	return rc;
}

/* Tells whether messages are not yet sent; *req is one of their requests, or
 * NULL while another thread is about to send it. */
static bool pending_one(struct vm_mpi *mpi, struct vm_req **req)
{
	bool pending;

	vm_lock_take(&mpi->lock);
	pending = !vm_list_empty(&mpi->bsend->segments);
	if (pending)
		*req = vm_container_of(mpi->bsend->segments.next,
				       struct segment, link)
			       ->req;
	vm_lock_give(&mpi->lock);
	return pending;
}

/* Waits until all buffered messages are sent and detaches the buffer.  May
 * switch. */
static void finish(struct vm_mpi *mpi)
{
	struct vm_req *req;

	if (!mpi->bsend)
		return;
	while (pending_one(mpi, &req)) {
		if (req)
			vm_req_await(&req, 1, 1);
		else
			vm_req_poll();
		reap(mpi);
	}
	free(mpi->bsend);
	mpi->bsend = NULL;
}

void vm_bsend_abandon(struct vm_mpi *mpi)
{
	struct vm_list *link;

	if (!mpi->bsend)
		return;
	reap(mpi);
	vm_list_each(link, &mpi->bsend->segments) {
		struct segment *segment =
			vm_container_of(link, struct segment, link);

		if (segment->req)
			vm_req_detach(segment->req);
	}
	free(mpi->bsend);
	mpi->bsend = NULL;
}

static int bsend_entry(struct vm_call *call, const void *buf, int count,
		       MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	struct vm_route route;
	int rc = vm_route_send(call, &route, buf, count, type, dest, tag, comm);

	if (rc == 0)
		rc = vm_bsend(call->mpi, route.peer, route.env, &route.data);
	if (rc == MPI_ERR_BUFFER)
		vm_error(call, rc,
			 "no room for %zu bytes in the attached buffer",
			 route.data.bytes);
	return rc;
}

int PMPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest,
	       int tag, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Bsend);
	int rc = bsend_entry(&call, buf, count, datatype, dest, tag, comm);

	return vm_call_exit(&call, comm, rc);
}

int PMPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest,
		int tag, MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Ibsend);
	int rc = vm_check_pointer(&call, request, "request");

	if (rc == 0)
		rc = bsend_entry(&call, buf, count, datatype, dest, tag, comm);
	if (rc == 0)
		*request = (MPI_Request)&vm_req_done_send;
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Buffer_attach(void *buffer, int size)
{
	struct vm_call call = vm_call_enter(VM_CALL_Buffer_attach);
	struct vm_bsend *bsend;
	int rc = 0;

	if (size < 0)
		rc = vm_error(&call, MPI_ERR_ARG, "size %d is negative", size);
	else if (size > 0)
		rc = vm_check_pointer(&call, buffer, "buffer");
	if (rc == 0 && call.mpi->bsend)
		rc = vm_error(&call, MPI_ERR_BUFFER,
			      "a buffer is attached already");
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	bsend = malloc(sizeof(*bsend));
	if (!bsend)
		return vm_call_exit_self(&call, MPI_ERR_NO_MEM);
	bsend->buffer = buffer;
	bsend->bytes = (size_t)size;
	bsend->begin = align_up(buffer);
	bsend->end = (char *)buffer + size;
	if (bsend->begin > bsend->end)
		bsend->begin = bsend->end;
	vm_list_init(&bsend->segments);
	call.mpi->bsend = bsend;
	return MPI_SUCCESS;
}

int PMPI_Buffer_detach(void *buffer_addr, int *size)
{
	struct vm_call call = vm_call_enter(VM_CALL_Buffer_detach);
	struct vm_bsend *bsend = call.mpi->bsend;
	int rc = vm_check_pointer(&call, buffer_addr, "buffer_addr");

	if (rc == 0)
		rc = vm_check_pointer(&call, size, "size");
	if (rc == 0 && !bsend)
		rc = vm_error(&call, MPI_ERR_BUFFER, "no buffer is attached");
	if (rc == 0) {
		*(void **)buffer_addr = bsend->buffer;
		*size = (int)bsend->bytes;
		finish(call.mpi);
	}
	return vm_call_exit_self(&call, rc);
}
