/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes of windows, the user's and the predefined ones.
 */
#include "mpi/call/attr.h"
#include "mpi/call/check.h"
#include "mpi/win/object/win.h"

int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
			   MPI_Win_delete_attr_function *win_delete_attr_fn,
			   int *win_keyval, void *extra_state)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_create_keyval);
	struct vm_attr_functions functions = { .of = VM_ATTR_OF_WIN,
					       .win_copy = win_copy_attr_fn,
					       .win_delete =
						       win_delete_attr_fn };
	int rc = vm_keyval_create(&call, win_keyval, &functions, extra_state);

	return vm_call_exit_self(&call, rc);
}

int PMPI_Win_free_keyval(int *win_keyval)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_free_keyval);
	int rc = vm_keyval_free(&call, VM_ATTR_OF_WIN, win_keyval);

	return vm_call_exit_self(&call, rc);
}

int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_set_attr);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = vm_attr_put(&call, VM_ATTR_OF_WIN, &w->attrs, win,
				 win_keyval, attribute_val);
	return vm_win_exit(&call, win, rc);
}

/* The value of a predefined attribute: a pointer, of the base itself. */
static bool predefined(struct vm_win *win, int keyval, void **value)
{
	switch (keyval) {
	case MPI_WIN_BASE:
		*value = win->base;
		return true;
	case MPI_WIN_SIZE:
		*value = &win->bytes;
		return true;
	case MPI_WIN_DISP_UNIT:
		*value = &win->unit;
		return true;
	case MPI_WIN_CREATE_FLAVOR:
		*value = &win->flavor;
		return true;
	case MPI_WIN_MODEL:
		*value = &win->model;
		return true;
	default:
		return false;
	}
}

int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val,
		      int *flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_get_attr);
	struct vm_win *w;
	void *value;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = vm_check_pointer(&call, attribute_val, "attribute_val");
	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc != 0)
		return vm_win_exit(&call, win, rc);
	if (predefined(w, win_keyval, &value)) {
		*(void **)attribute_val = value;
		*flag = 1;
		return MPI_SUCCESS;
	}
	rc = vm_attr_get(&call, VM_ATTR_OF_WIN, w->attrs, win_keyval,
			 attribute_val, flag);
	return vm_win_exit(&call, win, rc);
}

int PMPI_Win_delete_attr(MPI_Win win, int win_keyval)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_delete_attr);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = vm_attr_delete(&call, VM_ATTR_OF_WIN, &w->attrs, win,
				    win_keyval);
	return vm_win_exit(&call, win, rc);
}
