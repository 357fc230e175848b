/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Updates of one element that return what it was: MPI_Fetch_and_op and
 * MPI_Compare_and_swap.
 */
#include "mpi/call/check.h"
#include "mpi/type/basic.h"
#include "mpi/win/check.h"
#include "mpi/win/far/far.h"

/* The arguments that both calls have. */
#define ACCESS(...)                                                      \
	(struct vm_access)                                               \
	{                                                                \
		.handle = win, .rank = target_rank, .disp = target_disp, \
		.origin = { .buf = origin_addr },                        \
		.result = { .buf = result_addr },                        \
		.target = { .datatype = datatype }, __VA_ARGS__          \
	}

static int check_fetch(struct vm_call *call, struct vm_access *a)
{
	int rc = vm_access_check_one(call, a);

	if (rc == 0 && a->op != MPI_NO_OP)
		rc = vm_check_pointer(call, a->origin.buf, "origin_addr");
	if (rc != 0)
		return rc;
	return vm_access_check_op(call, a);
}

/* The old value leaves the padding of a pair in the result as it is there. */
static void fetch(struct vm_win *win, int rank, const struct vm_op *op,
		  const struct vm_type *type, void *place,
		  const void *origin_addr, void *result_addr)
{
	struct vm_atomic how = { op, type, win->places[rank].common };

	vm_atomic_update(&how, place, origin_addr, result_addr, 1);
}

static __attribute__((noinline)) int fetch_slow(struct vm_call *call,
						struct vm_access *a)
{
	int rc = check_fetch(call, a);

	if (rc == 0 && a->rank != MPI_PROC_NULL &&
	    vm_win_is_far(a->win, a->rank)) {
		a->origin.datatype = a->result.datatype = a->target.datatype;
		a->origin.type = a->result.type = a->target.type;
		a->origin.count = a->result.count = 1;
		rc = vm_far_update(call, a);
	} else if (rc == 0 && a->rank != MPI_PROC_NULL)
		fetch(a->win, a->rank, a->how, a->basic, a->place,
		      a->origin.buf, (void *)(uintptr_t)a->result.buf);
	return vm_win_exit(call, a->handle, rc);
}

int PMPI_Fetch_and_op(const void *origin_addr, void *result_addr,
		      MPI_Datatype datatype, int target_rank,
		      MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Fetch_and_op);
	const struct vm_type *type = vm_win_quick_type(datatype);
	const struct vm_op *how = vm_win_quick_op(op, type);
	struct vm_win *w = vm_win_get(win);
	struct vm_access access;
	void *place;

	if (VM_LIKELY(how && origin_addr && result_addr)) {
		place = vm_win_quick(w, target_rank, target_disp, type->size);
		if (VM_LIKELY(place && !vm_win_is_far(w, target_rank))) {
			fetch(w, target_rank, how, type, place, origin_addr,
			      result_addr);
			return MPI_SUCCESS;
		}
	}
	access = ACCESS(.op = op);
	return fetch_slow(&call, &access);
}

#define SWAP_FAMILIES                                                \
	(VM_FAMILY_INTEGER | VM_FAMILY_FORTRAN | VM_FAMILY_LOGICAL | \
	 VM_FAMILY_ADDRESS | VM_FAMILY_BYTE)

static int check_swap(struct vm_call *call, struct vm_access *a,
		      const void *compare_addr)
{
	int rc = vm_access_check_one(call, a);

	if (rc == 0)
		rc = vm_check_pointer(call, a->origin.buf, "origin_addr");
	if (rc == 0)
		rc = vm_check_pointer(call, compare_addr, "compare_addr");
	if (rc == 0 && !(a->target.type->family & SWAP_FAMILIES))
		rc = vm_error(call, MPI_ERR_TYPE,
			      "%s is neither an integer nor a logical nor a "
			      "byte",
			      vm_type_name(a->target.type));
	return rc;
}

static __attribute__((noinline)) int
swap_slow(struct vm_call *call, struct vm_access *a, const void *compare_addr)
{
	int rc = check_swap(call, a, compare_addr);

	if (rc != 0 || a->rank == MPI_PROC_NULL)
		return vm_win_exit(call, a->handle, rc);
	if (vm_win_is_far(a->win, a->rank))
		rc = vm_far_swap(call, a, compare_addr);
	else
		vm_atomic_swap(a->basic, a->win->places[a->rank].common,
			       a->place, a->origin.buf, compare_addr,
			       (void *)(uintptr_t)a->result.buf);
	return vm_win_exit(call, a->handle, rc);
}

int PMPI_Compare_and_swap(const void *origin_addr, const void *compare_addr,
			  void *result_addr, MPI_Datatype datatype,
			  int target_rank, MPI_Aint target_disp, MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Compare_and_swap);
	const struct vm_type *type = vm_win_quick_type(datatype);
	struct vm_win *w = vm_win_get(win);
	struct vm_access access;
	void *place = NULL;

	if (VM_LIKELY(type && (type->family & SWAP_FAMILIES) && origin_addr &&
		      compare_addr && result_addr))
		place = vm_win_quick(w, target_rank, target_disp, type->size);
	if (VM_LIKELY(place && !vm_win_is_far(w, target_rank))) {
		vm_atomic_swap(type, w->places[target_rank].common, place,
			       origin_addr, compare_addr, result_addr);
		return MPI_SUCCESS;
	}
	access = ACCESS();
	return swap_slow(&call, &access, compare_addr);
}
