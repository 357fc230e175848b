/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What datatypes were made of; and functions of MPI-1, whose displacements are
 * default integers.
 */
#include <stdlib.h>

#include "by_hand.h"
#include "convert.h"

/* As many as were asked for are allocated, as many as there are converted. */
static void types_out(MPI_Fint *types, const MPI_Datatype *c_types,
		      MPI_Count count)
{
	for (MPI_Count i = 0; i < count; i++)
		types[i] = vm_f_type_number(c_types[i]);
}

static MPI_Datatype *types_room(MPI_Count count)
{
	return calloc(count > 0 ? (size_t)count : 1, sizeof(MPI_Datatype));
}

int vm_f_type_get_contents(__typeof__(MPI_Type_get_contents) *call,
			   MPI_Fint *type, MPI_Fint *max_integers,
			   MPI_Fint *max_addresses, MPI_Fint *max_types,
			   MPI_Fint *integers, MPI_Aint *addresses,
			   MPI_Fint *types)
{
	MPI_Datatype *c_types = types_room(*max_types), c = vm_f_type(*type);
	int ints, aints, count = 0, combiner, rc;

	if (!c_types)
		return vm_f_fail(MPI_ERR_NO_MEM);
	rc = call(c, *max_integers, *max_addresses, *max_types, integers,
		  addresses, c_types);
	if (rc == 0)
		rc = PMPI_Type_get_envelope(c, &ints, &aints, &count,
					    &combiner);
	if (rc == 0)
		types_out(types, c_types, count);
	free(c_types);
	return rc;
}

/* A datatype that C makes does not fit into none: what was not filled is
 * MPI_DATATYPE_NULL, and not converted. */
int vm_f_type_get_contents_c(__typeof__(MPI_Type_get_contents_c) *call,
			     MPI_Fint *type, MPI_Count *max_integers,
			     MPI_Count *max_addresses, MPI_Count *max_counts,
			     MPI_Count *max_types, MPI_Fint *integers,
			     MPI_Aint *addresses, MPI_Count *counts,
			     MPI_Fint *types)
{
	MPI_Datatype *c_types = types_room(*max_types);
	MPI_Count count = 0;
	int rc;

	if (!c_types)
		return vm_f_fail(MPI_ERR_NO_MEM);
	rc = call(vm_f_type(*type), *max_integers, *max_addresses, *max_counts,
		  *max_types, integers, addresses, counts, c_types);
	while (rc == 0 && count < *max_types && c_types[count])
		count++;
	if (rc == 0)
		types_out(types, c_types, count);
	free(c_types);
	return rc;
}

int vm_f_address(__typeof__(MPI_Address) *call, void *location,
		 MPI_Fint *address)
{
	MPI_Aint at;
	int rc = call(vm_f_buffer(location), &at);

	if (rc == 0 && at != (MPI_Fint)at)
		return vm_f_fail(MPI_ERR_ARG);
	if (rc == 0)
		*address = (MPI_Fint)at;
	return rc;
}

#define ONE(name, c_name)                                                    \
	int name(__typeof__(c_name) *call, MPI_Fint *type, MPI_Fint *result) \
	{                                                                    \
		MPI_Aint value;                                              \
		int rc = call(vm_f_type(*type), &value);                     \
                                                                             \
		if (rc == 0)                                                 \
			*result = (MPI_Fint)value;                           \
		return rc;                                                   \
	}
ONE(vm_f_type_extent, MPI_Type_extent)
ONE(vm_f_type_lb, MPI_Type_lb)
ONE(vm_f_type_ub, MPI_Type_ub)

int vm_f_type_hvector(__typeof__(MPI_Type_hvector) *call, MPI_Fint *count,
		      MPI_Fint *length, MPI_Fint *stride, MPI_Fint *old,
		      MPI_Fint *type)
{
	MPI_Datatype made;
	int rc = call(*count, *length, *stride, vm_f_type(*old), &made);

	if (rc == 0)
		*type = vm_f_type_number(made);
	return rc;
}

static MPI_Aint *aints(const MPI_Fint *values, int count)
{
	MPI_Aint *all = calloc(count > 0 ? (size_t)count : 1, sizeof(*all));

	for (int i = 0; all && i < count; i++)
		all[i] = values[i];
	return all;
}

int vm_f_type_hindexed(__typeof__(MPI_Type_hindexed) *call, MPI_Fint *count,
		       MPI_Fint *lengths, MPI_Fint *displacements,
		       MPI_Fint *old, MPI_Fint *type)
{
	MPI_Aint *places = aints(displacements, *count);
	MPI_Datatype made;
	int rc = places ?
			 call(*count, lengths, places, vm_f_type(*old), &made) :
			 vm_f_fail(MPI_ERR_NO_MEM);

	if (rc == 0)
		*type = vm_f_type_number(made);
	free(places);
	return rc;
}

int vm_f_type_struct(__typeof__(MPI_Type_struct) *call, MPI_Fint *count,
		     MPI_Fint *lengths, MPI_Fint *displacements,
		     MPI_Fint *types, MPI_Fint *type)
{
	MPI_Aint *places = aints(displacements, *count);
	struct vm_f_handles c_types;
	MPI_Datatype made;
	int rc = places ? vm_f_handles_in(&c_types, VM_F_TYPE, types, *count) :
			  vm_f_fail(MPI_ERR_NO_MEM);

	if (rc == 0) {
		rc = call(*count, lengths, places, (MPI_Datatype *)c_types.all,
			  &made);
		vm_f_handles_end(&c_types);
	}
	if (rc == 0)
		*type = vm_f_type_number(made);
	free(places);
	return rc;
}
