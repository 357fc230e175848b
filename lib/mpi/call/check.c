/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Argument checks: only called for unusual arguments or outside the message
 * path.
 */
#include "mpi/call/check.h"

#include "core/rank/state.h"

int vm_check_comm(struct vm_call *call, MPI_Comm handle, struct vm_comm **comm)
{
	*comm = vm_comm_in(call->mpi, handle);
	if (VM_UNLIKELY(call->mpi->world_phase != VM_MPI_RUNNING) &&
	    (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF))
		return vm_error(call, MPI_ERR_COMM,
				"%s exists only between MPI_Init and "
				"MPI_Finalize",
				handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" :
							   "MPI_COMM_SELF");
	if (*comm)
		return 0;
	if (handle == MPI_COMM_NULL)
		return vm_error(call, MPI_ERR_COMM, "MPI_COMM_NULL");
	return vm_error(call, MPI_ERR_COMM,
			"%p is not a communicator, or it was freed, or is not "
			"complete yet (MPI_Comm_idup)",
			(void *)handle);
}

int vm_check_intra(struct vm_call *call, MPI_Comm handle, struct vm_comm **comm)
{
	int rc = vm_check_comm(call, handle, comm);

	if (rc == 0 && (*comm)->inter)
		rc = vm_error(call, MPI_ERR_COMM,
			      "an intercommunicator is not allowed here");
	return rc;
}

int vm_check_together(struct vm_call *call, MPI_Comm handle,
		      struct vm_comm **comm)
{
	int rc = vm_check_intra(call, handle, comm);

	if (rc == 0 && vm_node->apart && (*comm)->size > 1)
		rc = vm_error(call, MPI_ERR_UNSUPPORTED_OPERATION,
			      "ranks of a process share windows and files, so "
			      "they cannot fail one by one "
			      "(--keep-going=ranks)");
	return rc;
}

int vm_check_count(struct vm_call *call, MPI_Count count)
{
	if (count >= 0 || !mpi_cvar.check)
		return 0;
	return vm_error(call, MPI_ERR_COUNT, "count %lld is negative",
			(long long)count);
}

int vm_check_size(struct vm_call *call, MPI_Count count, const char *name)
{
	if (VM_LIKELY(count >= 0))
		return 0;
	return vm_error(call, MPI_ERR_COUNT, "%s is %lld, must not be negative",
			name, (long long)count);
}

/* Memory safety: always checked. */
static int check_rank(struct vm_call *call, const struct vm_comm *comm,
		      int rank, const char *role)
{
	if (rank >= 0 && rank < comm->size)
		return 0;
	return vm_error(call, MPI_ERR_RANK, "%s %d, but ranks are 0 to %d",
			role, rank, comm->size - 1);
}

int vm_check_dest(struct vm_call *call, const struct vm_comm *comm, int dest)
{
	if (dest == MPI_PROC_NULL)
		return 0;
	return check_rank(call, comm, dest, "destination");
}

int vm_check_source(struct vm_call *call, const struct vm_comm *comm,
		    int source)
{
	if (source == MPI_PROC_NULL || source == MPI_ANY_SOURCE)
		return 0;
	return check_rank(call, comm, source, "source");
}

int vm_check_tag(struct vm_call *call, int tag)
{
	if (tag >= 0 || !mpi_cvar.check)
		return 0;
	return vm_error(call, MPI_ERR_TAG, "tag %d, but tags are 0 to %d", tag,
			VMPI_TAG_MAX);
}

int vm_check_tag_or_any(struct vm_call *call, int tag)
{
	return tag == MPI_ANY_TAG ? 0 : vm_check_tag(call, tag);
}

int vm_check_root(struct vm_call *call, const struct vm_comm *comm, int root)
{
	if (root >= 0 && root < comm->size)
		return 0;
	return vm_error(call, MPI_ERR_ROOT, "root %d, but ranks are 0 to %d",
			root, comm->size - 1);
}

int vm_check_pointer(struct vm_call *call, const void *pointer,
		     const char *name)
{
	if (pointer)
		return 0;
	return vm_error(call, MPI_ERR_ARG, "argument %s is NULL", name);
}
