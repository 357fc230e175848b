/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ABI leaves open, and the library says (MPI 5.0, 20): the sizes of
 * integers in C, and those of Fortran's types.
 *
 * The types of Fortran are those of gfortran, fixed when the library is built:
 * they cannot be set.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mpi/call/check.h"
#include "mpi/call/info.h"
#include "mpi/type/type.h"

/* Key, and the type whose size it is. */
static const struct {
	const char *key;
	MPI_Datatype type;
} fortran_sizes[] = {
	{ "mpi_logical_size", MPI_LOGICAL },
	{ "mpi_integer_size", MPI_INTEGER },
	{ "mpi_real_size", MPI_REAL },
	{ "mpi_double_precision_size", MPI_DOUBLE_PRECISION },
};

/* Key, and the type that exists or does not. */
static const struct {
	const char *key;
	MPI_Datatype type;
} fortran_types[] = {
	{ "mpi_logical1_supported", MPI_LOGICAL1 },
	{ "mpi_logical2_supported", MPI_LOGICAL2 },
	{ "mpi_logical4_supported", MPI_LOGICAL4 },
	{ "mpi_logical8_supported", MPI_LOGICAL8 },
	{ "mpi_logical16_supported", MPI_LOGICAL16 },
	{ "mpi_integer1_supported", MPI_INTEGER1 },
	{ "mpi_integer2_supported", MPI_INTEGER2 },
	{ "mpi_integer4_supported", MPI_INTEGER4 },
	{ "mpi_integer8_supported", MPI_INTEGER8 },
	{ "mpi_integer16_supported", MPI_INTEGER16 },
	{ "mpi_real2_supported", MPI_REAL2 },
	{ "mpi_real4_supported", MPI_REAL4 },
	{ "mpi_real8_supported", MPI_REAL8 },
	{ "mpi_real16_supported", MPI_REAL16 },
	{ "mpi_complex4_supported", MPI_COMPLEX4 },
	{ "mpi_complex8_supported", MPI_COMPLEX8 },
	{ "mpi_complex16_supported", MPI_COMPLEX16 },
	{ "mpi_complex32_supported", MPI_COMPLEX32 },
	{ "mpi_double_complex_supported", MPI_DOUBLE_COMPLEX },
};

static int put_size(MPI_Info info, const char *key, size_t size)
{
	char text[24];

	snprintf(text, sizeof(text), "%zu", size);
	return vm_info_put(info, key, text);
}

/* Begins a call that returns a new info object. */
static int info_begin(struct vm_call *call, MPI_Info *info, MPI_Info *made)
{
	int rc = vm_check_pointer(call, info, "info");

	return rc == 0 ? vm_info_new(call->mpi, made) : rc;
}

static int info_end(struct vm_call *call, int rc, MPI_Info *info, MPI_Info made)
{
	if (rc == 0)
		*info = made;
	else if (made != MPI_INFO_NULL)
		vm_info_drop(call->mpi, made);
	return vm_call_exit_self(call, rc);
}

int PMPI_Abi_get_info(MPI_Info *info)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Abi_get_info);
	MPI_Info made = MPI_INFO_NULL;
	int rc = info_begin(&call, info, &made);

	if (rc == 0)
		rc = put_size(made, "mpi_aint_size", sizeof(MPI_Aint));
	if (rc == 0)
		rc = put_size(made, "mpi_count_size", sizeof(MPI_Count));
	if (rc == 0)
		rc = put_size(made, "mpi_offset_size", sizeof(MPI_Offset));
	return info_end(&call, rc, info, made);
}

int PMPI_Abi_get_fortran_info(MPI_Info *info)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Abi_get_fortran_info);
	const size_t sizes = sizeof(fortran_sizes) / sizeof(fortran_sizes[0]);
	const size_t types = sizeof(fortran_types) / sizeof(fortran_types[0]);
	MPI_Info made = MPI_INFO_NULL;
	int rc = info_begin(&call, info, &made);

	for (size_t i = 0; rc == 0 && i < sizes; i++)
		rc = put_size(made, fortran_sizes[i].key,
			      vm_type_get(fortran_sizes[i].type)->size);
	for (size_t i = 0; rc == 0 && i < types; i++)
		rc = vm_info_put(made, fortran_types[i].key,
				 vm_type_get(fortran_types[i].type) ? "true" :
								      "false");
	return info_end(&call, rc, info, made);
}

int PMPI_Abi_set_fortran_info(MPI_Info info)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Abi_set_fortran_info);
	int rc = vm_check_hints(&call, info);

	if (rc == 0)
		rc = vm_error(&call, MPI_ERR_ABI,
			      "the types of Fortran are set already, see "
			      "MPI_Abi_get_fortran_info");
	return vm_call_exit_self(&call, rc);
}

/* The sizes of the LOGICAL types. */
static int check_logical_size(struct vm_call *call, int size)
{
	if (size >= 1 && size <= 16 && (size & (size - 1)) == 0)
		return 0;
	return vm_error(call, MPI_ERR_ARG,
			"logical_size is %d, must be 1, 2, 4, 8 or 16", size);
}

static int check_booleans(struct vm_call *call, int size,
			  const void *logical_true, const void *logical_false)
{
	int rc = check_logical_size(call, size);

	if (rc == 0)
		rc = vm_check_pointer(call, logical_true, "logical_true");
	if (rc == 0)
		rc = vm_check_pointer(call, logical_false, "logical_false");
	return rc;
}

/* gfortran's values of all sizes, in the order of the machine's bytes. */
static void boolean_put(void *to, int size, bool value)
{
	unsigned __int128 word = value;

	memcpy(to, &word, (size_t)size);
}

int PMPI_Abi_get_fortran_booleans(int logical_size, void *logical_true,
				  void *logical_false, int *is_set)
{
	struct vm_call call =
		vm_call_enter_early(VM_CALL_Abi_get_fortran_booleans);
	int rc = check_booleans(&call, logical_size, logical_true,
				logical_false);

	if (rc == 0)
		rc = vm_check_pointer(&call, is_set, "is_set");
	if (rc == 0) {
		boolean_put(logical_true, logical_size, true);
		boolean_put(logical_false, logical_size, false);
		*is_set = 1;
	}
	return vm_call_exit_self(&call, rc);
}

int PMPI_Abi_set_fortran_booleans(int logical_size, void *logical_true,
				  void *logical_false)
{
	struct vm_call call =
		vm_call_enter_early(VM_CALL_Abi_set_fortran_booleans);
	int rc = check_booleans(&call, logical_size, logical_true,
				logical_false);

	if (rc == 0)
		rc = vm_error(&call, MPI_ERR_ABI,
			      "the values of LOGICAL are set already, see "
			      "MPI_Abi_get_fortran_booleans");
	return vm_call_exit_self(&call, rc);
}
