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
	/* The standard leaves *message undefined; programs compare it. */
	if (rc == -VMPI_EAGAIN) {
		*flag = 0;
		*message = MPI_MESSAGE_NULL;
		return MPI_SUCCESS;
	}
	if (rc == 0) {
		*flag = 1;
		message_out(msg, message, status);
	}
	return vm_call_exit(&call, comm, rc);
}
