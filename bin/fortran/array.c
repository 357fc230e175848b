/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays of handles, and how long those are that have no length of their own.
 */
#include "array.h"

#include <stdlib.h>

#include "convert.h"

static void *from_number(enum vm_f_kind kind, MPI_Fint number)
{
	switch (kind) {
#define FROM(kind, name, type, word) \
	case VM_F_##kind:            \
		return vm_f_##word(number);
		VM_F_HANDLES(FROM)
	}
	return NULL;
}

static MPI_Fint to_number(enum vm_f_kind kind, void *handle)
{
	switch (kind) {
#define TO(kind, name, type, word) \
	case VM_F_##kind:          \
		return vm_f_##word##_number(handle);
		VM_F_HANDLES(TO)
	}
	return 0;
}

int vm_f_handles_in(struct vm_f_handles *handles, enum vm_f_kind kind,
		    const MPI_Fint *numbers, int count)
{
	const int few = sizeof(handles->few) / sizeof(*handles->few);

	handles->kind = kind;
	handles->count = count < 0 ? 0 : count;
	handles->all = handles->few;
	if (handles->count > few)
		handles->all =
			calloc((size_t)handles->count, sizeof(*handles->all));
	if (!handles->all)
		return vm_f_fail(MPI_ERR_NO_MEM);
	for (int i = 0; i < handles->count; i++)
		handles->all[i] = from_number(kind, numbers[i]);
	return 0;
}

void vm_f_handles_end(struct vm_f_handles *handles)
{
	if (handles->all != handles->few)
		free(handles->all);
}

void vm_f_handles_out(struct vm_f_handles *handles, MPI_Fint *numbers)
{
	if (!handles->all)
		return;
	for (int i = 0; i < handles->count; i++)
		numbers[i] = to_number(handles->kind, handles->all[i]);
	vm_f_handles_end(handles);
}

#define LOOK(name)                                                     \
	int vm_f_##name(MPI_Comm comm)                                 \
	{                                                              \
		struct vm_fortran_comm look;                           \
                                                                       \
		return vmpi_fortran.comm(&look, comm) ? look.name : 0; \
	}
LOOK(local)
LOOK(peers)
LOOK(sources)
LOOK(targets)

bool vm_f_is_root(MPI_Comm comm, MPI_Fint root)
{
	struct vm_fortran_comm look;

	return root == MPI_ROOT || (vmpi_fortran.comm(&look, comm) &&
				    root == look.rank && !look.inter);
}

int vm_f_fail(int error)
{
	PMPI_Comm_call_errhandler(MPI_COMM_SELF, error);
	return error;
}
