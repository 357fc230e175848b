/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table for the Fortran bindings: see mpi/call/fortran.h.
 */
#include "mpi/call/fortran.h"

#include <string.h>

#include "mpi/call/attr.h"
#include "mpi/call/errh.h"
#include "mpi/call/handle.h"
#include "mpi/io/file.h"
#include "mpi/op/op.h"
#include "mpi/p2p/joined.h"
#include "mpi/part/part.h"
#include "mpi/topo/neighbor.h"
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

static int type_look(struct vm_fortran_type *out, MPI_Datatype handle)
{
	const struct vm_type *type = vm_type_get(handle);

	if (!type || !type->committed)
		return 0;
	*out = (struct vm_fortran_type){
		.size = (MPI_Count)type->size,
		.lb = type->lb,
		.extent = type->extent,
		.true_lb = type->true_lb,
		.true_extent = type->true_extent,
		.basic = MPI_BYTE,
		.basic_bytes = 1,
	};
	if (type->basic && vm_type_is_named(type->basic)) {
		out->basic = vm_type_handle(type->basic);
		out->basic_bytes = (int)type->basic->size;
	}
	return 1;
}

static int comm_look(struct vm_fortran_comm *out, MPI_Comm handle)
{
	const struct vm_comm *comm = vm_comm_in(vm_mpi_self(), handle);

	if (!comm)
		return 0;
	*out = (struct vm_fortran_comm){
		.rank = comm->rank,
		.local = comm->local_size,
		.peers = comm->size,
		.inter = comm->inter,
	};
	if (comm->topo || comm->graph)
		vm_nbr_counts(comm, &out->sources, &out->targets);
	return 1;
}

static int type_walk(MPI_Datatype type, MPI_Count count, vm_fortran_run *run,
		     void *arg)
{
	/* An address that no offset makes less than 0. */
	char *base = (char *)((uintptr_t)1 << 62), *piece;
	struct vm_data data =
		vm_type_data(vm_type_get(type), base, (size_t)count);
	struct vm_cursor cursor;
	size_t bytes;

	vm_cursor_init(&cursor, &data);
	while ((bytes = vm_cursor_piece(&cursor, &piece, SIZE_MAX)) > 0)
		if (!run(arg, piece - base, bytes))
			return 0;
	return 1;
}

/* What a Fortran call is called in the table. */
static enum vm_call_id id_of(const char *name)
{
	int id = 0;

	while (strcmp(vm_call_name((enum vm_call_id)id), name) != 0)
		id++;
	return (enum vm_call_id)id;
}

static int call_fail(const char *name, enum vm_fortran_object of, void *object,
		     int error, const char *what)
{
	struct vm_call call = vm_call_enter(id_of(name));

	if (what)
		vm_error(&call, error, "%s", what);
	if (of == VM_FORTRAN_WIN)
		return vm_win_fail(&call, object, error);
	if (of == VM_FORTRAN_FILE)
		return vm_file_fail(&call, object, error);
	return vm_call_exit(
		&call, of == VM_FORTRAN_COMM ? object : MPI_COMM_NULL, error);
}

const struct vm_fortran vmpi_fortran = {
	.op = vm_op_is_fortran,
	.errhandler = vm_errh_is_fortran,
	.keyval = keyval,
	.mark = attr_mark,
	.set_by = attr_set_by,
	.type = type_look,
	.comm = comm_look,
	.walk = type_walk,
	.fail = call_fail,
	.around = vm_joined_around,
	.part = vm_part_init_whole,
};
