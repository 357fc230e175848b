/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversion of statuses to and from Fortran's: an array of integers, or the
 * type of module mpi_f08.  In the ABI all three have the same eight words in
 * the same order, including hidden ones, so a conversion is a copy.
 */
#include <string.h>

#include "base/err.h"
#include "mpi/call/check.h"

VM_STATIC_ASSERT(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint),
		 "a status and its array are of one size");

static int convert(enum vm_call_id id, void *to, const void *from)
{
	struct vm_call call = vm_call_enter_early(id);
	int rc = vm_check_pointer(&call, from, "the status to convert");

	if (rc == 0)
		rc = vm_check_pointer(&call, to, "the converted status");
	if (rc == 0)
		memmove(to, from, sizeof(MPI_Status));
	return vm_call_exit_self(&call, rc);
}

int PMPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
	return convert(VM_CALL_Status_c2f, f_status, c_status);
}

int PMPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
	return convert(VM_CALL_Status_f2c, c_status, f_status);
}

int PMPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
	return convert(VM_CALL_Status_c2f08, f08_status, c_status);
}

int PMPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
	return convert(VM_CALL_Status_f082c, c_status, f08_status);
}

int PMPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
	return convert(VM_CALL_Status_f2f08, f08_status, f_status);
}

int PMPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
	return convert(VM_CALL_Status_f082f, f_status, f08_status);
}
