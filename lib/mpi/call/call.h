/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry and exit of every MPI function.  This folder has what all calls need:
 * begin here, then read calls.h (the table), state.h (a rank), check.h, errh.h.
 *
 * struct vm_call lies on the stack of the entry.  It identifies the call and
 * holds details of an error for the error handler's message.
 */
#ifndef MPI_CALL_CALL_H
#define MPI_CALL_CALL_H

#include "core/rank/wait.h"
#include "mpi/call/calls.h"
#include "mpi/call/state.h"

struct vm_call {
	struct vm_mpi *mpi; /* of the calling rank */
	char *what;	    /* details of the error, or NULL; malloc'ed */
	enum vm_call_id id;
};

/* "MPI_Send" */
const char *vm_call_name(enum vm_call_id id);

/* Aborts the job because of a call before MPI_Init or after MPI_Finalize. */
_Noreturn void vm_call_outside(enum vm_call_id id);

/* Returns the state of the calling thread.  A thread of an ordinary executable
 * joins the rank with its first call; in all other cases the job is aborted as
 * above. */
struct vm_mpi *vm_call_first(enum vm_call_id id);

/* Tells whether the call may wait, and so records itself as the rank's current
 * call; a constant if id is one. */
static inline bool vm_call_waits(enum vm_call_id id)
{
	switch (id) {
#define VM_CALL_CASE_(name)
#define VM_CALL_CASE_LOOKUP(name) case VM_CALL_##name:
#define VM_CALL_CASE_IMMEDIATE(name) case VM_CALL_##name:
#define VM_CALL_CASE_OF_(name, kind) VM_CALL_CASE_##kind(name)
#define VM_CALL_ROW_(name, ...) VM_CALL_CASE_OF_(name, __VA_ARGS__)
		MPI_CALLS(VM_CALL_ROW_)
#undef VM_CALL_ROW_
#undef VM_CALL_CASE_OF_
#undef VM_CALL_CASE_IMMEDIATE
#undef VM_CALL_CASE_LOOKUP
#undef VM_CALL_CASE_
		return false;
	default:
		return true;
	}
}

/* Enters a function that requires MPI to be initialised and not finalised. */
static inline struct vm_call vm_call_enter(enum vm_call_id id)
{
	struct vm_mpi *mpi = vm_mpi_self();
	struct vm_ult *self = vm_self;

	if (VM_UNLIKELY(!mpi || mpi->phase != VM_MPI_RUNNING)) {
		mpi = vm_call_first(id);
		self = vm_self;
	}
	if (vm_call_waits(id))
		vm_wait_in(self, VM_CALL_MPI_FIRST + id);
	return (struct vm_call){ .mpi = mpi, .id = id };
}

/* Enters a function that may be called at any time (MPI 4.1, 11.4.1) and uses
 * the rank's state; aborts the job if there is no memory for the state. */
struct vm_call vm_call_enter_early(enum vm_call_id id);

/*
 * Records a description of the error and returns code (an MPI error class).
 * The first description of a call is kept.
 */
int vm_error(struct vm_call *call, int code, const char *format, ...)
	VM_PRINTF(3, 4);

/* Adds to the description of an error which of a call's two buffers it is
 * about, if rc is one; returns rc. */
int vm_error_of_side(struct vm_call *call, int rc, bool send);

/* Records what a negative code of core means, as vm_error(); of a process that
 * is gone, which one.  Returns the MPI error. */
int vm_error_of_core(struct vm_call *call, int rc);

/*
 * Passes an error to the error handler of comm (of MPI_COMM_SELF or
 * MPI_COMM_WORLD if comm is not a communicator) and returns the result of the
 * MPI function. code is an MPI error or a negative code of core.
 */
int vm_call_fail(struct vm_call *call, MPI_Comm comm, int code);

/* The same with the error handler of any object: handle points to its handle;
 * where is its name in messages, or NULL. */
struct vm_errh;
int vm_call_fail_on(struct vm_call *call, const struct vm_errh *errh,
		    void *handle, const char *where, int code);

/* Returns the result of an entry.  rc: 0, an MPI error, or a negative code of
 * core. */
static inline int vm_call_exit(struct vm_call *call, MPI_Comm comm, int rc)
{
	if (VM_LIKELY(rc == MPI_SUCCESS))
		return MPI_SUCCESS;
	return vm_call_fail(call, comm, rc);
}

/* Returns the result of an entry without a communicator. */
static inline int vm_call_exit_self(struct vm_call *call, int rc)
{
	return vm_call_exit(call, MPI_COMM_NULL, rc);
}

#endif
