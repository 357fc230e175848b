/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control variables of MPI_T.
 *
 * Types: MPI_INT with an enumeration for BOOL and CHOICE, MPI_CHAR for strings,
 * MPI_UNSIGNED_LONG_LONG for numbers, MPI_COUNT for numbers that may be
 * negative: tools support no other types of 64 bits.
 */
#include <stdlib.h>
#include <string.h>

#include "core/rank/state.h"
#include "core/rank/cvar.h"
#include "core/local/chan_stats.h"
#include "base/nearest.h"
#include "introspect/vars/session.h"
#include "introspect/vars/value.h"
#include "mpi/tool/tool.h"

struct cvar {
	int number;
	int rank; /* whose value it is, or VM_VIEW_PROCESS */
	const struct vm_cvar *row;
	struct vm_chan_stats *special; /* of a communicator's; or NULL */
	unsigned setting;
};

static MPI_Datatype type_of(const struct vm_cvar *row)
{
	switch (row->type) {
	case VM_VAR_STRING:
		return MPI_CHAR;
	case VM_VAR_BOOL:
	case VM_VAR_CHOICE:
		return MPI_INT;
	default:
		return row->min < 0 ? MPI_COUNT : MPI_UNSIGNED_LONG_LONG;
	}
}

/* Tells whether a variable cannot be set because ranks exist only after
 * startup. */
static bool is_fixed(const struct vm_cvar *row)
{
	return row->when == VM_VAR_STARTUP && vm_tool_is_rank();
}

/* Returns the error after startup: the runtime does not end before its ranks,
 * while that of vmpi_start() may end. */
static int too_late(void)
{
	return vm_tool_view() == VM_VIEW_PROCESS ? MPI_T_ERR_CVAR_SET_NOT_NOW :
						   MPI_T_ERR_CVAR_SET_NEVER;
}

static int scope_of(const struct vm_cvar *row)
{
	static const int scopes[] = {
		/* All processes start with the same value. */
		[VM_VAR_STARTUP] = MPI_T_SCOPE_ALL_EQ,
		[VM_VAR_ANYTIME] = MPI_T_SCOPE_LOCAL,
		[VM_VAR_ALIKE] = MPI_T_SCOPE_ALL_EQ,
		[VM_VAR_RANK] = MPI_T_SCOPE_LOCAL,
	};

	return is_fixed(row) ? MPI_T_SCOPE_READONLY : scopes[row->when];
}

int PMPI_T_cvar_get_num(int *num_cvar)
{
	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!num_cvar)
		return MPI_T_ERR_INVALID;
	*num_cvar = vm_tool_cvar_count();
	return MPI_SUCCESS;
}

int PMPI_T_cvar_get_info(int cvar_index, char *name, int *name_len,
			 int *verbosity, MPI_Datatype *datatype,
			 MPI_T_enum *enumtype, char *desc, int *desc_len,
			 int *bind, int *scope)
{
	struct vm_tool_cvar cvar;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!vm_tool_cvar_at(&cvar, cvar_index))
		return MPI_T_ERR_INVALID_INDEX;
	vm_tool_text(name, name_len, cvar.name);
	vm_tool_text(desc, desc_len, cvar.row->text);
	VM_TOOL_PUT(verbosity, vm_tool_verbosity(cvar.row->level));
	VM_TOOL_PUT(datatype, type_of(cvar.row));
	VM_TOOL_PUT(enumtype, vm_tool_enum_cvar(cvar.number, cvar.row));
	VM_TOOL_PUT(bind, cvar.setting == VM_TOOL_UNBOUND ?
				  MPI_T_BIND_NO_OBJECT :
				  MPI_T_BIND_MPI_COMM);
	VM_TOOL_PUT(scope, scope_of(cvar.row));
	return MPI_SUCCESS;
}

int PMPI_T_cvar_get_index(const char *name, int *cvar_index)
{
	struct vm_tool_cvar cvar;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!name || !cvar_index)
		return MPI_T_ERR_INVALID;
	for (int i = 0; vm_tool_cvar_at(&cvar, i); i++) {
		if (strcmp(cvar.name, name) == 0) {
			*cvar_index = i;
			return MPI_SUCCESS;
		}
	}
	return MPI_T_ERR_INVALID_NAME;
}

static void cvar_free(void *object)
{
	struct cvar *cvar = object;

	if (cvar->special)
		vm_chan_stats_drop(cvar->special);
	free(cvar);
}

/* Allocates a handle.  For variables with per-rank values it is for the
 * caller's rank. */
static int cvar_new(struct cvar **cvar, const struct vm_tool_cvar *what,
		    const void *obj_handle)
{
	struct cvar *made = calloc(1, sizeof(*made));
	int rc = 0;

	if (!made)
		return MPI_T_ERR_MEMORY;
	made->number = what->number;
	made->rank = what->row->when == VM_VAR_RANK ? vm_tool_view() :
						      VM_VIEW_PROCESS;
	made->row = what->row;
	if (what->setting != VM_TOOL_UNBOUND) {
		made->setting = (unsigned)what->setting;
		rc = vm_tool_bind(&made->special, obj_handle);
	}
	if (rc)
		free(made);
	else
		*cvar = made;
	return rc;
}

int PMPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle,
			     MPI_T_cvar_handle *handle, int *count)
{
	struct vm_tool_cvar what;
	struct cvar *cvar;
	uintptr_t id;
	int rc;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!handle)
		return MPI_T_ERR_INVALID;
	*handle = MPI_T_CVAR_HANDLE_NULL;
	if (!vm_tool_cvar_at(&what, cvar_index))
		return MPI_T_ERR_INVALID_INDEX;
	rc = cvar_new(&cvar, &what, obj_handle);
	if (rc)
		return rc;
	id = vm_tool_handle_new(VM_TOOL_CVAR, cvar, cvar_free);
	if (!id) {
		cvar_free(cvar);
		return MPI_T_ERR_OUT_OF_HANDLES;
	}
	*handle = (MPI_T_cvar_handle)id;
	VM_TOOL_PUT(count,
		    what.row->type == VM_VAR_STRING ? VM_VAR_TEXT_MAX : 1);
	return MPI_SUCCESS;
}

int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
	struct cvar *cvar;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!handle)
		return MPI_T_ERR_INVALID;
	cvar = vm_tool_object_take(*handle, VM_TOOL_CVAR);
	if (!cvar)
		return MPI_T_ERR_INVALID_HANDLE;
	cvar_free(cvar);
	*handle = MPI_T_CVAR_HANDLE_NULL;
	return MPI_SUCCESS;
}

static int string_read(const struct cvar *cvar, char *text)
{
	char known[VM_NAME_MAX];
	struct vm_cvar_view view;

	vm_cvar_info(cvar->number, &view, known);
	return vm_cvar_get(known, text, VM_VAR_TEXT_MAX) ? MPI_T_ERR_INVALID :
							   MPI_SUCCESS;
}

/* Ranks have their own values only while the runtime is running. */
static bool of_rank(const struct cvar *cvar)
{
	return cvar->rank != VM_VIEW_PROCESS && vm_node;
}

/* Reads the communicator's own value, or the one in effect without it. */
static int number_read(const struct cvar *cvar, int64_t *value)
{
	if (cvar->special) {
		*value = atomic_load_explicit(
			&cvar->special->settings[cvar->setting],
			memory_order_relaxed);
		if (*value != VM_CHAN_STATS_UNSET)
			return 0;
	}
	return of_rank(cvar) ?
		       vm_cvar_load_rank(value, cvar->number, cvar->rank) :
		       vm_cvar_load(value, cvar->number);
}

static int number_write(const struct cvar *cvar, int64_t value)
{
	if (cvar->special && (value < cvar->row->min || value > cvar->row->max))
		return -VMPI_EINVAL;
	if (cvar->special)
		return vm_chan_stats_set(cvar->special, cvar->setting, value) ?
			       0 :
			       -VMPI_ENOENT;
	return of_rank(cvar) ?
		       vm_cvar_store_rank(cvar->number, cvar->rank, value) :
		       vm_cvar_store(cvar->number, value, VM_SOURCE_RUNTIME);
}

int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
	const struct cvar *cvar;
	int64_t value = 0;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	cvar = vm_tool_object(handle, VM_TOOL_CVAR);
	if (!cvar)
		return MPI_T_ERR_INVALID_HANDLE;
	if (!buf)
		return MPI_T_ERR_INVALID;
	if (cvar->row->type == VM_VAR_STRING)
		return string_read(cvar, buf);
	if (number_read(cvar, &value) != 0)
		return MPI_T_ERR_INVALID;
	if (type_of(cvar->row) == MPI_INT)
		*(int *)buf = (int)value;
	else
		*(int64_t *)buf = value;
	return MPI_SUCCESS;
}

/* Writes the text of a buffer that may lack a terminator. */
static int string_write(const struct cvar *cvar, const char *text)
{
	char known[VM_NAME_MAX], why[VM_VALUE_WHY_MAX];
	struct vm_cvar_view view;
	int64_t unused;

	if (!memchr(text, '\0', VM_VAR_TEXT_MAX) ||
	    vm_value_parse(cvar->row, &unused, why, text) != 0)
		return MPI_T_ERR_INVALID;
	vm_cvar_info(cvar->number, &view, known);
	return vm_cvar_set(known, text, VM_SOURCE_RUNTIME) ? MPI_T_ERR_MEMORY :
							     MPI_SUCCESS;
}

int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
	const struct cvar *cvar;
	int64_t value;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	cvar = vm_tool_object(handle, VM_TOOL_CVAR);
	if (!cvar)
		return MPI_T_ERR_INVALID_HANDLE;
	if (!buf)
		return MPI_T_ERR_INVALID;
	if (vm_node && cvar->row->when == VM_VAR_STARTUP)
		return too_late();
	if (cvar->row->type == VM_VAR_STRING)
		return string_write(cvar, buf);
	value = type_of(cvar->row) == MPI_INT ? *(const int *)buf :
						*(const int64_t *)buf;
	switch (number_write(cvar, value)) {
	case 0:
		return MPI_SUCCESS;
	case -VMPI_ESTATE:
		return MPI_T_ERR_CVAR_SET_NOT_NOW;
	case -VMPI_ENOMEM:
		return MPI_T_ERR_MEMORY;
	case -VMPI_ENOENT: /* the communicator was freed */
		return MPI_T_ERR_INVALID_HANDLE;
	default:
		return MPI_T_ERR_INVALID;
	}
}
