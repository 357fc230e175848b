/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One access to the memory of a member: its arguments, and the shortest way.
 *
 * Puts and gets copy, everything else updates elements.  An access in this
 * process is done when its call returns.
 */
#ifndef MPI_WIN_OBJECT_ACCESS_H
#define MPI_WIN_OBJECT_ACCESS_H

#include "core/local/engine.h"
#include "core/local/layout.h"
#include "mpi/op/op.h"
#include "mpi/type/type.h"
#include "mpi/win/object/atomic.h"
#include "mpi/win/object/epoch.h"

/* A buffer of the caller, or what it says about the target's. */
struct vm_win_side {
	const void *buf;
	MPI_Count count;
	MPI_Datatype datatype;
	struct vm_type *type; /* set by the check */
};

struct vm_access {
	MPI_Win handle;
	int rank; /* the target, or MPI_PROC_NULL */
	MPI_Aint disp;
	struct vm_win_side origin, result, target;
	MPI_Op op;
	MPI_Request *request;
	bool asked; /* the call has a request */
	bool gets;  /* a get: data go to the origin's buffer */
	/* Set by the check (check.h): */
	struct vm_win *win;
	void *place; /* where the displacement is in memory */
	const struct vm_op *how;
	const struct vm_type *basic; /* what the target's elements are */
};

/* The data of a side in memory. */
static inline struct vm_data vm_win_side_data(const struct vm_win_side *side)
{
	return vm_type_data(side->type, side->buf, (size_t)side->count);
}

/*
 * Calls that a member may make in vain, until others have changed what it sees,
 * let others run now and then.  May switch.
 */
#define VM_WIN_ROW 32
static inline void vm_win_breathe(void)
{
	if (VM_LIKELY(++vm_self->tests_in_row < VM_WIN_ROW))
		return;
	vm_self->tests_in_row = 0;
	vm_rank_yield();
}

/*
 * Where count elements of a predefined type at a displacement are, if they are
 * in memory that the caller reaches now without any further check; else NULL.
 */
static inline char *vm_win_quick(struct vm_win *win, int rank, MPI_Aint disp,
				 size_t bytes)
{
	const struct vm_window_place *place;
	size_t offset;

	if (VM_UNLIKELY(!win || (unsigned)rank >= (unsigned)win->size ||
			!vm_win_reaches(win, rank)))
		return NULL;
	place = &win->places[rank];
	if (VM_UNLIKELY(__builtin_mul_overflow((size_t)disp, place->unit,
					       &offset) ||
			offset > place->reach || place->reach - offset < bytes))
		return NULL;
	vm_win_store(win->used, true);
	return place->base + offset;
}

/* The predefined type of a handle whose elements are blocks of bytes, or
 * NULL. */
static inline const struct vm_type *vm_win_quick_type(MPI_Datatype handle)
{
	uintptr_t value = (uintptr_t)handle - (uintptr_t)MPI_DATATYPE_NULL;
	const struct vm_type *type =
		value < VM_TYPE_BUILTINS ? vm_type_builtin[value] : NULL;

	return VM_LIKELY(type && type->dense) ? type : NULL;
}

/*
 * The shortest way of an access: blocks of one such type (NULL: of others) on
 * both sides, in memory that is reached.  Returns where the target's are, or
 * NULL; *bytes is their size.
 */
static inline char *vm_win_quick_row(struct vm_win *win,
				     const struct vm_type *type,
				     const void *buf, MPI_Count count, int rank,
				     MPI_Aint disp, MPI_Count target_count,
				     size_t *bytes)
{
	if (VM_UNLIKELY(!type || count != target_count || count < 0 || !buf))
		return NULL;
	*bytes = type->size * (size_t)count;
	return vm_win_quick(win, rank, disp, *bytes);
}

/* The same in memory that only packets reach, or the kernel. */
static inline char *vm_win_quick_far(struct vm_win *win, int rank,
				     MPI_Aint disp, size_t bytes)
{
	const struct vm_window_place *place;
	size_t offset;

	if (!win || (unsigned)rank >= (unsigned)win->size ||
	    !vm_win_reaches(win, rank))
		return NULL;
	place = &win->places[rank];
	if (place->common || !place->base || !bytes ||
	    win->flavor == MPI_WIN_FLAVOR_DYNAMIC ||
	    __builtin_mul_overflow((size_t)disp, place->unit, &offset) ||
	    offset > place->bytes || place->bytes - offset < bytes)
		return NULL;
	vm_win_store(win->used, true);
	return place->base + offset;
}

/* The operation of a handle if it is predefined and for elements of this type,
 * or NULL. */
static inline const struct vm_op *vm_win_quick_op(MPI_Op handle,
						  const struct vm_type *type)
{
	uintptr_t value = (uintptr_t)handle - (uintptr_t)MPI_OP_NULL;
	const struct vm_op *op = value < VM_OP_BUILTINS ? vm_op_builtin[value] :
							  NULL;

	if (!op || !type)
		return NULL;
	return (op->families & type->family) || ((handle == MPI_NO_OP ||
						  handle == MPI_REPLACE) &&
						 type->size) ?
		       op :
		       NULL;
}

#endif
