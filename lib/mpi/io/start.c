/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses that are only started: nonblocking and split collective ones.
 *
 * A helper does what is long; what is short is done when the call returns, since
 * waking a helper takes as long.  Collective ones are done by tasks.
 */
#include <stdlib.h>

#include "core/rank/state.h"
#include "core/local/task.h"
#include "mpi/call/errh.h"
#include "mpi/call/status.h"
#include "mpi/call/vars.h"
#include "mpi/io/collect.h"
#include "mpi/p2p/grequest.h"

static void op_run(struct vm_call *call, struct vm_io_op *op)
{
	vm_io_op_do(call, op);
	/* Pairs with the load in vm_check_file_rests(). */
	atomic_fetch_sub_explicit(&op->file->pending, 1, memory_order_release);
	/* Then the operation may be gone. */
	vm_req_complete(op->req);
}

static void job_run(struct vm_helper_job *job)
{
	op_run(NULL, (struct vm_io_op *)job);
}

/* Of a generalized request: extra is the operation. */
static int op_query(void *extra, MPI_Status *status)
{
	const struct vm_io_op *op = extra;

	vm_status_set_bytes(status, op->moved);
	return MPI_SUCCESS;
}

static int op_end(struct vm_call *call, void *extra, MPI_Status *status)
{
	vm_status_set_empty(status);
	return vm_io_op_result(call, extra, status);
}

static void op_drop(struct vm_io_op *op)
{
	free(op->what);
	free(op);
}

static int op_free(void *extra)
{
	struct vm_io_op *op = extra;

	vm_layout_drop(op->data.layout);
	op_drop(op);
	return MPI_SUCCESS;
}

/* It is done to its end. */
static int op_cancel(void *extra, int complete)
{
	return MPI_SUCCESS;
}

static int op_fail(struct vm_call *call, void *handle, int rc)
{
	return vm_file_exit(call, handle, rc);
}

/* Gives a checked operation a request. */
static int request_make(struct vm_io_op *op, MPI_File handle)
{
	struct vm_grequest how = {
		.query = op_query,
		.free = op_free,
		.cancel = op_cancel,
		.extra_state = op,
		.end = op_end,
		.fail = op_fail,
		.object = handle,
	};

	op->req = vm_grequest_new(&how);
	if (!op->req)
		return MPI_ERR_NO_MEM;
	vm_layout_hold(op->data.layout);
	return 0;
}

/* By itself. */
static void alone_start(struct vm_call *call, struct vm_io_op *op)
{
	op->job.run = job_run;
	/* Functions of the program run on its own tasks only. */
	if (op->data.bytes >= (size_t)mpi_cvar.io_helper_bytes &&
	    !op->file->view.rep)
		vm_helper_do(vm_node->helpers, &op->job);
	else
		op_run(call, op);
}

/* A task that does a collective operation with the others when its turn
 * comes; one without a request only takes part. */
static int together_main(void *arg)
{
	struct vm_io_op *op = arg;
	struct vm_file *file = op->file;
	struct vm_call call = { .mpi = vm_mpi_self(), .id = op->id };
	int rc;

	vm_file_turn_wait(file, op->turn);
	rc = vm_io_collect(&call, op->all, op, op->rc);
	if (rc != 0 && !op->class) {
		op->class = rc > 0 ? rc : vm_mpi_error(rc);
		op->what = call.what;
	} else {
		free(call.what);
	}
	/* As in op_run(); then the file may be gone, too. */
	atomic_fetch_sub_explicit(&file->pending, 1, memory_order_release);
	vm_file_turn_end(file);
	if (op->req)
		vm_req_complete(op->req);
	else
		op_drop(op);
	return 0;
}

static void together_start(struct vm_io_op *op)
{
	struct vm_ult *task;

	op->turn = vm_file_turn_take(op->file);
	if (vm_task_new_deep(&task, together_main, op) == 0)
		vm_ult_detach(task);
	else
		/* Without a task this call waits for the others. */
		together_main(op);
}

/* Starts an operation: 0 with *req, or an MPI error.  In a collective one the
 * others wait for a member with wrong arguments, too. */
static int start(struct vm_call *call, const struct vm_io_args *args,
		 struct vm_req **req)
{
	struct vm_io_op *op = malloc(sizeof(*op));
	int rc = op ? vm_io_op_init(call, op, args) : MPI_ERR_NO_MEM;
	bool together = op && op->file && args->all && op->file->comm.size > 1;

	if (rc == 0)
		rc = request_make(op, args->handle);
	if (rc != 0 && !together) {
		free(op);
		return rc;
	}
	op->rc = rc;
	op->id = call->id;
	op->all = args->all;
	*req = op->req;
	atomic_fetch_add_explicit(&op->file->pending, 1, memory_order_relaxed);
	if (together)
		together_start(op);
	else
		alone_start(call, op);
	return rc;
}

int vm_io_start(struct vm_call *call, const struct vm_io_args *args,
		MPI_Request *request)
{
	struct vm_req *req;
	int rc = vm_check_pointer(call, request, "request");

	if (rc == 0)
		rc = start(call, args, &req);
	if (rc == 0)
		*request = (MPI_Request)req;
	return vm_file_exit(call, args->handle, rc);
}

/* The first half does all: it may wait for the others, as the second may. */
int vm_io_begin(struct vm_call *call, const struct vm_io_args *args)
{
	struct vm_io_op *op = malloc(sizeof(*op));
	int rc = op ? vm_io_op_init(call, op, args) : MPI_ERR_NO_MEM;

	if (op && op->file)
		vm_file_turns_wait(op->file);
	if (op && op->file)
		rc = vm_io_collect(call, args->all, op, rc);
	if (rc == 0) {
		op->file->split.op = op;
		op->file->split.call = (int)call->id;
	} else {
		free(op);
	}
	return vm_file_exit(call, args->handle, rc);
}

/* begin: the call that begins what this one ends; behind it is its twin. */
static int split_end(enum vm_call_id id, enum vm_call_id begin, MPI_File fh,
		     MPI_Status *status)
{
	struct vm_call call = vm_call_enter(id);
	struct vm_file *file;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0 && file->split.call != (int)begin &&
	    file->split.call != (int)begin + 1)
		rc = vm_error(&call, MPI_ERR_OTHER, "%s was not called before",
			      vm_call_name(begin));
	if (rc != 0)
		return vm_file_exit(&call, fh, rc);
	rc = vm_io_op_result(&call, file->split.op, status);
	free(file->split.op);
	file->split.op = NULL;
	file->split.call = 0;
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
	return split_end(VM_CALL_File_read_all_end, VM_CALL_File_read_all_begin,
			 fh, status);
}

int PMPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
	return split_end(VM_CALL_File_read_at_all_end,
			 VM_CALL_File_read_at_all_begin, fh, status);
}

int PMPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{
	return split_end(VM_CALL_File_read_ordered_end,
			 VM_CALL_File_read_ordered_begin, fh, status);
}

int PMPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
	return split_end(VM_CALL_File_write_all_end,
			 VM_CALL_File_write_all_begin, fh, status);
}

int PMPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
	return split_end(VM_CALL_File_write_at_all_end,
			 VM_CALL_File_write_at_all_begin, fh, status);
}

int PMPI_File_write_ordered_end(MPI_File fh, const void *buf,
				MPI_Status *status)
{
	return split_end(VM_CALL_File_write_ordered_end,
			 VM_CALL_File_write_ordered_begin, fh, status);
}
