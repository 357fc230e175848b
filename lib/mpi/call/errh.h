/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error classes and error handlers.
 *
 * Error codes are the classes of the ABI. The fatal handlers abort the job with
 * a line that gives the rank, the call, the class, the communicator and
 * details.
 */
#ifndef MPI_CALL_ERRH_H
#define MPI_CALL_ERRH_H

#include "mpi/call/state.h"

enum vm_errh_kind {
	VM_ERRH_FATAL,
	VM_ERRH_ABORT,
	VM_ERRH_RETURN,
	VM_ERRH_USER
};

struct vm_errh {
	struct vm_object object; /* magic: there is a handle of the user */
	int handles;		 /* the user has; guarded by the rank's lock */
	enum vm_errh_kind kind;
	MPI_Comm_errhandler_function *function; /* USER */
};

/* Returns MPI_ERRORS_ARE_FATAL, the initial handler of communicators. */
struct vm_errh *vm_errh_default(void);

/* Take and drop references; predefined handlers are not counted. */
struct vm_errh *vm_errh_hold(struct vm_errh *errh);
void vm_errh_drop(struct vm_mpi *mpi, struct vm_errh *errh);

/* Returns the MPI class of a core error (-VMPI_E...); MPI errors are returned
 * unchanged. */
int vm_mpi_error(int rc);

/* Returns the class of an error code, predefined or added by the program; -1
 * for other numbers. */
int vm_error_class(int code);

/* Return "MPI_ERR_RANK" (NULL for codes the program added) and "invalid rank";
 * NULL for unknown codes. */
const char *vm_error_name(int code);
const char *vm_error_text(int code);

#endif
