/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs of a value and an index, by their parts.
 */
#include "mpi/type/pair.h"

#include "mpi/call/check.h"
#include "mpi/type/type.h"

static const MPI_Datatype pairs[][3] = {
	{ MPI_FLOAT_INT, MPI_FLOAT, MPI_INT },
	{ MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT },
	{ MPI_LONG_INT, MPI_LONG, MPI_INT },
	{ MPI_2INT, MPI_INT, MPI_INT },
	{ MPI_SHORT_INT, MPI_SHORT, MPI_INT },
	{ MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT },
	{ MPI_2REAL, MPI_REAL, MPI_REAL },
	{ MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION },
	{ MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER },
};
#define PAIRS (sizeof(pairs) / sizeof(pairs[0]))

bool vm_pair_parts(MPI_Datatype pair, MPI_Datatype parts[2])
{
	for (size_t i = 0; i < PAIRS; i++)
		if (pairs[i][0] == pair) {
			parts[0] = pairs[i][1];
			parts[1] = pairs[i][2];
			return true;
		}
	return false;
}

int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
			      MPI_Datatype *pair_type)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_get_value_index);
	struct vm_type *type;
	int rc = vm_check_type(&call, value_type, &type);

	if (rc == 0)
		rc = vm_check_type(&call, index_type, &type);
	if (rc == 0)
		rc = vm_check_pointer(&call, pair_type, "pair_type");
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	/* No operation takes other pairs, which is no error. */
	*pair_type = MPI_DATATYPE_NULL;
	for (size_t i = 0; i < PAIRS; i++)
		if (pairs[i][1] == value_type && pairs[i][2] == index_type)
			*pair_type = pairs[i][0];
	return vm_call_exit_self(&call, 0);
}
