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

struct vm_call;

enum vm_errh_kind {
	VM_ERRH_FATAL,
	VM_ERRH_ABORT,
	VM_ERRH_RETURN,
	VM_ERRH_USER
};

/* What a handler of the user is for. */
enum vm_errh_of {
	VM_ERRH_OF_COMM,
	VM_ERRH_OF_WIN,
	VM_ERRH_OF_FILE,
	VM_ERRH_OF_SESSION
};

struct vm_errh {
	struct vm_object object; /* magic: there is a handle of the user */
	int handles;		 /* the user has; guarded by the rank's lock */
	enum vm_errh_kind kind;
	enum vm_errh_of of; /* USER */
	bool fortran;	    /* USER: its function is one of Fortran */
	union {
		MPI_Comm_errhandler_function *comm;
		MPI_Win_errhandler_function *win;
		MPI_File_errhandler_function *file;
		MPI_Session_errhandler_function *session;
		void (*fortran)(MPI_Fint *handle, int *code, ...);
	} function;
};

/* Returns MPI_ERRORS_ARE_FATAL, the initial handler of communicators. */
struct vm_errh *vm_errh_default(void);
/* Returns MPI_ERRORS_RETURN, that of files. */
struct vm_errh *vm_errh_return(void);

/* Says that the function of a handler that a program has is one of Fortran. */
void vm_errh_is_fortran(MPI_Errhandler errhandler);

/* Take and drop references; predefined handlers are not counted. */
struct vm_errh *vm_errh_hold(struct vm_errh *errh);
void vm_errh_drop(struct vm_mpi *mpi, struct vm_errh *errh);

/* Calls the function of a handler of the user's with an object, to whose handle
 * `handle` points, and an error; returns the error as the function leaves it. */
int vm_errh_call(const struct vm_errh *errh, void *handle, int code);

/* Makes a handler with this function, as one argument of the call: 0 or an MPI
 * error. */
int vm_errh_make(struct vm_call *call, MPI_Errhandler *errhandler,
		 const struct vm_errh *user);

/* Makes the handler of a handle that of an object, *place; or gives the user a
 * handle of the object's.  0 or an MPI error. */
int vm_errh_put(struct vm_call *call, struct vm_errh **place,
		enum vm_errh_of of, MPI_Errhandler errhandler);
int vm_errh_get(struct vm_call *call, struct vm_errh *errh,
		MPI_Errhandler *errhandler);

/* Checks the argument of a call that raises an error: 0 or MPI_ERR_ARG. */
int vm_check_raised(struct vm_call *call, int errorcode);

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
