/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info keys of windows, and the calls about them.
 */
#include "mpi/win/object/hints.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mpi/call/check.h"
#include "mpi/call/info.h"
#include "mpi/win/object/win.h"

#define ORDERING_KEY "accumulate_ordering"
#define OPS_KEY "accumulate_ops"
#define ALIGNMENT_KEY "mpi_minimum_memory_alignment"

void vm_win_hints_init(struct vm_win_hints *hints)
{
	*hints = (struct vm_win_hints){
#define INITIAL(field, key, value) .field = value,
		VM_WIN_HINTS(INITIAL)
#undef INITIAL
			.ordering = "rar,raw,war,waw",
	};
}

static void flag_take(bool *flag, MPI_Info info, const char *key)
{
	const char *value = vm_info_value(info, key);

	if (value && !strcmp(value, "true"))
		*flag = true;
	else if (value && !strcmp(value, "false"))
		*flag = false;
}

/* "none", or a list of these words. */
static bool is_ordering(const char *value)
{
	if (!strcmp(value, "none"))
		return true;
	for (;;) {
		if (strspn(value, "rwa") != 3)
			return false;
		value += 3;
		if (!*value)
			return true;
		if (*value++ != ',')
			return false;
	}
}

int vm_win_hints_take(struct vm_call *call, struct vm_win_hints *hints,
		      MPI_Info info)
{
	const char *value;
	int rc = vm_check_hints(call, info);

	if (rc != 0)
		return rc;
#define TAKE(field, key, value) flag_take(&hints->field, info, key);
	VM_WIN_HINTS(TAKE)
#undef TAKE
	value = vm_info_value(info, OPS_KEY);
	if (value && !strcmp(value, "same_op"))
		hints->same_op = true;
	else if (value && !strcmp(value, "same_op_no_op"))
		hints->same_op = false;
	value = vm_info_value(info, ORDERING_KEY);
	if (value && strlen(value) < sizeof(hints->ordering) &&
	    is_ordering(value))
		memcpy(hints->ordering, value, strlen(value) + 1);
	hints->alignment =
		vm_info_alignment(info, (size_t)sysconf(_SC_PAGESIZE));
	return 0;
}

int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_set_info);
	struct vm_win *w;
	struct vm_win_hints hints;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0) {
		hints = w->hints;
		rc = vm_win_hints_take(&call, &hints, info);
	}
	/* Memory stays where it is. */
	if (rc == 0) {
		hints.noncontig = w->hints.noncontig;
		hints.alignment = w->hints.alignment;
		w->hints = hints;
	}
	return vm_win_exit(&call, win, rc);
}

/* Returns a new info object: 0 or an MPI error. */
static int hints_give(struct vm_call *call, const struct vm_win_hints *hints,
		      MPI_Info *out)
{
	char number[24];
	int rc = vm_info_new(call->mpi, out);

	if (rc == 0 && hints->alignment) {
		snprintf(number, sizeof(number), "%zu", hints->alignment);
		rc = vm_info_put(*out, ALIGNMENT_KEY, number);
	}
	if (rc != 0)
		return rc;
#define GIVE(field, key, value) \
	rc = rc ? rc : vm_info_put(*out, key, hints->field ? "true" : "false");
	VM_WIN_HINTS(GIVE)
#undef GIVE
	rc = rc ? rc :
		  vm_info_put(*out, OPS_KEY,
			      hints->same_op ? "same_op" : "same_op_no_op");
	return rc ? rc : vm_info_put(*out, ORDERING_KEY, hints->ordering);
}

int PMPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_get_info);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = vm_check_pointer(&call, info_used, "info_used");
	if (rc == 0)
		rc = hints_give(&call, &w->hints, info_used);
	return vm_win_exit(&call, win, rc);
}
