/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accumulates: updates of elements in a member's memory.
 */
#include "mpi/call/check.h"
#include "mpi/type/rows.h"
#include "mpi/win/check.h"
#include "mpi/win/far/far.h"

/* Updates the target's elements, whose old values go to the result's buffer if
 * there is one. */
static int update(const struct vm_access *a)
{
	struct vm_atomic how = { a->how, a->basic,
				 a->win->places[a->rank].common };
	bool reads = a->op != MPI_NO_OP, gets = a->result.datatype != NULL;
	struct vm_rows target, origin, result;

	vm_rows_init(&target, a->basic,
		     vm_type_data(a->target.type, a->place,
				  (size_t)a->target.count));
	if (reads)
		vm_rows_init(&origin, a->basic, vm_win_side_data(&a->origin));
	if (gets)
		vm_rows_init(&result, a->basic, vm_win_side_data(&a->result));
	for (;;) {
		size_t n = vm_rows_next(&target);

		if (n && reads && vm_rows_next(&origin) < n)
			n = origin.have;
		if (n && gets && vm_rows_next(&result) < n)
			n = result.have;
		if (!n)
			return 0;
		vm_atomic_update(&how, target.at, reads ? origin.at : NULL,
				 gets ? result.at : NULL, n);
		vm_rows_skip(&target, n);
		if (reads)
			vm_rows_skip(&origin, n);
		if (gets)
			vm_rows_skip(&result, n);
	}
}

static __attribute__((noinline)) int slow(struct vm_call *call,
					  struct vm_access *a)
{
	int rc = 0;

	if (a->asked)
		rc = vm_check_pointer(call, a->request, "request");
	if (rc == 0)
		rc = vm_access_check_update(call, a);
	if (rc == 0 && a->rank != MPI_PROC_NULL && a->target.count &&
	    a->target.type->size)
		rc = vm_win_is_far(a->win, a->rank) ? vm_far_update(call, a) :
						      update(a);
	return vm_access_end(call, a, rc);
}

static int accumulate(enum vm_call_id id, const struct vm_access *access)
{
	struct vm_call call = vm_call_enter(id);
	struct vm_access a = *access;

	return slow(&call, &a);
}

/*
 * The shortest way: elements of one predefined type on both sides, in memory
 * that is reached.  false: it is none for them.
 */
static inline bool quick(struct vm_win *win, const void *origin_addr,
			 MPI_Count count, MPI_Datatype handle, void *result,
			 int rank, MPI_Aint disp, MPI_Count target_count,
			 MPI_Op op)
{
	const struct vm_type *type = vm_win_quick_type(handle);
	const struct vm_op *how = vm_win_quick_op(op, type);
	struct vm_atomic atomic = { how, type, NULL };
	size_t bytes;
	char *place;

	if (VM_UNLIKELY(!how))
		return false;
	place = vm_win_quick_row(win, type, origin_addr, count, rank, disp,
				 target_count, &bytes);
	if (VM_UNLIKELY(!place || vm_win_is_far(win, rank)))
		return false;
	atomic.common = win->places[rank].common;
	vm_atomic_update(&atomic, place, origin_addr, result, (size_t)count);
	return true;
}

#define ACCESS(...)                                                      \
	(struct vm_access)                                               \
	{                                                                \
		.handle = win, .rank = target_rank, .disp = target_disp, \
		.origin = { origin_addr, origin_count, origin_datatype,  \
			    NULL },                                      \
		.target = { NULL, target_count, target_datatype, NULL }, \
		.op = op, __VA_ARGS__                                    \
	}
#define RESULT .result = { result_addr, result_count, result_datatype, NULL }
#define REQUEST .request = request, .asked = true

int PMPI_Accumulate(const void *origin_addr, int origin_count,
		    MPI_Datatype origin_datatype, int target_rank,
		    MPI_Aint target_disp, int target_count,
		    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Accumulate);
	struct vm_access access;

	if (VM_LIKELY(target_datatype == origin_datatype &&
		      quick(vm_win_get(win), origin_addr, origin_count,
			    origin_datatype, NULL, target_rank, target_disp,
			    target_count, op)))
		return MPI_SUCCESS;
	access = ACCESS();
	return slow(&call, &access);
}

int PMPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count,
		      MPI_Datatype origin_datatype, int target_rank,
		      MPI_Aint target_disp, MPI_Count target_count,
		      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	return accumulate(VM_CALL_Accumulate_c, &ACCESS());
}

int PMPI_Raccumulate(const void *origin_addr, int origin_count,
		     MPI_Datatype origin_datatype, int target_rank,
		     MPI_Aint target_disp, int target_count,
		     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
		     MPI_Request *request)
{
	return accumulate(VM_CALL_Raccumulate, &ACCESS(REQUEST));
}

int PMPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count,
		       MPI_Datatype origin_datatype, int target_rank,
		       MPI_Aint target_disp, MPI_Count target_count,
		       MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
		       MPI_Request *request)
{
	return accumulate(VM_CALL_Raccumulate_c, &ACCESS(REQUEST));
}

int PMPI_Get_accumulate(const void *origin_addr, int origin_count,
			MPI_Datatype origin_datatype, void *result_addr,
			int result_count, MPI_Datatype result_datatype,
			int target_rank, MPI_Aint target_disp, int target_count,
			MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Get_accumulate);
	struct vm_access access;

	if (VM_LIKELY(target_datatype == origin_datatype &&
		      target_datatype == result_datatype &&
		      target_count == result_count && result_addr &&
		      quick(vm_win_get(win), origin_addr, origin_count,
			    origin_datatype, result_addr, target_rank,
			    target_disp, target_count, op)))
		return MPI_SUCCESS;
	access = ACCESS(RESULT);
	return slow(&call, &access);
}

int PMPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count,
			  MPI_Datatype origin_datatype, void *result_addr,
			  MPI_Count result_count, MPI_Datatype result_datatype,
			  int target_rank, MPI_Aint target_disp,
			  MPI_Count target_count, MPI_Datatype target_datatype,
			  MPI_Op op, MPI_Win win)
{
	return accumulate(VM_CALL_Get_accumulate_c, &ACCESS(RESULT));
}

int PMPI_Rget_accumulate(const void *origin_addr, int origin_count,
			 MPI_Datatype origin_datatype, void *result_addr,
			 int result_count, MPI_Datatype result_datatype,
			 int target_rank, MPI_Aint target_disp,
			 int target_count, MPI_Datatype target_datatype,
			 MPI_Op op, MPI_Win win, MPI_Request *request)
{
	return accumulate(VM_CALL_Rget_accumulate, &ACCESS(RESULT, REQUEST));
}

int PMPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count,
			   MPI_Datatype origin_datatype, void *result_addr,
			   MPI_Count result_count, MPI_Datatype result_datatype,
			   int target_rank, MPI_Aint target_disp,
			   MPI_Count target_count, MPI_Datatype target_datatype,
			   MPI_Op op, MPI_Win win, MPI_Request *request)
{
	return accumulate(VM_CALL_Rget_accumulate_c, &ACCESS(RESULT, REQUEST));
}
