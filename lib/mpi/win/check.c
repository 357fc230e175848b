/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of accesses: buffers, types, the epoch, the target's memory.
 */
#include "mpi/win/check.h"

#include "core/window/region.h"
#include "mpi/call/check.h"
#include "mpi/win/passive.h"

static int check_side(struct vm_call *call, struct vm_win_side *side)
{
	int rc = vm_check_size(call, side->count, "count");

	if (rc == 0)
		rc = vm_check_type_of(call, side->datatype, side->count != 0,
				      &side->type);
	if (rc == 0)
		rc = vm_check_buffer(call, side->buf, side->count,
				     side->datatype);
	return rc;
}

static int check_target(struct vm_call *call, struct vm_access *a)
{
	struct vm_win_side *target = &a->target;
	int rc = vm_check_size(call, target->count, "target_count");

	if (rc == 0)
		rc = vm_check_type_of(call, target->datatype,
				      target->count != 0, &target->type);
	if (rc == 0)
		rc = vm_check_win_rank(call, a->win, a->rank, "target_rank");
	if (rc == 0 && a->disp < 0 && a->win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
		rc = vm_error(call, MPI_ERR_DISP,
			      "target_disp %lld is negative",
			      (long long)a->disp);
	return rc;
}

/* That the epoch allows the access.  MPI has calls with requests only between
 * locks, but programs use them between fences, and they are complete at once. */
static int check_epoch(struct vm_call *call, const struct vm_access *a)
{
	const struct vm_win *win = a->win;

	if (!vm_win_reaches(win, a->rank))
		return vm_error(call, MPI_ERR_RMA_SYNC,
				"rank %d is not reached now: %s", a->rank,
				vm_win_epoch_text(win));
	return 0;
}

typedef __int128 wide;

/* The bytes of the target's buffer, from the displacement on. */
static void span(const struct vm_win_side *target, wide *low, wide *high)
{
	const struct vm_type *type = target->type;
	wide last = (wide)(target->count - 1) * type->extent;

	*low = type->true_lb + (last < 0 ? last : 0);
	*high = (wide)type->true_lb + type->true_extent + (last > 0 ? last : 0);
}

/* Finds the target's memory. */
static int check_range(struct vm_call *call, struct vm_access *a)
{
	const struct vm_window_place *place = &a->win->places[a->rank];
	bool dynamic = a->win->flavor == MPI_WIN_FLAVOR_DYNAMIC;
	wide at = (wide)a->disp * (wide)place->unit, low, high;

	a->place = place->base + (dynamic ? a->disp : 0);
	if (!a->target.count || !a->target.type->size)
		return 0;
	if (dynamic)
		at = (uintptr_t)a->disp;
	span(&a->target, &low, &high);
	low += at;
	high += at;
	if (dynamic) {
		/* Another process looks itself. */
		if (low >= 0 && high <= (wide)UINTPTR_MAX && !place->window)
			return 0;
		if (low >= 0 && high <= (wide)UINTPTR_MAX &&
		    vm_window_attached(place->window, (uintptr_t)low,
				       (size_t)(high - low)))
			return 0;
		return vm_error(call, MPI_ERR_RMA_RANGE,
				"rank %d has not attached all of the %lld "
				"bytes at %#llx",
				a->rank, (long long)(high - low),
				(long long)low);
	}
	a->place = place->base + (ptrdiff_t)at;
	if (low >= 0 && high <= (wide)place->bytes)
		return 0;
	return vm_error(call, MPI_ERR_RMA_RANGE,
			"bytes %lld to %lld, of a window that has %zu at "
			"rank %d",
			(long long)low, (long long)high - 1, place->bytes,
			a->rank);
}

static size_t bytes_of(const struct vm_win_side *side)
{
	return side->type->size * (size_t)side->count;
}

static int check_fits(struct vm_call *call, const struct vm_win_side *to,
		      const struct vm_win_side *from)
{
	if (bytes_of(from) <= bytes_of(to))
		return 0;
	return vm_error(call, MPI_ERR_TRUNCATE,
			"%zu bytes do not fit into a buffer of %zu",
			bytes_of(from), bytes_of(to));
}

/* The epoch and the memory, when all else is known. */
static int check_reach(struct vm_call *call, struct vm_access *a)
{
	int rc = 0;

	if (vm_win_load(a->win->epoch) == VM_WIN_LOCK_ALL &&
	    !vm_win_reaches(a->win, a->rank))
		rc = vm_win_lock_shared(a->win, a->rank);
	if (rc == 0)
		rc = check_epoch(call, a);
	if (rc == 0)
		rc = check_range(call, a);
	if (rc == 0)
		vm_win_store(a->win->used, true);
	return rc;
}

int vm_access_check_copy(struct vm_call *call, struct vm_access *a)
{
	int rc = vm_check_win(call, a->handle, &a->win);

	if (rc == 0)
		rc = check_side(call, &a->origin);
	if (rc == 0 && a->rank == MPI_PROC_NULL)
		return 0;
	if (rc == 0)
		rc = check_target(call, a);
	if (rc == 0)
		rc = a->gets ? check_fits(call, &a->origin, &a->target) :
			       check_fits(call, &a->target, &a->origin);
	return rc == 0 ? check_reach(call, a) : rc;
}

/* The operation, and that all sides are of one predefined type. */
static int check_basic(struct vm_call *call, struct vm_access *a,
		       const struct vm_win_side *side)
{
	const char *name = a->basic ? vm_type_name(a->basic) : "";

	if (!bytes_of(&a->target))
		return 0;
	if (!a->basic)
		return vm_error(call, MPI_ERR_TYPE,
				"the target's datatype has parts of several "
				"predefined types");
	if (side->type->basic == a->basic || !bytes_of(side))
		return 0;
	return vm_error(call, MPI_ERR_TYPE,
			"the target's datatype is of %s, the caller's is of %s",
			name,
			side->type->basic ? vm_type_name(side->type->basic) :
					    "several predefined types");
}

int vm_access_check_op(struct vm_call *call, struct vm_access *a)
{
	a->how = vm_op_get(a->op);
	if (a->how && a->how->user)
		return vm_error(call, MPI_ERR_OP,
				"operations of the user are not allowed here");
	if (a->how && (a->op == MPI_REPLACE || a->op == MPI_NO_OP))
		return 0;
	/* Without data the types may be any. */
	if (a->how && !bytes_of(&a->target))
		return 0;
	return vm_check_op(call, a->op, a->basic, &a->how);
}

int vm_access_check_update(struct vm_call *call, struct vm_access *a)
{
	bool reads = a->op != MPI_NO_OP, gets = a->result.datatype != NULL;
	int rc = vm_check_win(call, a->handle, &a->win);

	if (rc == 0 && reads)
		rc = check_side(call, &a->origin);
	if (rc == 0 && gets)
		rc = check_side(call, &a->result);
	if (rc == 0 && a->rank == MPI_PROC_NULL)
		return 0;
	if (rc == 0)
		rc = check_target(call, a);
	if (rc != 0)
		return rc;
	a->basic = a->target.type->basic;
	if (reads)
		rc = check_basic(call, a, &a->origin);
	if (rc == 0 && gets)
		rc = check_basic(call, a, &a->result);
	if (rc == 0)
		rc = vm_access_check_op(call, a);
	if (rc == 0 && reads)
		rc = check_fits(call, &a->target, &a->origin);
	if (rc == 0 && gets)
		rc = check_fits(call, &a->result, &a->target);
	return rc == 0 ? check_reach(call, a) : rc;
}

int vm_access_check_one(struct vm_call *call, struct vm_access *a)
{
	int rc = vm_check_win(call, a->handle, &a->win);

	if (rc == 0)
		rc = vm_check_type(call, a->target.datatype, &a->target.type);
	if (rc == 0 && !a->target.type->builtin)
		rc = vm_error(call, MPI_ERR_TYPE,
			      "the datatype is not predefined");
	if (rc == 0 && !a->target.type->size)
		rc = vm_error(call, MPI_ERR_TYPE, "%s has no data",
			      vm_type_name(a->target.type));
	if (rc == 0)
		rc = vm_check_pointer(call, a->result.buf, "result_addr");
	a->target.count = 1;
	if (rc == 0)
		a->basic = a->target.type->basic;
	if (rc != 0 || a->rank == MPI_PROC_NULL)
		return rc;
	rc = check_target(call, a);
	return rc == 0 ? check_reach(call, a) : rc;
}

int vm_access_end(struct vm_call *call, const struct vm_access *a, int rc)
{
	if (rc == 0 && a->asked) {
		*a->request = (MPI_Request)&vm_req_done_send;
		vm_win_breathe();
	}
	return vm_win_exit(call, a->handle, rc);
}
