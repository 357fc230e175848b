/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers for buffered sends (MPI 4.1, 3.6): attached to the rank, to a session
 * or to a communicator, whose own is preferred.
 */
#include <limits.h>

#include "mpi/call/check.h"
#include "mpi/comm/session.h"
#include "mpi/p2p/bsend.h"

static int attach(struct vm_call *call, struct vm_bsend **slot, void *buffer,
		  MPI_Count size)
{
	struct vm_bsend *bsend;
	int rc = 0;

	if (buffer != MPI_BUFFER_AUTOMATIC && size < 0)
		rc = vm_error(call, MPI_ERR_ARG, "size %lld is negative",
			      (long long)size);
	else if (buffer != MPI_BUFFER_AUTOMATIC && size > 0)
		rc = vm_check_pointer(call, buffer, "buffer");
	if (rc == 0 && *slot)
		rc = vm_error(call, MPI_ERR_BUFFER,
			      "a buffer is attached already");
	if (rc != 0)
		return rc;
	bsend = vm_bsend_new(buffer, (size_t)size);
	if (!bsend)
		return MPI_ERR_NO_MEM;
	*slot = bsend;
	call->mpi->bsend_end = vm_bsend_end;
	return 0;
}

/* Waits for the messages in the buffer. */
static int detach(struct vm_call *call, struct vm_bsend **slot,
		  void *buffer_addr, void *size, MPI_Count *bytes)
{
	void *buffer;
	int rc = vm_check_pointer(call, buffer_addr, "buffer_addr");

	if (rc == 0)
		rc = vm_check_pointer(call, size, "size");
	if (rc == 0 && !*slot)
		rc = vm_error(call, MPI_ERR_BUFFER, "no buffer is attached");
	if (rc != 0)
		return rc;
	buffer = vm_bsend_buffer(*slot, bytes);
	rc = vm_bsend_end(slot);
	if (rc == 0)
		*(void **)buffer_addr = buffer;
	return rc;
}

/* The size as an int, which cannot say that of all buffers. */
static int detach_int(struct vm_call *call, struct vm_bsend **slot,
		      void *buffer_addr, int *size)
{
	MPI_Count bytes = 0;
	int rc = detach(call, slot, buffer_addr, size, &bytes);

	if (rc == 0)
		*size = bytes > INT_MAX ? MPI_UNDEFINED : (int)bytes;
	return rc;
}

/* Without a buffer there is nothing to wait for. */
static int iflush(struct vm_call *call, struct vm_bsend *bsend,
		  MPI_Request *request)
{
	struct vm_req *req = &vm_req_done_send;
	int rc = vm_check_pointer(call, request, "request");

	if (rc == 0 && bsend)
		rc = vm_bsend_flush(bsend, &req);
	if (rc == 0)
		*request = (MPI_Request)req;
	return rc;
}

static int flush(struct vm_bsend *bsend)
{
	struct vm_req *req;
	int rc = bsend ? vm_bsend_flush(bsend, &req) : 0;

	if (rc == 0 && bsend) {
		vm_req_await(&req, 1, 1);
		vm_req_finish(req, NULL);
	}
	return rc;
}

int PMPI_Buffer_attach(void *buffer, int size)
{
	struct vm_call call = vm_call_enter(VM_CALL_Buffer_attach);

	return vm_call_exit_self(&call,
				 attach(&call, &call.mpi->bsend, buffer, size));
}

int PMPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
	struct vm_call call = vm_call_enter(VM_CALL_Buffer_attach_c);

	return vm_call_exit_self(&call,
				 attach(&call, &call.mpi->bsend, buffer, size));
}

int PMPI_Buffer_detach(void *buffer_addr, int *size)
{
	struct vm_call call = vm_call_enter(VM_CALL_Buffer_detach);

	return vm_call_exit_self(&call, detach_int(&call, &call.mpi->bsend,
						   buffer_addr, size));
}

int PMPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
	struct vm_call call = vm_call_enter(VM_CALL_Buffer_detach_c);

	return vm_call_exit_self(&call, detach(&call, &call.mpi->bsend,
					       buffer_addr, size, size));
}

int PMPI_Buffer_flush(void)
{
	struct vm_call call = vm_call_enter(VM_CALL_Buffer_flush);

	return vm_call_exit_self(&call, flush(call.mpi->bsend));
}

int PMPI_Buffer_iflush(MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Buffer_iflush);

	return vm_call_exit_self(&call,
				 iflush(&call, call.mpi->bsend, request));
}

/* The entries for a communicator check its handle first. */
#define ON_COMM(name, what)                                  \
	struct vm_call call = vm_call_enter(VM_CALL_##name); \
	struct vm_comm *c;                                   \
	int rc = vm_check_comm(&call, comm, &c);             \
                                                             \
	return vm_call_exit(&call, comm, rc == 0 ? (what) : rc)

int PMPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size)
{
	ON_COMM(Comm_attach_buffer, attach(&call, &c->bsend, buffer, size));
}

int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size)
{
	ON_COMM(Comm_attach_buffer_c, attach(&call, &c->bsend, buffer, size));
}

int PMPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size)
{
	ON_COMM(Comm_detach_buffer,
		detach_int(&call, &c->bsend, buffer_addr, size));
}

int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size)
{
	ON_COMM(Comm_detach_buffer_c,
		detach(&call, &c->bsend, buffer_addr, size, size));
}

int PMPI_Comm_flush_buffer(MPI_Comm comm)
{
	ON_COMM(Comm_flush_buffer, flush(c->bsend));
}

int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
{
	ON_COMM(Comm_iflush_buffer, iflush(&call, c->bsend, request));
}

#define ON_SESSION(name, what)                                         \
	struct vm_call call;                                           \
	struct vm_mpi_session *s;                                      \
	int rc = vm_session_enter(&call, VM_CALL_##name, session, &s); \
                                                                       \
	return vm_session_exit(&call, session, rc == 0 ? (what) : rc)

int PMPI_Session_attach_buffer(MPI_Session session, void *buffer, int size)
{
	ON_SESSION(Session_attach_buffer,
		   attach(&call, &s->bsend, buffer, size));
}

int PMPI_Session_attach_buffer_c(MPI_Session session, void *buffer,
				 MPI_Count size)
{
	ON_SESSION(Session_attach_buffer_c,
		   attach(&call, &s->bsend, buffer, size));
}

int PMPI_Session_detach_buffer(MPI_Session session, void *buffer_addr,
			       int *size)
{
	ON_SESSION(Session_detach_buffer,
		   detach_int(&call, &s->bsend, buffer_addr, size));
}

int PMPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr,
				 MPI_Count *size)
{
	ON_SESSION(Session_detach_buffer_c,
		   detach(&call, &s->bsend, buffer_addr, size, size));
}

int PMPI_Session_flush_buffer(MPI_Session session)
{
	ON_SESSION(Session_flush_buffer, flush(s->bsend));
}

int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request)
{
	ON_SESSION(Session_iflush_buffer, iflush(&call, s->bsend, request));
}
