/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point to point: sends and receives.
 *
 * A ready send is a standard one: whether its receive is posted makes no
 * difference to the protocols of core.
 */
#include <stdlib.h>

#include "core/comm/cancel.h"
#include "core/comm/quick.h"
#include "mpi/call/twin.h"
#include "mpi/p2p/request.h"
#include "mpi/p2p/route.h"
#include "mpi/p2p/typed.h"
#include "mpi/call/status.h"

/* Out of line, so that the route of an ordinary message stays in registers. */
static __attribute__((noinline)) int send_odd(struct vm_call *call,
					      const void *buf, vm_count count,
					      MPI_Datatype type, int dest,
					      int tag, MPI_Comm comm,
					      enum vm_send_mode mode)
{
	struct vm_route route;
	int rc = vm_route_send(call, &route, buf, count, type, dest, tag, comm);

	if (rc == 0 && route.peer)
		rc = vm_send(route.peer, route.env, &route.data, mode);
	return rc;
}

static inline int send_entry(enum vm_call_id id, const void *buf,
			     vm_count count, MPI_Datatype type, int dest,
			     int tag, MPI_Comm comm, enum vm_send_mode mode)
{
	struct vm_call call = vm_call_enter(id);
	struct vm_route route;
	int rc;

	if (VM_LIKELY(vm_route_plain_send(call.mpi, &route, buf, count, type,
					  dest, tag, comm)))
		rc = vm_send(route.peer, route.env, &route.data, mode);
	else
		rc = send_odd(&call, buf, count, type, dest, tag, comm, mode);
	return vm_call_exit(&call, comm, rc);
}

static VM_ENTRY_REST int send_any(const void *buf, vm_count count,
				  MPI_Datatype type, int dest, int tag,
				  MPI_Comm comm)
{
	return send_entry(VM_TWIN(VM_CALL_Send), buf, count, type, dest, tag,
			  comm, VM_SEND_STANDARD);
}

int VM_TWIN(PMPI_Send)(const void *buf, vm_count count, MPI_Datatype datatype,
		       int dest, int tag, MPI_Comm comm)
{
	struct vm_ult *self = vm_self;
	struct vm_comm *on;
	size_t bytes;

	if (VM_LIKELY(vm_route_quick(self, &on, &bytes, buf, count, datatype,
				     dest, tag, comm)) &&
	    VM_LIKELY(vm_quick_send_any(
		    self, on->ranks[dest],
		    (struct vm_env){ on->context, on->rank, tag }, buf, bytes)))
		return MPI_SUCCESS;
	return send_any(buf, count, datatype, dest, tag, comm);
}

int VM_TWIN(PMPI_Ssend)(const void *buf, vm_count count, MPI_Datatype datatype,
			int dest, int tag, MPI_Comm comm)
{
	return send_entry(VM_TWIN(VM_CALL_Ssend), buf, count, datatype, dest,
			  tag, comm, VM_SEND_SYNC);
}

int VM_TWIN(PMPI_Rsend)(const void *buf, vm_count count, MPI_Datatype datatype,
			int dest, int tag, MPI_Comm comm)
{
	return send_entry(VM_TWIN(VM_CALL_Rsend), buf, count, datatype, dest,
			  tag, comm, VM_SEND_STANDARD);
}

static __attribute__((noinline)) int
isend_odd(struct vm_call *call, const void *buf, vm_count count,
	  MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	  enum vm_send_mode mode, MPI_Request *request)
{
	struct vm_req *req = &vm_req_done_send;
	struct vm_route route;
	int rc = vm_route_send(call, &route, buf, count, type, dest, tag, comm);

	if (rc == 0)
		rc = vm_check_pointer(call, request, "request");
	if (rc == 0 && route.peer)
		rc = vm_isend(route.peer, route.env, &route.data, mode, &req);
	if (rc == 0)
		*request = (MPI_Request)req;
	return rc;
}

static inline int isend_entry(enum vm_call_id id, const void *buf,
			      vm_count count, MPI_Datatype type, int dest,
			      int tag, MPI_Comm comm, enum vm_send_mode mode,
			      MPI_Request *request)
{
	struct vm_call call = vm_call_enter(id);
	struct vm_route route;
	struct vm_req *req;
	int rc;

	if (VM_UNLIKELY(!request ||
			!vm_route_plain_send(call.mpi, &route, buf, count, type,
					     dest, tag, comm))) {
		rc = isend_odd(&call, buf, count, type, dest, tag, comm, mode,
			       request);
		return vm_call_exit(&call, comm, rc);
	}
	rc = vm_isend(route.peer, route.env, &route.data, mode, &req);
	if (VM_LIKELY(rc == 0))
		*request = (MPI_Request)req;
	return vm_call_exit(&call, comm, rc);
}

static __attribute__((noinline)) int isend_any(const void *buf, vm_count count,
					       MPI_Datatype datatype, int dest,
					       int tag, MPI_Comm comm,
					       MPI_Request *request)
{
	return isend_entry(VM_TWIN(VM_CALL_Isend), buf, count, datatype, dest,
			   tag, comm, VM_SEND_STANDARD, request);
}

/* The arguments of a call that are those of the common case, where it does not
 * end on the spot. */
static __attribute__((noinline)) int isend_plain(const void *buf, size_t bytes,
						 struct vm_comm *on, int dest,
						 int tag, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Isend));
	struct vm_data data;
	struct vm_req *req;
	int rc;

	vm_data_set_bytes(&data, buf, bytes);
	rc = vm_isend(on->ranks[dest], vm_env_of(on->context, on->rank, tag),
		      &data, VM_SEND_STANDARD, &req);
	if (VM_UNLIKELY(rc != 0))
		return vm_call_fail(&call, vm_comm_handle(call.mpi, on), rc);
	*request = (MPI_Request)req;
	return MPI_SUCCESS;
}

static __attribute__((noinline)) int isend_rest(const void *buf, size_t bytes,
						struct vm_comm *on, int dest,
						int tag, MPI_Request *request)
{
	if (VM_UNLIKELY(!vm_quick_send_other(
		    vm_self, on->ranks[dest],
		    vm_env_of(on->context, on->rank, tag), buf, bytes)))
		return isend_plain(buf, bytes, on, dest, tag, request);
	*request = (MPI_Request)&vm_req_done_send;
	return MPI_SUCCESS;
}

int VM_TWIN(PMPI_Isend)(const void *buf, vm_count count, MPI_Datatype datatype,
			int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct vm_ult *self = vm_self;
	struct vm_comm *on;
	struct vm_rank *to;
	struct vm_req *req;
	size_t bytes;

	if (VM_UNLIKELY(!request ||
			!vm_route_quick(self, &on, &bytes, buf, count, datatype,
					dest, tag, comm)))
		return isend_any(buf, count, datatype, dest, tag, comm,
				 request);
	to = on->ranks[dest];
	req = vm_quick_begin_short(
		self, to, (struct vm_env){ on->context, on->rank, tag }, bytes);
	if (VM_UNLIKELY(!req)) {
		if (VM_UNLIKELY(!vm_quick_ring(self, to,
					       (struct vm_env){ on->context,
								on->rank, tag },
					       buf, bytes)))
			return isend_rest(buf, bytes, on, dest, tag, request);
		*request = (MPI_Request)&vm_req_done_send;
		return MPI_SUCCESS;
	}
	*request = (MPI_Request)&vm_req_done_send;
	return vm_quick_fill(self, to->via, req, buf, bytes);
}

int VM_TWIN(PMPI_Issend)(const void *buf, vm_count count, MPI_Datatype datatype,
			 int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	return isend_entry(VM_TWIN(VM_CALL_Issend), buf, count, datatype, dest,
			   tag, comm, VM_SEND_SYNC, request);
}

int VM_TWIN(PMPI_Irsend)(const void *buf, vm_count count, MPI_Datatype datatype,
			 int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	return isend_entry(VM_TWIN(VM_CALL_Irsend), buf, count, datatype, dest,
			   tag, comm, VM_SEND_STANDARD, request);
}

/* Receives by a request, which knows the types at both ends. */
static int recv_typed(struct vm_call *call, const struct vm_route *route,
		      vmpi_status *result)
{
	struct vm_req *req;
	int typed, rc = vm_route_irecv(route, &req);

	if (rc != 0)
		return rc;
	vm_request_await(req);
	typed = vm_typed_compare(call, req);
	rc = vm_req_finish(req, result);
	return rc ? rc : typed;
}

/* Receives outside the common case: any source, any tag, MPI_PROC_NULL. */
static __attribute__((noinline)) int
recv_odd(struct vm_call *call, void *buf, vm_count count, MPI_Datatype type,
	 int source, int tag, MPI_Comm comm, vmpi_status *result)
{
	struct vm_route route;
	int rc = vm_route_recv(call, &route, buf, count, type, source, tag,
			       comm);

	if (rc != 0)
		return rc;
	if (route.peer && vm_typed())
		return recv_typed(call, &route, result);
	if (route.peer)
		return vm_recv(route.env, &route.data, result);
	*result = vm_status_proc_null;
	return 0;
}

/* The end of a receive: rc is what core returned, or an MPI error. */
static int recv_end(struct vm_call *call, int rc, MPI_Status *status,
		    const vmpi_status *result, MPI_Comm comm)
{
	if (VM_LIKELY(rc == 0 || rc == -VMPI_ETRUNC) || rc == MPI_ERR_TYPE)
		vm_status_set(status, result);
	if (VM_UNLIKELY(rc < 0))
		rc = vm_error_truncated(call, rc, result);
	return vm_call_exit(call, comm, rc);
}

/* ... of a quick one, after an error. */
static __attribute__((noinline)) int recv_failed(enum vm_call_id id,
						 const struct vm_req *req,
						 MPI_Status *status,
						 MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(id);

	return recv_end(&call, req->status.error, status, &req->status, comm);
}

static __attribute__((noinline)) int recv_any(void *buf, vm_count count,
					      MPI_Datatype datatype, int source,
					      int tag, MPI_Comm comm,
					      MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Recv));
	struct vm_route route;
	vmpi_status result;
	int rc;

	if (VM_LIKELY(vm_route_plain_recv(call.mpi, &route, buf, count,
					  datatype, source, tag, comm))) {
		if (!route.data.layout &&
		    VM_LIKELY(vm_quick_take(vm_self, route.env, route.data.addr,
					    route.data.bytes, &result))) {
			vm_status_set(status, &result);
			return MPI_SUCCESS;
		}
		rc = vm_recv(route.env, &route.data, &result);
	} else {
		rc = recv_odd(&call, buf, count, datatype, source, tag, comm,
			      &result);
	}
	return recv_end(&call, rc, status, &result, comm);
}

int VM_TWIN(PMPI_Recv)(void *buf, vm_count count, MPI_Datatype datatype,
		       int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct vm_ult *self = vm_self;
	struct vm_comm *on;
	struct vm_req req;
	size_t bytes;

	if (VM_UNLIKELY(!vm_route_quick(self, &on, &bytes, buf, count, datatype,
					source, tag, comm)) ||
	    VM_UNLIKELY(!vm_quick_recv_any(
		    self, &req, on->ranks[source],
		    (struct vm_env){ on->context, source, tag }, buf, bytes,
		    VM_CALL_MPI_FIRST + VM_TWIN(VM_CALL_Recv))))
		return recv_any(buf, count, datatype, source, tag, comm,
				status);
	if (VM_UNLIKELY(req.status.error != 0))
		return recv_failed(VM_TWIN(VM_CALL_Recv), &req, status, comm);
	vm_status_set(status, &req.status);
	return MPI_SUCCESS;
}

static __attribute__((noinline)) int
irecv_odd(struct vm_call *call, void *buf, vm_count count, MPI_Datatype type,
	  int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct vm_route route;
	struct vm_req *req;
	int rc = vm_route_recv(call, &route, buf, count, type, source, tag,
			       comm);

	if (rc == 0)
		rc = vm_check_pointer(call, request, "request");
	if (rc == 0)
		rc = vm_route_irecv(&route, &req);
	if (rc == 0)
		*request = (MPI_Request)req;
	return rc;
}

static __attribute__((noinline)) int
irecv_any(void *buf, vm_count count, MPI_Datatype datatype, int source, int tag,
	  MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Irecv));
	struct vm_route route;
	struct vm_req *req;
	int rc;

	if (VM_UNLIKELY(!request ||
			!vm_route_plain_recv(call.mpi, &route, buf, count,
					     datatype, source, tag, comm))) {
		rc = irecv_odd(&call, buf, count, datatype, source, tag, comm,
			       request);
		return vm_call_exit(&call, comm, rc);
	}
	rc = vm_irecv(route.env, &route.data, &req);
	if (VM_LIKELY(rc == 0))
		*request = (MPI_Request)req;
	return vm_call_exit(&call, comm, rc);
}

/* As isend_plain() and isend_rest(). */
static __attribute__((noinline)) int irecv_plain(void *buf, size_t bytes,
						 struct vm_comm *on, int source,
						 int tag, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Irecv));
	struct vm_data data;
	struct vm_req *req;
	int rc;

	vm_data_set_bytes(&data, buf, bytes);
	rc = vm_irecv(vm_env_of(on->context, source, tag), &data, &req);
	if (VM_UNLIKELY(rc != 0))
		return vm_call_fail(&call, vm_comm_handle(call.mpi, on), rc);
	*request = (MPI_Request)req;
	return MPI_SUCCESS;
}

static __attribute__((noinline)) int irecv_rest(void *buf, size_t bytes,
						struct vm_comm *on, int source,
						int tag, MPI_Request *request)
{
	struct vm_env env = vm_env_of(on->context, source, tag);
	struct vm_ult *self = vm_self;
	struct vm_req *req = NULL;

	if (VM_LIKELY(vm_quick_stock(self->worker->cache))) {
		req = vm_quick_itake(self, env, buf, bytes);
		if (!req)
			req = vm_quick_irecv(self, env, buf, bytes);
	}
	if (VM_UNLIKELY(!req))
		return irecv_plain(buf, bytes, on, source, tag, request);
	*request = (MPI_Request)req;
	return MPI_SUCCESS;
}

int VM_TWIN(PMPI_Irecv)(void *buf, vm_count count, MPI_Datatype datatype,
			int source, int tag, MPI_Comm comm,
			MPI_Request *request)
{
	struct vm_ult *self = vm_self;
	struct vm_comm *on;
	struct vm_req *req;
	size_t bytes;

	if (VM_UNLIKELY(!request ||
			!vm_route_quick(self, &on, &bytes, buf, count, datatype,
					source, tag, comm)))
		return irecv_any(buf, count, datatype, source, tag, comm,
				 request);
	req = vm_quick_irecv(self, (struct vm_env){ on->context, source, tag },
			     buf, bytes);
	if (VM_UNLIKELY(!req))
		return irecv_rest(buf, bytes, on, source, tag, request);
	*request = (MPI_Request)req;
	return MPI_SUCCESS;
}

/* Posts the receive, sends, and waits for the receive.  After an error of the
 * send no receive is left. */
static int exchange(struct vm_call *call, const struct vm_route *send,
		    const struct vm_route *recv, MPI_Status *status)
{
	struct vm_req *req;
	vmpi_status result;
	int rc = vm_route_irecv(recv, &req), send_rc = 0, typed = 0;

	if (rc != 0)
		return rc;
	if (send->peer)
		send_rc = vm_send(send->peer, send->env, &send->data,
				  VM_SEND_STANDARD);
	if (send_rc != 0)
		vm_req_cancel(req);
	vm_request_await(req);
	if (send_rc == 0)
		typed = vm_typed_compare(call, req);
	rc = vm_req_finish(req, &result);
	if (send_rc != 0)
		return send_rc;
	vm_status_set(status, &result);
	if (rc == 0)
		return typed;
	return rc < 0 ? vm_error_truncated(call, rc, &result) : rc;
}

/* The receive of an exchange whose message has gone: the call's result. */
static __attribute__((noinline)) int recv_rest(enum vm_call_id id,
					       struct vm_env env, void *buf,
					       size_t bytes, MPI_Comm comm,
					       MPI_Status *status)
{
	struct vm_call call = vm_call_enter(id);
	struct vm_data data = vm_data_bytes(buf, bytes);
	vmpi_status result;
	int rc = vm_recv(env, &data, &result);

	return recv_end(&call, rc, status, &result, comm);
}

static VM_ALWAYS_INLINE int recv_after(enum vm_call_id id, struct vm_ult *self,
				       const struct vm_rank *source,
				       struct vm_env env, void *buf,
				       size_t bytes, MPI_Comm comm,
				       MPI_Status *status)
{
	struct vm_req req;

	if (VM_LIKELY(vm_quick_recv_any(self, &req, source, env, buf, bytes,
					VM_CALL_MPI_FIRST + id))) {
		if (VM_UNLIKELY(req.status.error != 0))
			return recv_failed(id, &req, status, comm);
	} else if (!vm_quick_take(self, env, buf, bytes, &req.status)) {
		return recv_rest(id, env, buf, bytes, comm, status);
	}
	vm_status_set(status, &req.status);
	return MPI_SUCCESS;
}

static VM_ENTRY_REST int sendrecv_any(const void *sendbuf, vm_count sendcount,
				      MPI_Datatype sendtype, int dest,
				      int sendtag, void *recvbuf,
				      vm_count recvcount, MPI_Datatype recvtype,
				      int source, int recvtag, MPI_Comm comm,
				      MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Sendrecv));
	struct vm_route send, recv;
	int rc = vm_route_send(&call, &send, sendbuf, sendcount, sendtype, dest,
			       sendtag, comm);

	rc = vm_error_of_side(&call, rc, true);
	if (rc == 0)
		rc = vm_error_of_side(&call,
				      vm_route_recv(&call, &recv, recvbuf,
						    recvcount, recvtype, source,
						    recvtag, comm),
				      false);
	if (rc == 0)
		rc = exchange(&call, &send, &recv, status);
	return vm_call_exit(&call, comm, rc);
}

/* A short message goes, or is kept, before the receive is posted: it waits for
 * nobody. */
int VM_TWIN(PMPI_Sendrecv)(const void *sendbuf, vm_count sendcount,
			   MPI_Datatype sendtype, int dest, int sendtag,
			   void *recvbuf, vm_count recvcount,
			   MPI_Datatype recvtype, int source, int recvtag,
			   MPI_Comm comm, MPI_Status *status)
{
	struct vm_ult *self = vm_self;
	struct vm_comm *on;
	size_t out, in;

	if (VM_LIKELY(vm_route_quick(self, &on, &in, recvbuf, recvcount,
				     recvtype, source, recvtag, comm) &&
		      vm_route_quick(self, &on, &out, sendbuf, sendcount,
				     sendtype, dest, sendtag, comm)) &&
	    VM_LIKELY(vm_quick_send_any(self, on->ranks[dest],
					(struct vm_env){ on->context, on->rank,
							 sendtag },
					sendbuf, out)))
		return recv_after(
			VM_TWIN(VM_CALL_Sendrecv), self, on->ranks[source],
			(struct vm_env){ on->context, source, recvtag },
			recvbuf, in, comm, status);
	return sendrecv_any(sendbuf, sendcount, sendtype, dest, sendtag,
			    recvbuf, recvcount, recvtype, source, recvtag, comm,
			    status);
}

static VM_ENTRY_REST int replace_any(void *buf, vm_count count,
				     MPI_Datatype datatype, int dest,
				     int sendtag, int source, int recvtag,
				     MPI_Comm comm, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Sendrecv_replace));
	struct vm_route send, recv;
	struct vm_data copy;
	int rc = vm_route_send(&call, &send, buf, count, datatype, dest,
			       sendtag, comm);

	if (rc == 0)
		rc = vm_route_recv(&call, &recv, buf, count, datatype, source,
				   recvtag, comm);
	if (rc != 0)
		return vm_call_exit(&call, comm, rc);
	copy = vm_data_bytes(malloc(send.data.bytes + 1), send.data.bytes);
	if (!copy.addr)
		return vm_call_exit(&call, comm, MPI_ERR_NO_MEM);
	vm_data_copy_slow(&copy, &send.data);
	send.data = copy;
	rc = exchange(&call, &send, &recv, status);
	free(copy.addr);
	return vm_call_exit(&call, comm, rc);
}

int VM_TWIN(PMPI_Sendrecv_replace)(void *buf, vm_count count,
				   MPI_Datatype datatype, int dest, int sendtag,
				   int source, int recvtag, MPI_Comm comm,
				   MPI_Status *status)
{
	struct vm_ult *self = vm_self;
	struct vm_comm *on;
	size_t bytes;

	if (VM_LIKELY(vm_route_quick(self, &on, &bytes, buf, count, datatype,
				     source, recvtag, comm) &&
		      vm_route_quick(self, &on, &bytes, buf, count, datatype,
				     dest, sendtag, comm)) &&
	    VM_LIKELY(vm_quick_send_any(self, on->ranks[dest],
					(struct vm_env){ on->context, on->rank,
							 sendtag },
					buf, bytes)))
		return recv_after(VM_TWIN(VM_CALL_Sendrecv_replace), self,
				  on->ranks[source],
				  (struct vm_env){ on->context, source,
						   recvtag },
				  buf, bytes, comm, status);
	return replace_any(buf, count, datatype, dest, sendtag, source, recvtag,
			   comm, status);
}
