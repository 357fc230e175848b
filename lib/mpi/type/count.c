/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inquiries about datatypes and statuses that return MPI_Count, and the search
 * for a predefined type by size.
 */
#include "mpi/call/check.h"
#include "mpi/call/status.h"
#include "mpi/type/type.h"

int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_size_x);
	struct vm_type *type;
	int rc = vm_check_type(&call, datatype, &type);

	if (rc == 0)
		rc = vm_check_pointer(&call, size, "size");
	if (rc == 0)
		*size = (MPI_Count)type->size;
	return vm_call_exit_self(&call, rc);
}

/* Two bounds of a type. */
static int check_bounds(struct vm_call *call, MPI_Datatype datatype,
			struct vm_type **type, const MPI_Count *lb,
			const MPI_Count *extent)
{
	int rc = vm_check_type(call, datatype, type);

	if (rc == 0)
		rc = vm_check_pointer(call, lb, "lb");
	return rc == 0 ? vm_check_pointer(call, extent, "extent") : rc;
}

int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb,
			   MPI_Count *extent)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_get_extent_x);
	struct vm_type *type;
	int rc = check_bounds(&call, datatype, &type, lb, extent);

	if (rc == 0) {
		*lb = type->lb;
		*extent = type->extent;
	}
	return vm_call_exit_self(&call, rc);
}

int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb,
				MPI_Count *true_extent)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_get_true_extent_x);
	struct vm_type *type;
	int rc = check_bounds(&call, datatype, &type, true_lb, true_extent);

	if (rc == 0) {
		*true_lb = type->true_lb;
		*true_extent = type->true_extent;
	}
	return vm_call_exit_self(&call, rc);
}

int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype,
			MPI_Count *count)
{
	struct vm_call call = vm_call_enter(VM_CALL_Get_elements_x);
	struct vm_type *type;
	int rc = vm_check_pointer(&call, status, "status");

	if (rc == 0)
		rc = vm_check_type(&call, datatype, &type);
	if (rc == 0)
		rc = vm_check_pointer(&call, count, "count");
	if (rc == 0) {
		*count = vm_type_elements(type,
					  (MPI_Count)vm_status_bytes(status));
		if (*count < 0)
			*count = MPI_UNDEFINED;
	}
	return vm_call_exit_self(&call, rc);
}

int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype,
			       MPI_Count count)
{
	struct vm_call call = vm_call_enter(VM_CALL_Status_set_elements_x);
	struct vm_type *type;
	int rc = vm_check_pointer(&call, status, "status");

	if (rc == 0)
		rc = vm_check_type(&call, datatype, &type);
	if (rc == 0)
		rc = vm_check_elements(&call, type, count);
	if (rc == 0)
		vm_status_set_bytes(status,
				    (uint64_t)vm_type_bytes(type, count));
	return vm_call_exit_self(&call, rc);
}

/* The types MPI_Type_match_size chooses from, those of Fortran (MPI 4.1,
 * 19.1.9). */
static const struct {
	int typeclass, size;
	MPI_Datatype type;
} matches[] = {
	{ MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1 },
	{ MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2 },
	{ MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4 },
	{ MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8 },
	{ MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16 },
	{ MPI_TYPECLASS_REAL, 2, MPI_REAL2 },
	{ MPI_TYPECLASS_REAL, 4, MPI_REAL4 },
	{ MPI_TYPECLASS_REAL, 8, MPI_REAL8 },
	{ MPI_TYPECLASS_REAL, 16, MPI_REAL16 },
	{ MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4 },
	{ MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8 },
	{ MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16 },
	{ MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32 },
};

/* MPI_DATATYPE_NULL when there is none that this library computes with. */
static MPI_Datatype match(int typeclass, int size)
{
	for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++)
		if (matches[i].typeclass == typeclass &&
		    matches[i].size == size && vm_type_get(matches[i].type))
			return matches[i].type;
	return MPI_DATATYPE_NULL;
}

int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_match_size);
	MPI_Datatype found = match(typeclass, size);
	int rc = vm_check_pointer(&call, datatype, "datatype");

	if (rc == 0 && typeclass != MPI_TYPECLASS_INTEGER &&
	    typeclass != MPI_TYPECLASS_REAL &&
	    typeclass != MPI_TYPECLASS_COMPLEX)
		rc = vm_error(&call, MPI_ERR_ARG, "typeclass %d is unknown",
			      typeclass);
	if (rc == 0 && found == MPI_DATATYPE_NULL)
		rc = vm_error(&call, MPI_ERR_ARG,
			      "there is no such type of %d bytes", size);
	if (rc == 0)
		*datatype = found;
	return vm_call_exit_self(&call, rc);
}
