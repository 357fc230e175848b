/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slow path of entering and leaving MPI functions: errors, first calls.
 */
#include "mpi/call/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/instrument/intercept.h"
#include "core/remote/failure.h"
#include "core/runtime/child.h"
#include "core/runtime/node.h"
#include "core/runtime/process.h"
#include "introspect/measure/overlap.h"
#include "mpi/call/handle.h"
#include "mpi/call/errh.h"

const char *const vm_intercept_mpi_names[VM_CALLS] = {
#define CALL_NAME(name, ...) [VM_CALL_##name] = "MPI_" #name,
	MPI_CALLS(CALL_NAME)
};
const uint32_t vm_intercept_mpi_count = VM_CALLS;

VM_STATIC_ASSERT(VM_CALL_MPI_FIRST + VM_CALLS <= VM_OVERLAP_CALLS,
		 "overlap's table has a row for each call");
VM_STATIC_ASSERT(VM_CALL_MPI_FIRST + VM_CALLS <= UINT16_MAX,
		 "the number of a call fits into vm_ult.call");

const char *vm_call_name(enum vm_call_id id)
{
	return vm_intercept_mpi_names[id];
}

void vm_call_outside(enum vm_call_id id)
{
	const struct vm_rank *rank = vm_rank_self();

	if (vm_child())
		vm_node_abort(MPI_ERR_OTHER,
			      "%s was called by process %d, which fork() made: "
			      "it is no rank of the job",
			      vm_intercept_mpi_names[id], (int)getpid());
	if (!rank && !vm_node)
		vm_node_abort(MPI_ERR_OTHER, "%s was called before MPI_Init",
			      vm_intercept_mpi_names[id]);
	if (!rank)
		vm_node_abort(MPI_ERR_OTHER,
			      "%s was called by a thread that belongs to no "
			      "rank; a task of a rank may call it, or a thread "
			      "after vmpi_attach()",
			      vm_intercept_mpi_names[id]);
	if (vm_mpi_phase() == VM_MPI_AFTER)
		vm_node_abort(MPI_ERR_OTHER,
			      "rank %d called %s after MPI_Finalize",
			      rank->index, vm_intercept_mpi_names[id]);
	vm_node_abort(MPI_ERR_OTHER, "rank %d called %s before MPI_Init",
		      rank->index, vm_intercept_mpi_names[id]);
}

/* Makes the calling thread one of the rank that this process is; in other
 * processes it stays outside any rank. */
static void process_join(enum vm_call_id id)
{
	int rc = vm_process_join();

	/* Invalid settings have been reported. */
	if (rc && rc != -VMPI_ENORANK)
		vm_node_abort(rc == -VMPI_EINVAL ? 2 : vm_mpi_error(rc),
			      "%s failed: %s", vm_intercept_mpi_names[id],
			      vmpi_strerror(rc));
}

struct vm_mpi *vm_call_first(enum vm_call_id id)
{
	struct vm_mpi *mpi;

	if (!vm_self && vm_process_rank())
		process_join(id);
	mpi = vm_mpi_self();
	if (!mpi || mpi->phase != VM_MPI_RUNNING)
		vm_call_outside(id);
	return mpi;
}

struct vm_call vm_call_enter_early(enum vm_call_id id)
{
	struct vm_mpi *mpi = vm_mpi_self();

	if (!vm_self)
		process_join(id);
	if (!vm_rank_self())
		vm_call_outside(id);
	if (!mpi)
		mpi = vm_mpi_of(vm_rank_self());
	if (!mpi)
		vm_node_abort(MPI_ERR_NO_MEM,
			      "rank %d: %s failed: out of memory",
			      vm_rank_self()->index,
			      vm_intercept_mpi_names[id]);
	return (struct vm_call){ .mpi = mpi, .id = id };
}

int vm_error(struct vm_call *call, int code, const char *format, ...)
{
	va_list args;

	if (call->what)
		return code;
	va_start(args, format);
	/* Without memory for the details only the class is reported. */
	if (vasprintf(&call->what, format, args) < 0)
		call->what = NULL;
	va_end(args);
	return code;
}

int vm_error_of_side(struct vm_call *call, int rc, bool send)
{
	char *what = call->what;

	if (rc <= 0 || !what)
		return rc;
	call->what = NULL;
	vm_error(call, rc, "the data to %s: %s", send ? "send" : "receive",
		 what);
	free(what);
	return rc;
}

int vm_error_of_core(struct vm_call *call, int rc)
{
	int code = vm_mpi_error(rc);
	char gone[256];

	if (rc == -VMPI_EPEER && vm_failure_text(gone, sizeof(gone)))
		return vm_error(call, code, "%s", gone);
	/* Arguments have been checked; the kernel, which copies between
	 * processes, has seen the memory. */
	if (rc == -VMPI_EINVAL && vm_node_hooks.boot)
		return vm_error(call, code,
				"the buffer, or that of the partner in another "
				"process, seems to be no accessible memory");
	return vm_error(call, code, "%s", vmpi_strerror(rc));
}

/* Aborts the job with all details of the error. */
static _Noreturn void fail_fatally(const struct vm_call *call,
				   const char *where, int code)
{
	const char *name = vm_error_name(code), *text = vm_error_text(code);
	const char *what = call->what;

	vm_node_abort(code, "rank %d: %s%s%s failed: %s%s%s%s%s",
		      call->mpi->rank->index, vm_intercept_mpi_names[call->id],
		      where ? " on " : "", where ? where : "",
		      name ? name : "unknown error", text ? ": " : "",
		      text ? text : "", what ? ": " : "", what ? what : "");
}

/* Returns the communicator whose handler is called for an error without one:
 * MPI_COMM_SELF (MPI 4.1, 9.3), or MPI_COMM_WORLD if only its handler was set,
 * as programs older than MPI 4 do. */
static struct vm_comm *comm_for_errors(struct vm_mpi *mpi)
{
	return mpi->self.errh != vm_errh_default() ? &mpi->self : &mpi->world;
}

int vm_call_fail_on(struct vm_call *call, const struct vm_errh *errh,
		    void *handle, const char *where, int rc)
{
	int code = vm_mpi_error(rc);

	if (rc < 0)
		vm_error_of_core(call, rc);
	if (errh->kind == VM_ERRH_FATAL || errh->kind == VM_ERRH_ABORT)
		fail_fatally(call, where, code);
	free(call->what);
	call->what = NULL;
	if (errh->kind == VM_ERRH_USER)
		code = vm_errh_call(errh, handle, code);
	return code;
}

int vm_call_fail(struct vm_call *call, MPI_Comm handle, int rc)
{
	struct vm_comm *comm = vm_comm_in(call->mpi, handle);
	const char *where = comm ? vm_comm_text(call->mpi, comm) : NULL;

	if (!comm) {
		comm = comm_for_errors(call->mpi);
		handle = vm_comm_handle(call->mpi, comm);
	}
	return vm_call_fail_on(call, comm->errh, &handle, where, rc);
}
