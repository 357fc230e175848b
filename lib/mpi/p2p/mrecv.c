/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives of matched messages, for int and MPI_Count (mpi/call/twin.h).
 */
#include "core/comm/probe.h"
#include "mpi/call/check.h"
#include "mpi/call/status.h"
#include "mpi/call/twin.h"
#include "mpi/comm/comm.h"
#include "mpi/p2p/request.h"
#include "mpi/p2p/typed.h"
#include "mpi/type/type.h"

/* Checks the arguments of Mrecv and Imrecv; *msg is NULL for
 * MPI_MESSAGE_NO_PROC. */
static int message_in(struct vm_call *call, const void *buf, vm_count count,
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
	*data = vm_type_data(vm_type_of_buffer(datatype), buf,
			     count < 0 ? 0 : (size_t)count);
	return 0;
}

/* Begins to receive a message. */
static int message_take(struct vm_msg *msg, const struct vm_data *data,
			MPI_Datatype datatype, vm_count count,
			struct vm_req **req)
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
	return vm_typed_receive(*req, vm_type_of_buffer(datatype),
				count < 0 ? 0 : (size_t)count);
}

/* Receives a message by a request, which knows the types at both ends. */
static int message_receive_typed(struct vm_call *call, struct vm_msg *msg,
				 const struct vm_data *data,
				 MPI_Datatype datatype, vm_count count,
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

int VM_TWIN(PMPI_Mrecv)(void *buf, vm_count count, MPI_Datatype datatype,
			MPI_Message *message, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Mrecv));
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
			    vm_error_truncated(&call, rc, &result));
}

int VM_TWIN(PMPI_Imrecv)(void *buf, vm_count count, MPI_Datatype datatype,
			 MPI_Message *message, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Imrecv));
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
