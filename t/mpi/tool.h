/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access to MPI_T variables by name, for the tests of MPI_T.
 */
#ifndef T_MPI_TOOL_H
#define T_MPI_TOOL_H

#include <stdint.h>

#include "mtap.h"

#define TOOL_NAME_MAX 128

struct tool_pvar {
	char name[TOOL_NAME_MAX];
	int index, verbosity, class, bind, readonly, continuous, atomic;
	MPI_Datatype type;
	MPI_T_enum enumeration;
};

/* Gets the information of MPI_T about variable `index` and returns its
 * result. */
static inline int tool_pvar(struct tool_pvar *pvar, int index)
{
	int length = TOOL_NAME_MAX;

	pvar->index = index;
	return MPI_T_pvar_get_info(index, pvar->name, &length, &pvar->verbosity,
				   &pvar->class, &pvar->type,
				   &pvar->enumeration, NULL, NULL, &pvar->bind,
				   &pvar->readonly, &pvar->continuous,
				   &pvar->atomic);
}

/* Returns the index of a name, or -1. */
static inline int tool_find(const char *name)
{
	struct tool_pvar pvar;

	for (int i = 0; tool_pvar(&pvar, i) == MPI_SUCCESS; i++) {
		if (strcmp(pvar.name, name) == 0)
			return i;
	}
	return -1;
}

/* Allocates a handle for the variable `name`, MPI_T_PVAR_HANDLE_NULL on
 * failure. */
static inline MPI_T_pvar_handle tool_handle(MPI_T_pvar_session session,
					    const char *name)
{
	MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
	int count;

	MPI_T_pvar_handle_alloc(session, tool_find(name), NULL, &handle,
				&count);
	return handle;
}

/* Returns the value of a scalar; UINT64_MAX on failure. */
static inline uint64_t tool_read(MPI_T_pvar_session session,
				 MPI_T_pvar_handle handle)
{
	uint64_t value = UINT64_MAX;

	if (MPI_T_pvar_read(session, handle, &value) != MPI_SUCCESS)
		return UINT64_MAX;
	return value;
}

#endif
