/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probe and matched receives.
 *
 * MPI_Message is core's message handle; one constant that is not an address
 * stands for a message from MPI_PROC_NULL.
 */
#include "core/comm/probe.h"
#include "mpi/p2p/request.h"
#include "mpi/p2p/route.h"
#include "mpi/p2p/typed.h"
#include "mpi/call/status.h"
#include "mpi/comm/comm.h"

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Probe);
	vmpi_status result = vm_status_proc_null;
	struct vm_route route;
	int rc = vm_route_match(&call, &route, source, tag, comm);

	if (rc == 0 && route.peer)
		rc = vm_probe(route.env, &result);
	if (rc == 0)
		vm_status_set(status, &result);
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag,
		MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Iprobe);
	vmpi_status result = vm_status_proc_null;
	struct vm_route route;
	int rc = vm_route_match(&call, &route, source, tag, comm);

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc == 0 && route.peer)
		rc = vm_iprobe(route.env, &result);
	if (rc == -VMPI_EAGAIN) {
		*flag = 0;
		return MPI_SUCCESS;
	}
	if (rc == 0) {
		*flag = 1;
		vm_status_set(status, &result);
	}
	return vm_call_exit(&call, comm, rc);
}

/* Returns the handle of a matched message; NULL: it is from MPI_PROC_NULL. */
static void message_out(struct vm_msg *msg, MPI_Message *message,
			MPI_Status *status)
{
	vmpi_status result = vm_status_proc_null;

	*message = MPI_MESSAGE_NO_PROC;
	if (msg) {
		msg->matched = true;
		*message = (MPI_Message)msg;
		result = (vmpi_status){ .source = msg->node.env.source,
					.tag = msg->node.env.tag,
					.bytes = msg->bytes };
	}
	vm_status_set(status, &result);
}

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
		MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Mprobe);
	struct vm_msg *msg = NULL;
	struct vm_route route;
	int rc = vm_route_match(&call, &route, source, tag, comm);

	if (rc == 0)
		rc = vm_check_pointer(&call, message, "message");
	if (rc == 0 && route.peer)
		rc = vm_match_wait(route.env, &msg);
	if (rc == 0)
		message_out(msg, message, status);
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag,
		 MPI_Message *message, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Improbe);
	struct vm_msg *msg = NULL;
	struct vm_route route;
	int rc = vm_route_match(&call, &route, source, tag, comm);

	if (rc == 0)
		rc = vm_check_pointer(&call, message, "message");
	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc == 0 && route.peer)
		rc = vm_match_try(route.env, &msg);
	if (rc == -VMPI_EAGAIN) {
		*flag = 0;
		return MPI_SUCCESS;
	}
	if (rc == 0) {
		*flag = 1;
		message_out(msg, message, status);
	}
	return vm_call_exit(&call, comm, rc);
}

/* Checks the arguments of Mrecv and Imrecv; *msg is NULL for
 * MPI_MESSAGE_NO_PROC. */
static int message_in(struct vm_call *call, const void *buf, int count,
		      MPI_Datatype datatype, const MPI_Message *message,
		      struct vm_msg **msg, struct vm_data *data)
{
	int rc = vm_check_pointer(call, message, "message");

	if (rc == 0)
		rc = vm_check_buffer(call, buf, count, datatype);
	if (rc != 0)
		return rc;
	if (*message == MPI_MESSAGE_NULL)
		return vm_error(call, MPI_ERR_ARG, "MPI_MESSAGE_NULL");
	*msg = *message == MPI_MESSAGE_NO_PROC ? NULL :
						 (struct vm_msg *)*message;
	if (*msg &&
	    (!vm_arena_has(&vm_node->arenas.msg, *msg) || !(*msg)->matched))
		return vm_error(call, MPI_ERR_ARG,
				"%p is not a message, or it was received",
				(void *)*message);
	*data = vm_type_data(vm_type_get(datatype), buf,
			     count < 0 ? 0 : (size_t)count);
	return 0;
}

/* Begins to receive a message. */
static int message_take(struct vm_msg *msg, const struct vm_data *data,
			MPI_Datatype datatype, int count, struct vm_req **req)
{
	struct vm_env env = msg->node.env;
	int rc;

	msg->matched = false;
	rc = vm_msg_ireceive(msg, data, req);
	if (rc != 0) {
		msg->matched = true;
		return rc;
	}
	(*req)->node.env = env; /* for errors at its end */
	return vm_typed_receive(*req, vm_type_get(datatype),
				count < 0 ? 0 : (size_t)count);
}

/* Receives a message by a request, which knows the types at both ends. */
static int message_receive_typed(struct vm_call *call, struct vm_msg *msg,
				 const struct vm_data *data,
				 MPI_Datatype datatype, int count,
				 vmpi_status *result)
{
	struct vm_req *req;
	int typed, rc = message_take(msg, data, datatype, count, &req);

	if (rc != 0)
		return rc;
	vm_req_await(&req, 1, 1);
	typed = vm_typed_compare(call, req);
	rc = vm_req_finish(req, result);
	return rc ? rc : typed;
}

/* Returns the communicator of a message, whose error handler is used. */
static MPI_Comm message_comm(struct vm_call *call, const struct vm_env *env)
{
	struct vm_comm *comm = vm_comm_of_context(call->mpi, env->context);

	return comm ? vm_comm_handle(call->mpi, comm) : MPI_COMM_NULL;
}

int PMPI_Mrecv(void *buf, int count, MPI_Datatype datatype,
	       MPI_Message *message, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Mrecv);
	vmpi_status result = vm_status_proc_null;
	struct vm_env env = { .source = VM_ANY };
	struct vm_data data;
	struct vm_msg *msg = NULL;
	int rc = message_in(&call, buf, count, datatype, message, &msg, &data);

	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	if (msg) {
		env = msg->node.env;
		if (vm_typed()) {
			rc = message_receive_typed(&call, msg, &data, datatype,
						   count, &result);
		} else {
			msg->matched = false;
			rc = vm_msg_receive(msg, &data, &result);
		}
	}
	*message = MPI_MESSAGE_NULL;
	vm_status_set(status, &result);
	if (rc == 0)
		return MPI_SUCCESS;
	return vm_call_exit(&call, message_comm(&call, &env),
			    vm_error_truncated(&call, rc, data.bytes));
}

int PMPI_Imrecv(void *buf, int count, MPI_Datatype datatype,
		MPI_Message *message, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Imrecv);
	struct vm_data data;
	struct vm_req *req;
	struct vm_msg *msg = NULL;
	int rc = message_in(&call, buf, count, datatype, message, &msg, &data);

	if (rc == 0)
		rc = vm_check_pointer(&call, request, "request");
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	if (msg) {
		rc = message_take(msg, &data, datatype, count, &req);
	} else {
		req = vm_req_new_done(VM_REQ_RECV, &vm_status_proc_null);
		rc = req ? 0 : MPI_ERR_NO_MEM;
	}
	if (rc == 0) {
		*message = MPI_MESSAGE_NULL;
		*request = (MPI_Request)req;
	}
	return vm_call_exit_self(&call, rc);
}
