/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of windows, their errors, names, groups and error handlers.
 */
#include "mpi/win/object/win.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/call/check.h"
#include "mpi/call/errh.h"
#include "mpi/comm/group.h"

int vm_check_win(struct vm_call *call, MPI_Win handle, struct vm_win **win)
{
	*win = vm_win_get(handle);
	if (VM_LIKELY(*win != NULL))
		return 0;
	return vm_error(call, MPI_ERR_WIN,
			handle == MPI_WIN_NULL ?
				"MPI_WIN_NULL" :
				"not a window, or it was freed");
}

int vm_check_win_rank(struct vm_call *call, const struct vm_win *win, int rank,
		      const char *name)
{
	if (rank >= 0 && rank < win->size)
		return 0;
	return vm_error(call, MPI_ERR_RANK, "%s %d is not from 0 to %d", name,
			rank, win->size - 1);
}

int vm_win_fail(struct vm_call *call, MPI_Win handle, int rc)
{
	struct vm_win *win = vm_win_get(handle);

	if (!win)
		return vm_call_exit_self(call, rc);
	return vm_call_fail_on(call, win->errh, &handle,
			       win->name ? win->name : "a window", rc);
}

int PMPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_get_group);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = vm_check_pointer(&call, group, "group");
	if (rc == 0)
		rc = vm_mpi_group_new(call.mpi, group,
				      vm_group_hold(w->comm.chan->group),
				      w->comm.rank);
	return vm_win_exit(&call, win, rc);
}

int PMPI_Win_set_name(MPI_Win win, const char *win_name)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_set_name);
	struct vm_win *w;
	char *copy;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = vm_check_pointer(&call, win_name, "win_name");
	if (rc == 0) {
		copy = strndup(win_name, MPI_MAX_OBJECT_NAME - 1);
		if (copy) {
			free(w->name);
			w->name = copy;
		}
		rc = copy ? 0 : MPI_ERR_NO_MEM;
	}
	return vm_win_exit(&call, win, rc);
}

int PMPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_get_name);
	struct vm_win *w = NULL;
	const char *name = "MPI_WIN_NULL"; /* MPI 4.1, 7.8 */
	int rc = 0;

	if (win != MPI_WIN_NULL)
		rc = vm_check_win(&call, win, &w);
	if (rc == 0)
		rc = vm_check_pointer(&call, win_name, "win_name");
	if (rc == 0)
		rc = vm_check_pointer(&call, resultlen, "resultlen");
	if (rc == 0 && w)
		name = w->name ? w->name : "";
	if (rc == 0)
		*resultlen =
			snprintf(win_name, MPI_MAX_OBJECT_NAME, "%s", name);
	return vm_win_exit(&call, win, rc);
}

int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn,
			       MPI_Errhandler *errhandler)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_create_errhandler);
	struct vm_errh user = { .of = VM_ERRH_OF_WIN,
				.function.win = win_errhandler_fn };

	return vm_call_exit_self(&call, vm_errh_make(&call, errhandler, &user));
}

int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_set_errhandler);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = vm_errh_put(&call, &w->errh, VM_ERRH_OF_WIN, errhandler);
	return vm_win_exit(&call, win, rc);
}

int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_get_errhandler);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = vm_errh_get(&call, w->errh, errhandler);
	return vm_win_exit(&call, win, rc);
}

int PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_call_errhandler);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = vm_check_raised(&call, errorcode);
	if (rc != 0)
		return vm_win_exit(&call, win, rc);
	vm_win_exit(&call, win, errorcode);
	return MPI_SUCCESS;
}
