/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry and exit of every MPI function.  The folder has what all calls need;
 * begin here, then calls.h (the table), state.h (a rank), check.h, errh.h.
 *
 * struct vm_call lies on the stack of the entry; it says which call this is and
 * collects what was wrong, for the message of the error handler.
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

/* Ends the job: the call was made before MPI_Init or after MPI_Finalize. */
_Noreturn void vm_call_outside(enum vm_call_id id);

/* The state of the calling thread: a thread of an ordinary executable that makes
 * its first call joins the rank; for others the job ends as above. */
struct vm_mpi *vm_call_first(enum vm_call_id id);

/* Whether the call may wait and announces itself as the one that the rank is in;
 * a constant where id is one. */
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

/* For functions that need MPI to be initialised and not finalised. */
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

/* For functions that may be called at any time (MPI 4.1, 11.4.1) and use the
 * rank's state; without the memory for that the job ends. */
struct vm_call vm_call_enter_early(enum vm_call_id id);

/*
 * Notes what is wrong, in words, and returns code (an MPI error class).  The
 * first note of a call stays.
 */
int vm_error(struct vm_call *call, int code, const char *format, ...)
	VM_PRINTF(3, 4);

/*
 * Hands an error to the error handler of comm (of MPI_COMM_SELF or _WORLD if
 * that is no communicator) and returns what the MPI function must return.  code
 * is an MPI error or a negative one of core.
 */
int vm_call_fail(struct vm_call *call, MPI_Comm comm, int code);

/* What an entry returns.  rc: 0, an MPI error, or a negative code of core. */
static inline int vm_call_exit(struct vm_call *call, MPI_Comm comm, int rc)
{
	if (VM_LIKELY(rc == MPI_SUCCESS))
		return MPI_SUCCESS;
	return vm_call_fail(call, comm, rc);
}

/* The result of an entry without a communicator. */
static inline int vm_call_exit_self(struct vm_call *call, int rc)
{
	return vm_call_exit(call, MPI_COMM_NULL, rc);
}

#endif
