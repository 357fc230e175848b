/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inquiries about a status.
 */
#include <stddef.h>
#include <string.h>

#include "mpi/call/check.h"
#include "mpi/call/status.h"

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_Test_cancelled);
	int rc = vm_check_pointer(&call, status, "status");

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc == 0)
		*flag = vm_status_cancelled(status);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_Status_set_cancelled);
	int rc = vm_check_pointer(&call, status, "status");

	if (rc == 0)
		vm_status_set_cancelled(status, flag != 0);
	return vm_call_exit_self(&call, rc);
}

/* Reads one of the three public fields, the int at an offset, for languages
 * that cannot access them. */
static int field_get(enum vm_call_id id, const MPI_Status *status,
		     size_t offset, int *value)
{
	struct vm_call call = vm_call_enter(id);
	int rc = vm_check_pointer(&call, status, "status");

	if (rc == 0)
		rc = vm_check_pointer(&call, value, "value");
	if (rc == 0)
		memcpy(value, (const char *)status + offset, sizeof(*value));
	return vm_call_exit_self(&call, rc);
}

static int field_set(enum vm_call_id id, MPI_Status *status, size_t offset,
		     int value)
{
	struct vm_call call = vm_call_enter(id);
	int rc = vm_check_pointer(&call, status, "status");

	if (rc == 0)
		memcpy((char *)status + offset, &value, sizeof(value));
	return vm_call_exit_self(&call, rc);
}

int PMPI_Status_get_source(const MPI_Status *status, int *source)
{
	return field_get(VM_CALL_Status_get_source, status,
			 offsetof(MPI_Status, MPI_SOURCE), source);
}

int PMPI_Status_get_tag(const MPI_Status *status, int *tag)
{
	return field_get(VM_CALL_Status_get_tag, status,
			 offsetof(MPI_Status, MPI_TAG), tag);
}

int PMPI_Status_get_error(const MPI_Status *status, int *err)
{
	return field_get(VM_CALL_Status_get_error, status,
			 offsetof(MPI_Status, MPI_ERROR), err);
}

int PMPI_Status_set_source(MPI_Status *status, int source)
{
	return field_set(VM_CALL_Status_set_source, status,
			 offsetof(MPI_Status, MPI_SOURCE), source);
}

int PMPI_Status_set_tag(MPI_Status *status, int tag)
{
	return field_set(VM_CALL_Status_set_tag, status,
			 offsetof(MPI_Status, MPI_TAG), tag);
}

int PMPI_Status_set_error(MPI_Status *status, int err)
{
	return field_set(VM_CALL_Status_set_error, status,
			 offsetof(MPI_Status, MPI_ERROR), err);
}
