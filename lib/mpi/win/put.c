/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets: copies between the caller's buffer and a member's memory.
 */
#include "base/copy.h"
#include "mpi/call/check.h"
#include "mpi/win/check.h"
#include "mpi/win/far/far.h"

static int copy_near(const struct vm_access *a)
{
	struct vm_data origin = vm_win_side_data(&a->origin);
	struct vm_data target =
		vm_type_data(a->target.type, a->place, (size_t)a->target.count);

	if (a->gets)
		vm_data_copy(&origin, &target);
	else
		vm_data_copy(&target, &origin);
	return 0;
}

static int copy(struct vm_call *call, struct vm_access *a)
{
	int rc = 0;

	if (a->asked)
		rc = vm_check_pointer(call, a->request, "request");
	if (rc == 0)
		rc = vm_access_check_copy(call, a);
	if (rc == 0 && a->rank != MPI_PROC_NULL)
		rc = vm_win_is_far(a->win, a->rank) ? vm_far_copy(call, a) :
						      copy_near(a);
	return vm_access_end(call, a, rc);
}

/* The way of any access. */
static __attribute__((noinline)) int any(struct vm_call *call,
					 const struct vm_access *access)
{
	struct vm_access a = *access;

	return copy(call, &a);
}

static int put(enum vm_call_id id, const struct vm_access *access)
{
	struct vm_call call = vm_call_enter(id);

	return any(&call, access);
}

/* A row of elements of a predefined type, the same on both sides. */
struct put_row {
	const struct vm_type *type; /* NULL: it is none */
	const void *buf;
	MPI_Aint disp;
	int rank, count;
	bool gets;
};

/*
 * The next shortest way, of a row in memory that only packets reach, or the kernel:
 * -VMPI_ENOTSUP if it is none.  Without struct vm_access, which is long.
 */
static __attribute__((noinline)) int
far_row(struct vm_call *call, MPI_Win handle, const struct put_row *row)
{
	struct vm_win *win = vm_win_get(handle);
	size_t bytes;
	char *there;

	if (!row->type || row->count < 0 || !row->buf)
		return -VMPI_ENOTSUP;
	bytes = row->type->size * (size_t)row->count;
	there = vm_win_quick_far(win, row->rank, row->disp, bytes);
	if (!there)
		return -VMPI_ENOTSUP;
	return vm_win_exit(call, handle,
			   vm_far_quick(call, win, row->rank,
					(void *)(uintptr_t)row->buf, there,
					bytes, row->gets));
}

/* The arguments of these calls. */
#define ACCESS(...)                                                      \
	(struct vm_access)                                               \
	{                                                                \
		.handle = win, .rank = target_rank, .disp = target_disp, \
		.origin = { origin_addr, origin_count, origin_datatype,  \
			    NULL },                                      \
		.target = { NULL, target_count, target_datatype, NULL }, \
		__VA_ARGS__                                              \
	}

/* The same of a row. */
#define ROW(from_target)                                                      \
	(struct put_row)                                                      \
	{                                                                     \
		.type = target_datatype == origin_datatype &&                 \
					target_count == origin_count ?        \
				type :                                        \
				NULL,                                         \
		.buf = origin_addr, .disp = target_disp, .rank = target_rank, \
		.count = origin_count, .gets = from_target                    \
	}

int PMPI_Put(const void *origin_addr, int origin_count,
	     MPI_Datatype origin_datatype, int target_rank,
	     MPI_Aint target_disp, int target_count,
	     MPI_Datatype target_datatype, MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Put);
	const struct vm_type *type = vm_win_quick_type(origin_datatype);
	size_t bytes;
	int rc;
	char *to = vm_win_quick_row(vm_win_get(win), type, origin_addr,
				    origin_count, target_rank, target_disp,
				    target_count, &bytes);

	if (VM_LIKELY(to && target_datatype == origin_datatype)) {
		vm_copy(to, origin_addr, bytes);
		return MPI_SUCCESS;
	}
	rc = far_row(&call, win, &ROW(false));
	return rc == -VMPI_ENOTSUP ? any(&call, &ACCESS()) : rc;
}

int PMPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
	     int target_rank, MPI_Aint target_disp, int target_count,
	     MPI_Datatype target_datatype, MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Get);
	const struct vm_type *type = vm_win_quick_type(origin_datatype);
	size_t bytes;
	int rc;
	char *from = vm_win_quick_row(vm_win_get(win), type, origin_addr,
				      origin_count, target_rank, target_disp,
				      target_count, &bytes);

	if (VM_LIKELY(from && target_datatype == origin_datatype)) {
		vm_copy(origin_addr, from, bytes);
		return MPI_SUCCESS;
	}
	rc = far_row(&call, win, &ROW(true));
	return rc == -VMPI_ENOTSUP ? any(&call, &ACCESS(.gets = true)) : rc;
}

int PMPI_Put_c(const void *origin_addr, MPI_Count origin_count,
	       MPI_Datatype origin_datatype, int target_rank,
	       MPI_Aint target_disp, MPI_Count target_count,
	       MPI_Datatype target_datatype, MPI_Win win)
{
	return put(VM_CALL_Put_c, &ACCESS());
}

int PMPI_Get_c(void *origin_addr, MPI_Count origin_count,
	       MPI_Datatype origin_datatype, int target_rank,
	       MPI_Aint target_disp, MPI_Count target_count,
	       MPI_Datatype target_datatype, MPI_Win win)
{
	return put(VM_CALL_Get_c, &ACCESS(.gets = true));
}

int PMPI_Rput(const void *origin_addr, int origin_count,
	      MPI_Datatype origin_datatype, int target_rank,
	      MPI_Aint target_disp, int target_count,
	      MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	return put(VM_CALL_Rput, &ACCESS(.request = request, .asked = true));
}

int PMPI_Rput_c(const void *origin_addr, MPI_Count origin_count,
		MPI_Datatype origin_datatype, int target_rank,
		MPI_Aint target_disp, MPI_Count target_count,
		MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	return put(VM_CALL_Rput_c, &ACCESS(.request = request, .asked = true));
}

int PMPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
	      int target_rank, MPI_Aint target_disp, int target_count,
	      MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	return put(VM_CALL_Rget,
		   &ACCESS(.request = request, .asked = true, .gets = true));
}

int PMPI_Rget_c(void *origin_addr, MPI_Count origin_count,
		MPI_Datatype origin_datatype, int target_rank,
		MPI_Aint target_disp, MPI_Count target_count,
		MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	return put(VM_CALL_Rget_c,
		   &ACCESS(.request = request, .asked = true, .gets = true));
}
