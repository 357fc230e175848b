/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An operation on two buffers of the caller, for int and MPI_Count
 * (mpi/call/twin.h).
 */
#include "mpi/call/check.h"
#include "mpi/call/twin.h"
#include "mpi/op/op.h"

static int check_local(struct vm_call *call, const void *inbuf,
		       const void *inoutbuf)
{
	if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE)
		return vm_error(call, MPI_ERR_BUFFER,
				"MPI_IN_PLACE is not allowed here");
	if (inbuf == inoutbuf && inbuf && mpi_cvar.check)
		return vm_error(call, MPI_ERR_BUFFER,
				"inbuf and inoutbuf are the same");
	return 0;
}

int VM_TWIN(PMPI_Reduce_local)(const void *inbuf, void *inoutbuf,
			       vm_count count, MPI_Datatype datatype, MPI_Op op)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Reduce_local));
	const struct vm_op *object;
	struct vm_type *type;
	int rc = vm_check_committed(&call, datatype, &type);

	if (rc == 0)
		rc = vm_check_op(&call, op, type, &object);
	if (rc == 0)
		rc = vm_check_size(&call, count, "count");
	if (rc == 0)
		rc = vm_check_buffer(&call, inbuf, count, datatype);
	if (rc == 0)
		rc = vm_check_buffer(&call, inoutbuf, count, datatype);
	if (rc == 0 && count > 0)
		rc = check_local(&call, inbuf, inoutbuf);
	if (rc == 0 && count > 0)
		vm_op_apply(object, type, inbuf, inoutbuf, (size_t)count);
	return vm_call_exit_self(&call, rc);
}
