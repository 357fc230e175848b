/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tool information interface (MPI_T): what its functions share.  Begin here.
 *
 * To MPI_T a process is a rank: each rank initialises and finalises it for
 * itself and has its own sessions, whose handles read that rank's values from
 * whatever thread.  What is called outside of any rank belongs to the process.
 * Nothing in here looks for the MPI state of a communicator or raises an error
 * handler; all may be called before MPI_Init and after MPI_Finalize, by any
 * thread.
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

struct vm_tool_user;

/* MPI_SUCCESS, or MPI_T_ERR_NOT_INITIALIZED: not by the calling rank, or by
 * nobody where the caller is no rank. */
int vm_tool_check(void);

/* Whether the caller is a rank that others run, in a process that is not its
 * own. */
bool vm_tool_is_rank(void);

/* On whose behalf the caller makes objects; they go with its last
 * MPI_T_finalize. */
const void *vm_tool_owner(void);

/* Which rank's values the caller's sessions see, or VM_VIEW_PROCESS. */
int vm_tool_view(void);

/*
 * Returns text as MPI has it (MPI 4.1, 15.3.3): cut to *length - 1 characters and
 * ended; *length becomes its whole length with the end.  buffer NULL or *length
 * 0: the length alone; length NULL: nothing.
 */
void vm_tool_text(char *buffer, int *length, const char *text);

/* Any result may be NULL: then it is not wanted. */
#define VM_TOOL_PUT(out, value)           \
	do {                              \
		if (out)                  \
			*(out) = (value); \
	} while (0)

/* MPI_T_VERBOSITY_... */
int vm_tool_verbosity(enum vm_level level);

/*
 * Objects by handle.  A handle is a number that looks like a pointer: place,
 * count of uses and kind, so that one that is over, or never was, is known.
 * Looking one up takes no lock.
 */
enum vm_tool_kind {
	VM_TOOL_SESSION = 1,
	VM_TOOL_PVAR,
	VM_TOOL_CVAR,
	VM_TOOL_EVENT,
};

/* A new handle on object, or 0: out of memory or handles.  free_object is called
 * when its owner (vm_tool_owner()) ends before it; NULL: the object belongs to
 * another one, which sees to that. */
uintptr_t vm_tool_handle_new(enum vm_tool_kind kind, void *object,
			     void (*free_object)(void *object));

/* The object, or NULL. */
void *vm_tool_object(const void *handle, enum vm_tool_kind kind);

/* The same, and the handle is over: of several callers one gets it. */
void *vm_tool_object_take(const void *handle, enum vm_tool_kind kind);

/* Frees all objects of an owner. */
void vm_tool_objects_end(const void *owner);

/* The enumeration of a control variable that is a CHOICE or BOOL, and of a
 * performance variable that is a STATE with words; else MPI_T_ENUM_NULL. */
MPI_T_enum vm_tool_enum_cvar(int number, const struct vm_cvar *row);
MPI_T_enum vm_tool_enum_pvar(int number, const struct vm_pvar *row);
/* The names of the elements of a type of event, in their order. */
MPI_T_enum vm_tool_enum_event(int id);

/*
 * Performance variables by their MPI_T index: one for each variable, and behind
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
 * Control variables by their MPI_T index: those of introspect/vars/cvar.h by number,
 * then those that a communicator may have a value of its own of once more,
 * bound to communicators.
 */
struct vm_tool_cvar {
	int number;
	int setting; /* of core/local/chan_stats.h; VM_TOOL_UNBOUND: of no communicator */
	const struct vm_cvar *row;
	char name[VM_NAME_MAX];
};
#define VM_TOOL_UNBOUND (-1)
int vm_tool_cvar_count(void);
bool vm_tool_cvar_at(struct vm_tool_cvar *cvar, int index);

/* What obj_handle, the address of a communicator's handle, is bound to: 0 and the
 * caller holds it, MPI_T_ERR_INVALID_HANDLE, MPI_T_ERR_MEMORY. */
struct vm_chan_stats;
int vm_tool_bind(struct vm_chan_stats **special, const void *obj_handle);

#endif
