/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of windows: attaching and detaching it, and where that of others is.
 */
#include "core/window/region.h"
#include "mpi/call/check.h"
#include "mpi/win/make.h"

static int check_flavor(struct vm_call *call, const struct vm_win *win,
			int flavor, const char *made_by)
{
	if (win->flavor == flavor)
		return 0;
	return vm_error(call, MPI_ERR_RMA_FLAVOR,
			"the window was not made by %s", made_by);
}

int PMPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_attach);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = check_flavor(&call, w, MPI_WIN_FLAVOR_DYNAMIC,
				  "MPI_Win_create_dynamic");
	if (rc == 0)
		rc = vm_check_win_memory(&call, size, 1);
	if (rc == 0 && !base && size > 0)
		rc = vm_error(&call, MPI_ERR_RMA_ATTACH, "base is NULL");
	if (rc == 0)
		rc = vm_window_attach(w->window, base, (size_t)size);
	if (rc == -VMPI_EINVAL)
		rc = vm_error(&call, MPI_ERR_RMA_ATTACH,
			      "part of the %lld bytes at %p is attached",
			      (long long)size, base);
	return vm_win_exit(&call, win, rc);
}

int PMPI_Win_detach(MPI_Win win, const void *base)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_detach);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = check_flavor(&call, w, MPI_WIN_FLAVOR_DYNAMIC,
				  "MPI_Win_create_dynamic");
	if (rc == 0 && vm_window_detach(w->window, base) != 0)
		rc = vm_error(&call, MPI_ERR_RMA_ATTACH,
			      "nothing is attached at %p", base);
	return vm_win_exit(&call, win, rc);
}

/* The member whose memory is asked for; of MPI_PROC_NULL the first that has
 * some, if any has. */
static const struct vm_window_place *query_place(const struct vm_win *win,
						 int rank)
{
	if (rank != MPI_PROC_NULL)
		return &win->places[rank];
	for (int i = 0; i < win->size; i++)
		if (win->places[i].bytes)
			return &win->places[i];
	return &win->places[0];
}

/* What is not shared has no size here (MPI 4.1, 12.2.3), but its unit. */
static int query(struct vm_call *call, MPI_Win handle, int rank,
		 struct vm_window_place *place, const void *size,
		 const void *unit, const void *baseptr)
{
	const struct vm_window_place *found;
	struct vm_win *win;
	int rc = vm_check_win(call, handle, &win);

	if (rc == 0 && rank != MPI_PROC_NULL)
		rc = vm_check_win_rank(call, win, rank, "rank");
	if (rc == 0)
		rc = vm_check_pointer(call, size, "size");
	if (rc == 0)
		rc = vm_check_pointer(call, unit, "disp_unit");
	if (rc == 0)
		rc = vm_check_pointer(call, baseptr, "baseptr");
	if (rc == 0 && win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
		rc = vm_error(call, MPI_ERR_RMA_FLAVOR,
			      "the window was made by "
			      "MPI_Win_create_dynamic");
	if (rc != 0)
		return rc;
	found = query_place(win, rank);
	*place = (struct vm_window_place){ .unit = found->unit };
	if (found->common)
		*place = *found;
	return 0;
}

int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit,
			  void *baseptr)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_shared_query);
	struct vm_window_place place;
	int rc = query(&call, win, rank, &place, size, disp_unit, baseptr);

	if (rc == 0) {
		*size = (MPI_Aint)place.reach;
		*disp_unit = (int)place.unit;
		*(void **)baseptr = place.base;
	}
	return vm_win_exit(&call, win, rc);
}

int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size,
			    MPI_Aint *disp_unit, void *baseptr)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_shared_query_c);
	struct vm_window_place place;
	int rc = query(&call, win, rank, &place, size, disp_unit, baseptr);

	if (rc == 0) {
		*size = (MPI_Aint)place.reach;
		*disp_unit = (MPI_Aint)place.unit;
		*(void **)baseptr = place.base;
	}
	return vm_win_exit(&call, win, rc);
}
