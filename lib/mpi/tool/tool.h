/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tool information interface (MPI_T): common declarations.  Begin here.
 *
 * To MPI_T a process is a rank: each rank initialises and finalises it for
 * itself and has its own sessions, whose handles read that rank's values from
 * any thread.  Calls outside any rank belong to the process.  All functions may
 * be called before MPI_Init and after MPI_Finalize, by any thread; none calls
 * an error handler.
 */
#ifndef MPI_TOOL_TOOL_H
#define MPI_TOOL_TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "introspect/vars/category.h"
#include "base/nearest.h"
#include "introspect/vars/pvar.h"
#include "introspect/vars/cvar.h"
#include "mpi/call/call.h"
#include "mpi/tool/table.h"

struct vm_tool_user;

/* Returns MPI_SUCCESS, or MPI_T_ERR_NOT_INITIALIZED if the calling rank has not
 * initialised MPI_T; outside any rank, if nobody has. */
int vm_tool_check(void);

/* Tells whether the caller acts for a rank, unless the process itself is that
 * rank. */
bool vm_tool_is_rank(void);

/* Returns the owner of objects that the caller creates; they are freed by the
 * owner's last MPI_T_finalize. */
const void *vm_tool_owner(void);

/* Returns the rank whose values the caller's sessions see, or
 * VM_VIEW_PROCESS. */
int vm_tool_view(void);

/*
 * Returns text by the rules of MPI 4.1, 15.3.3: truncated to *length - 1
 * characters plus the terminator; *length becomes the full length with the
 * terminator. buffer NULL or *length 0: only the length; length NULL: nothing.
 */
void vm_tool_text(char *buffer, int *length, const char *text);

/* Stores a result, unless out is NULL. */
#define VM_TOOL_PUT(out, value)           \
	do {                              \
		if (out)                  \
			*(out) = (value); \
	} while (0)

/* Returns the MPI_T_VERBOSITY_... of a level. */
int vm_tool_verbosity(enum vm_level level);

/* Return the enumeration of a control variable that is a CHOICE or BOOL, or of
 * a performance variable that is a STATE with words; else MPI_T_ENUM_NULL. */
MPI_T_enum vm_tool_enum_cvar(int number, const struct vm_cvar *row);
MPI_T_enum vm_tool_enum_pvar(int number, const struct vm_pvar *row);
/* Returns the enumeration of the element names of an event type, in order. */
MPI_T_enum vm_tool_enum_event(int id);

/*
 * Performance variables by MPI_T index: one index for each variable, and after
 * an array of amounts another one for its total.
 */
struct vm_tool_pvar {
	int number;
	bool total;
	const struct vm_pvar *row;
};
bool vm_tool_pvar_at(struct vm_tool_pvar *pvar, int index);
MPI_Datatype vm_tool_pvar_type(const struct vm_pvar *row);

/*
 * Control variables by MPI_T index: those of introspect/vars/cvar.h by number,
 * followed by a second entry, bound to communicators, for each variable that
 * can be set per communicator.
 */
struct vm_tool_cvar {
	int number;
	int setting; /* of core/local/chan_stats.h, or VM_TOOL_UNBOUND */
	const struct vm_cvar *row;
	char name[VM_NAME_MAX];
};
#define VM_TOOL_UNBOUND (-1)
int vm_tool_cvar_count(void);
bool vm_tool_cvar_at(struct vm_tool_cvar *cvar, int index);

/* Finds what obj_handle, the address of a communicator's handle, binds to: 0
 * (with a reference for the caller), MPI_T_ERR_INVALID_HANDLE or
 * MPI_T_ERR_MEMORY. */
struct vm_chan_stats;
int vm_tool_bind(struct vm_chan_stats **special, const void *obj_handle);

#endif
