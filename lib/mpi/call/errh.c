/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error classes, their texts, and error handlers.
 */
#include "mpi/call/errh.h"

#include <stdio.h>
#include <string.h>

#include "mpi/call/check.h"
#include "mpi/call/errcode.h"

/* Name without MPI_, text. */
#define ERROR_CLASSES(X)                                                 \
	X(SUCCESS, "no error")                                           \
	X(ERR_BUFFER, "invalid buffer")                                  \
	X(ERR_COUNT, "invalid count")                                    \
	X(ERR_TYPE, "invalid datatype")                                  \
	X(ERR_TAG, "invalid tag")                                        \
	X(ERR_COMM, "invalid communicator")                              \
	X(ERR_RANK, "invalid rank")                                      \
	X(ERR_REQUEST, "invalid request")                                \
	X(ERR_ROOT, "invalid root")                                      \
	X(ERR_GROUP, "invalid group")                                    \
	X(ERR_OP, "invalid reduction operation")                         \
	X(ERR_TOPOLOGY, "invalid topology")                              \
	X(ERR_DIMS, "invalid dimensions")                                \
	X(ERR_ARG, "invalid argument")                                   \
	X(ERR_UNKNOWN, "unknown error")                                  \
	X(ERR_TRUNCATE, "message truncated on receive")                  \
	X(ERR_OTHER, "other error")                                      \
	X(ERR_INTERN, "internal error")                                  \
	X(ERR_PENDING, "operation is still pending")                     \
	X(ERR_IN_STATUS, "the error code is in the status")              \
	X(ERR_ACCESS, "permission denied")                               \
	X(ERR_AMODE, "invalid access mode of a file")                    \
	X(ERR_ASSERT, "invalid assertion")                               \
	X(ERR_BAD_FILE, "invalid file name")                             \
	X(ERR_BASE, "invalid base address")                              \
	X(ERR_CONVERSION, "data conversion failed")                      \
	X(ERR_DISP, "invalid displacement")                              \
	X(ERR_DUP_DATAREP, "data representation is already defined")     \
	X(ERR_FILE_EXISTS, "file exists")                                \
	X(ERR_FILE_IN_USE, "file is in use")                             \
	X(ERR_FILE, "invalid file handle")                               \
	X(ERR_INFO_KEY, "info key is too long or empty")                 \
	X(ERR_INFO_NOKEY, "no such info key")                            \
	X(ERR_INFO_VALUE, "info value is too long or empty")             \
	X(ERR_INFO, "invalid info object")                               \
	X(ERR_IO, "input or output failed")                              \
	X(ERR_KEYVAL, "invalid attribute key")                           \
	X(ERR_LOCKTYPE, "invalid lock type")                             \
	X(ERR_NAME, "no such service name")                              \
	X(ERR_NO_MEM, "out of memory")                                   \
	X(ERR_NOT_SAME, "argument differs between processes")            \
	X(ERR_NO_SPACE, "not enough space")                              \
	X(ERR_NO_SUCH_FILE, "no such file")                              \
	X(ERR_PORT, "invalid port name")                                 \
	X(ERR_QUOTA, "quota exceeded")                                   \
	X(ERR_READ_ONLY, "file or file system is read-only")             \
	X(ERR_RMA_ATTACH, "memory cannot be attached")                   \
	X(ERR_RMA_CONFLICT, "conflicting accesses to a window")          \
	X(ERR_RMA_RANGE, "memory lies outside of the window")            \
	X(ERR_RMA_SHARED, "memory cannot be shared")                     \
	X(ERR_RMA_SYNC, "wrong synchronisation of window accesses")      \
	X(ERR_SERVICE, "service name cannot be published or withdrawn")  \
	X(ERR_SIZE, "invalid size")                                      \
	X(ERR_SPAWN, "processes cannot be started")                      \
	X(ERR_UNSUPPORTED_DATAREP, "unsupported data representation")    \
	X(ERR_UNSUPPORTED_OPERATION, "operation is not supported")       \
	X(ERR_WIN, "invalid window")                                     \
	X(ERR_RMA_FLAVOR, "wrong kind of window")                        \
	X(ERR_PROC_ABORTED, "a peer process has aborted")                \
	X(ERR_VALUE_TOO_LARGE, "value does not fit into its argument")   \
	X(ERR_SESSION, "invalid session")                                \
	X(ERR_ERRHANDLER, "invalid error handler")                       \
	X(ERR_ABI, "wrong application binary interface")                 \
	X(T_ERR_CANNOT_INIT, "tool interface cannot be initialised")     \
	X(T_ERR_NOT_ACCESSIBLE, "tool interface is not accessible")      \
	X(T_ERR_NOT_INITIALIZED, "tool interface is not initialised")    \
	X(T_ERR_NOT_SUPPORTED, "not supported by the tool interface")    \
	X(T_ERR_MEMORY, "tool interface: out of memory")                 \
	X(T_ERR_INVALID, "tool interface: invalid use")                  \
	X(T_ERR_INVALID_INDEX, "tool interface: invalid index")          \
	X(T_ERR_INVALID_ITEM, "tool interface: invalid item index")      \
	X(T_ERR_INVALID_SESSION, "tool interface: invalid session")      \
	X(T_ERR_INVALID_HANDLE, "tool interface: invalid handle")        \
	X(T_ERR_INVALID_NAME, "tool interface: no such name")            \
	X(T_ERR_OUT_OF_HANDLES, "tool interface: out of handles")        \
	X(T_ERR_OUT_OF_SESSIONS, "tool interface: out of sessions")      \
	X(T_ERR_CVAR_SET_NOT_NOW, "control variable cannot be set now")  \
	X(T_ERR_CVAR_SET_NEVER, "control variable cannot be set")        \
	X(T_ERR_PVAR_NO_WRITE, "performance variable cannot be written") \
	X(T_ERR_PVAR_NO_STARTSTOP,                                       \
	  "performance variable cannot be started or stopped")           \
	X(T_ERR_PVAR_NO_ATOMIC,                                          \
	  "performance variable cannot be read and reset at once")       \
	X(ERR_LASTCODE, "last error code")

static const struct {
	int code;
	const char *name, *text;
} classes[] = {
#define CLASS_ROW(name, text) { MPI_##name, "MPI_" #name, text },
	ERROR_CLASSES(CLASS_ROW){
		MPIX_ERR_PROC_FAILED_PENDING, "MPIX_ERR_PROC_FAILED_PENDING",
		"a process that may be the sender has failed" },
	{ MPIX_ERR_REVOKED, "MPIX_ERR_REVOKED", "communicator is revoked" },
};

/* MPI classes of core's errors, by -code. */
static const int class_of_core[] = {
	[VMPI_EAGAIN] = MPI_ERR_PENDING,
	[VMPI_EINVAL] = MPI_ERR_ARG,
	[VMPI_ENOMEM] = MPI_ERR_NO_MEM,
	[VMPI_ERANK] = MPI_ERR_RANK,
	[VMPI_ETAG] = MPI_ERR_TAG,
	[VMPI_ETRUNC] = MPI_ERR_TRUNCATE,
	[VMPI_ECANCELED] = MPI_ERR_OTHER,
	[VMPI_ENORANK] = MPI_ERR_OTHER,
	[VMPI_ESTATE] = MPI_ERR_OTHER,
	[VMPI_ELIMIT] = MPI_ERR_OTHER,
	[VMPI_ENOTSUP] = MPI_ERR_UNSUPPORTED_OPERATION,
	[VMPI_ENOENT] = MPI_ERR_ARG,
	[VMPI_EIO] = MPI_ERR_IO,
	[VMPI_EMISMATCH] = MPI_ERR_OTHER,
	[VMPI_EPEER] = MPI_ERR_PROC_ABORTED,
	[VMPI_EREVOKED] = MPIX_ERR_REVOKED,
	[VMPI_ETIMEDOUT] = MPI_ERR_PENDING,
};

int vm_mpi_error(int rc)
{
	int count = (int)(sizeof(class_of_core) / sizeof(class_of_core[0]));

	if (rc >= 0)
		return rc;
	return -rc < count ? class_of_core[-rc] : MPI_ERR_INTERN;
}

static int class_index(int code)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].code == code)
			return (int)i;
	return -1;
}

int vm_error_class(int code)
{
	return class_index(code) >= 0 ? code : vm_errcode_class(code);
}

const char *vm_error_name(int code)
{
	int i = class_index(code);

	return i < 0 ? NULL : classes[i].name;
}

const char *vm_error_text(int code)
{
	int i = class_index(code);

	return i < 0 ? vm_errcode_text(code) : classes[i].text;
}

/* The predefined handlers, by handle - MPI_ERRORS_ARE_FATAL. */
static const struct vm_errh predefined[] = {
	{ .kind = VM_ERRH_FATAL },
	{ .kind = VM_ERRH_ABORT },
	{ .kind = VM_ERRH_RETURN },
};
#define PREDEFINED (sizeof(predefined) / sizeof(predefined[0]))

/* Never written: not counted, and only VM_ERRH_USER ones are freed. */
static struct vm_errh *predefined_errh(uintptr_t i)
{
	return (struct vm_errh *)(uintptr_t)&predefined[i];
}

struct vm_errh *vm_errh_default(void)
{
	return predefined_errh(VM_ERRH_FATAL);
}

struct vm_errh *vm_errh_return(void)
{
	return predefined_errh(VM_ERRH_RETURN);
}

/* Returns the error handler of a handle, or NULL. */
static struct vm_errh *errh_at(MPI_Errhandler handle)
{
	uintptr_t value = (uintptr_t)handle;

	if (value >= VM_HANDLE_MIN)
		return vm_object_of(handle, VM_MAGIC_ERRH);
	value -= (uintptr_t)MPI_ERRORS_ARE_FATAL;
	return value < PREDEFINED ? predefined_errh(value) : NULL;
}

/* Returns the handle of errh. */
static MPI_Errhandler errh_handle(struct vm_errh *errh)
{
	if (errh->kind == VM_ERRH_USER)
		return (MPI_Errhandler)errh;
	return (MPI_Errhandler)((uintptr_t)MPI_ERRORS_ARE_FATAL +
				(uintptr_t)errh->kind);
}

struct vm_errh *vm_errh_hold(struct vm_errh *errh)
{
	if (errh->kind == VM_ERRH_USER)
		vm_object_hold(&errh->object);
	return errh;
}

void vm_errh_drop(struct vm_mpi *mpi, struct vm_errh *errh)
{
	if (errh->kind == VM_ERRH_USER && vm_object_drop(&errh->object))
		vm_object_free(mpi, VM_OBJECT_ERRH, errh);
}

void vm_errh_is_fortran(MPI_Errhandler errhandler)
{
	errh_at(errhandler)->fortran = true;
}

/* The number by which Fortran knows an object; handle points to its handle. */
static MPI_Fint number_of(const struct vm_errh *errh, void *handle)
{
	switch (errh->of) {
	case VM_ERRH_OF_WIN:
		return PMPI_Win_toint(*(MPI_Win *)handle);
	case VM_ERRH_OF_FILE:
		return PMPI_File_toint(*(MPI_File *)handle);
	case VM_ERRH_OF_SESSION:
		return PMPI_Session_toint(*(MPI_Session *)handle);
	default:
		return PMPI_Comm_toint(*(MPI_Comm *)handle);
	}
}

int vm_errh_call(const struct vm_errh *errh, void *handle, int code)
{
	MPI_Fint number;

	if (errh->fortran) {
		number = number_of(errh, handle);
		errh->function.fortran(&number, &code);
	} else if (errh->of == VM_ERRH_OF_WIN) {
		errh->function.win(handle, &code);
	} else if (errh->of == VM_ERRH_OF_FILE) {
		errh->function.file(handle, &code);
	} else if (errh->of == VM_ERRH_OF_SESSION) {
		errh->function.session(handle, &code);
	} else {
		errh->function.comm(handle, &code);
	}
	return code;
}

static int check_errh(struct vm_call *call, MPI_Errhandler handle,
		      struct vm_errh **errh)
{
	*errh = errh_at(handle);
	if (*errh)
		return 0;
	return vm_error(call, MPI_ERR_ERRHANDLER,
			handle == MPI_ERRHANDLER_NULL ?
				"MPI_ERRHANDLER_NULL" :
				"not an error handler, or it was freed");
}

int vm_errh_make(struct vm_call *call, MPI_Errhandler *errhandler,
		 const struct vm_errh *user)
{
	struct vm_errh *errh;
	int rc = vm_check_pointer(call, errhandler, "errhandler");

	if (rc == 0 && !user->function.comm)
		rc = vm_error(call, MPI_ERR_ARG,
			      "the error handler's function is NULL");
	if (rc != 0)
		return rc;
	errh = vm_object_new(call->mpi, VM_OBJECT_ERRH, sizeof(*errh));
	if (!errh)
		return MPI_ERR_NO_MEM;
	errh->kind = VM_ERRH_USER;
	errh->of = user->of;
	errh->function = user->function;
	errh->handles = 1;
	*errhandler = (MPI_Errhandler)errh;
	return 0;
}

static int errh_create(enum vm_call_id id,
		       MPI_Comm_errhandler_function *function,
		       MPI_Errhandler *errhandler)
{
	struct vm_call call = vm_call_enter(id);
	struct vm_errh user = { .of = VM_ERRH_OF_COMM,
				.function.comm = function };

	return vm_call_exit_self(&call, vm_errh_make(&call, errhandler, &user));
}

/* Also takes a communicator that is not complete yet: MPI forbids to use it, but
 * other implementations let programs set its handler at once. */
static int check_comm_soon(struct vm_call *call, MPI_Comm handle,
			   struct vm_comm **comm)
{
	*comm = vm_object_of(handle, VM_MAGIC_COMM_SOON);
	return *comm ? 0 : vm_check_comm(call, handle, comm);
}

int vm_errh_put(struct vm_call *call, struct vm_errh **place,
		enum vm_errh_of of, MPI_Errhandler errhandler)
{
	struct vm_errh *errh, *old = *place;
	int rc = check_errh(call, errhandler, &errh);

	if (rc == 0 && errh->kind == VM_ERRH_USER && errh->of != of)
		rc = vm_error(call, MPI_ERR_ERRHANDLER,
			      "the error handler is one of another kind of "
			      "object");
	if (rc != 0)
		return rc;
	*place = vm_errh_hold(errh);
	vm_errh_drop(call->mpi, old);
	return 0;
}

static int errh_set(enum vm_call_id id, MPI_Comm comm,
		    MPI_Errhandler errhandler)
{
	struct vm_call call = vm_call_enter(id);
	struct vm_comm *c;
	int rc = check_comm_soon(&call, comm, &c);

	if (rc == 0)
		rc = vm_errh_put(&call, &c->errh, VM_ERRH_OF_COMM, errhandler);
	return vm_call_exit(&call, comm, rc);
}

/* Returns one more handle for the user.  A handler that objects use loses its
 * magic word with its last handle and regains it with a new one. */
static MPI_Errhandler errh_give(struct vm_mpi *mpi, struct vm_errh *errh)
{
	vm_errh_hold(errh);
	if (errh->kind == VM_ERRH_USER) {
		vm_lock_take(&mpi->lock);
		errh->handles++;
		vm_object_mark(&errh->object, VM_MAGIC_ERRH);
		vm_lock_give(&mpi->lock);
	}
	return errh_handle(errh);
}

int vm_errh_get(struct vm_call *call, struct vm_errh *errh,
		MPI_Errhandler *errhandler)
{
	int rc = vm_check_pointer(call, errhandler, "errhandler");

	if (rc == 0)
		*errhandler = errh_give(call->mpi, errh);
	return rc;
}

static int errh_get(enum vm_call_id id, MPI_Comm comm,
		    MPI_Errhandler *errhandler)
{
	struct vm_call call = vm_call_enter(id);
	struct vm_comm *c;
	int rc = check_comm_soon(&call, comm, &c);

	if (rc == 0)
		rc = vm_errh_get(&call, c->errh, errhandler);
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function,
				MPI_Errhandler *errhandler)
{
	return errh_create(VM_CALL_Comm_create_errhandler, function,
			   errhandler);
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
	return errh_set(VM_CALL_Comm_set_errhandler, comm, errhandler);
}

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
	return errh_get(VM_CALL_Comm_get_errhandler, comm, errhandler);
}

/* The names of MPI-1. */
int PMPI_Errhandler_create(MPI_Comm_errhandler_function *function,
			   MPI_Errhandler *errhandler)
{
	return errh_create(VM_CALL_Errhandler_create, function, errhandler);
}

int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
	return errh_set(VM_CALL_Errhandler_set, comm, errhandler);
}

int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
	return errh_get(VM_CALL_Errhandler_get, comm, errhandler);
}

int vm_check_raised(struct vm_call *call, int errorcode)
{
	if (vm_error_class(errorcode) < 0)
		return vm_error(call, MPI_ERR_ARG, "%d is not an error code",
				errorcode);
	if (errorcode != MPI_SUCCESS)
		vm_error(call, errorcode, "raised by the program");
	return 0;
}

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_call_errhandler);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_raised(&call, errorcode);
	if (rc != 0)
		return vm_call_exit(&call, comm, rc);
	vm_call_exit(&call, comm, errorcode);
	return MPI_SUCCESS;
}

int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Errhandler_free);
	struct vm_errh *errh;
	int rc = vm_check_pointer(&call, errhandler, "errhandler");

	if (rc == 0)
		rc = check_errh(&call, *errhandler, &errh);
	if (rc == 0) {
		if (errh->kind == VM_ERRH_USER) {
			vm_lock_take(&call.mpi->lock);
			if (--errh->handles == 0)
				vm_object_mark(&errh->object, 0);
			vm_lock_give(&call.mpi->lock);
		}
		vm_errh_drop(call.mpi, errh);
		*errhandler = MPI_ERRHANDLER_NULL;
	}
	return vm_call_exit_self(&call, rc);
}

/* Allowed at any time, so without vm_call_enter(). */
int PMPI_Error_class(int errorcode, int *errorclass)
{
	int class = vm_error_class(errorcode);

	if (!errorclass)
		return MPI_ERR_ARG;
	*errorclass = class < 0 ? MPI_ERR_UNKNOWN : class;
	return MPI_SUCCESS;
}

int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
	const char *name = vm_error_name(errorcode);
	const char *text = vm_error_text(errorcode);

	if (!string || !resultlen)
		return MPI_ERR_ARG;
	if (name)
		*resultlen = snprintf(string, MPI_MAX_ERROR_STRING, "%s: %s",
				      name, text);
	else if (text)
		*resultlen = snprintf(string, MPI_MAX_ERROR_STRING, "%s", text);
	else
		*resultlen = snprintf(string, MPI_MAX_ERROR_STRING,
				      "unknown error code %d", errorcode);
	return MPI_SUCCESS;
}
