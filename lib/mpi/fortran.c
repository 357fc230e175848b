/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table for the Fortran bindings: see mpi/call/fortran.h.
 */
#include "mpi/call/fortran.h"

#include "mpi/call/attr.h"
#include "mpi/call/errh.h"
#include "mpi/op/op.h"
#include "mpi/win/object/win.h"

static void keyval(int number, enum vm_attr_by by)
{
	vm_keyval_set_by(vm_mpi_self(), number, by);
}

/* Returns the attributes of an object that has the attribute `number`. */
static struct vm_attrs *attrs_of(struct vm_mpi *mpi, void *object, int number)
{
	switch (vm_keyval_of(mpi, number)) {
	case VM_ATTR_OF_TYPE:
		return vm_type_extra(mpi, vm_type_checked(object))->attrs;
	case VM_ATTR_OF_WIN:
		return vm_win_get(object)->attrs;
	default:
		return vm_comm_in(mpi, object)->attrs;
	}
}

static void attr_mark(void *object, int number, enum vm_attr_by by)
{
	struct vm_mpi *mpi = vm_mpi_self();

	*vm_attr_by(attrs_of(mpi, object, number), number) = by;
}

/* Of predefined attributes only the places of windows are addresses. */
static enum vm_attr_by attr_set_by(void *object, int number)
{
	struct vm_mpi *mpi = vm_mpi_self();

	if (number == MPI_WIN_BASE)
		return VM_ATTR_C;
	if (number == MPI_WIN_SIZE)
		return VM_ATTR_AINT;
	if (number < VM_KEYVAL_FIRST)
		return VM_ATTR_INT;
	return *vm_attr_by(attrs_of(mpi, object, number), number);
}

const struct vm_fortran vmpi_fortran = {
	.op = vm_op_is_fortran,
	.errhandler = vm_errh_is_fortran,
	.keyval = keyval,
	.mark = attr_mark,
	.set_by = attr_set_by,
};
