/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank ends as a process does: handlers, destructors, buffers, status.  A
 * status other than 0 ends the job, because the other ranks would wait for a
 * message that never comes.
 */
#include "rank.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/flush.h"
#include "core/comm/fail.h"
#include "core/image/exe_tls.h"
#include "core/runtime/node.h"
#include "core/runtime/ranks.h"
#include "core/rank/rank.h"
#include "introspect/export/export.h"
#include "deputy.h"
#include "handler.h"
#include "leave.h"
#include "node.h"
#include "openmp.h"
#include "output.h"
#include "report.h"
#include "report/cli.h"

extern char **environ;

/* A rank may change its arguments, so each gets its own, in one block. */
bool rank_words(struct vm_image_copy *copy, int argc, char *const *argv)
{
	size_t bytes = ((size_t)argc + 1) * sizeof(char *);
	char **words, *text;

	for (int i = 0; i < argc; i++)
		bytes += strlen(argv[i]) + 1;
	words = malloc(bytes);
	if (!words)
		return false;
	text = (char *)(words + argc + 1);
	for (int i = 0; i < argc; i++) {
		size_t length = strlen(argv[i]) + 1;

		words[i] = memcpy(text, argv[i], length);
		text += length;
	}
	words[argc] = NULL;
	copy->words = words;
	copy->argc = argc;
	return true;
}

/* The rank alone fails, if ranks may. */
static void end_alone(const struct vm_rank *rank, int status, const char *call)
{
	char text[80];

	if (!vm_node->apart)
		return;
	if (call)
		snprintf(text, sizeof(text), "ended without calling %s", call);
	else
		snprintf(text, sizeof(text), "exited with status %d", status);
	vm_cli_say("rank %d %s; the others go on", rank->index, text);
	vm_fail_self();
	vm_rank_exit(status ? status : 1);
}

/* The mistake in this end of a rank, if there is one. */
static void end_judge(struct vm_rank *rank, int status)
{
	int mpi = rank->mpi_state ? rank->mpi_state(rank) : VM_RANK_MPI_BEFORE;
	const char *call = mpi == VM_RANK_MPI_OPEN ? "MPI_Finalize" :
			   mpi == VM_RANK_MPI_SESSIONS ?
						     "MPI_Session_finalize" :
						     NULL;

	if (status && node.alone) {
		vm_flush_files();
		vm_export_remove();
		vm_exit_now(status);
	}
	if (status || call)
		end_alone(rank, status, status ? NULL : call);
	if (status)
		vm_node_fail(status, "rank %d exited with status %d; ending %s",
			     rank->index, status, vm_node_ends());
	if (call)
		vm_node_fail(1, "rank %d ended without calling %s; ending %s",
			     rank->index, call, vm_node_ends());
}

/* The OS thread that all code of a rank runs on. */
struct rank_thread {
	jmp_buf end; /* where it goes on when the rank has ended */
	int status;
};

/* From the constructors to the destructors. */
static void program_run(struct vm_rank *rank)
{
	struct vm_image_copy *copy = rank->image;
	int status;

	copy->stack_end = __builtin_frame_address(0);
	if (vm_image_start(copy, copy->argc, copy->words, environ))
		vm_node_abort(2, "rank %d cannot be started", rank->index);
	status = vm_image_main(copy, copy->argc, copy->words, environ);
	if (status == -VMPI_ENOMEM && !copy->descriptor)
		vm_node_abort(1, "rank %d: out of memory for its start",
			      rank->index);
	rank_end(status, true);
}

static void thread_run(void *arg)
{
	struct rank_thread *thread = arg;

	if (!setjmp(thread->end))
		program_run(vm_rank_self());
}

/* What a rank leaves when its program has ended; its task ends here. */
static _Noreturn void rank_leave(struct vm_rank *rank, int status)
{
	deputies_end(rank->image);
	handler_task_end();
	if (rank->index < vm_node->rank_count)
		report_rank_end(rank);
	end_judge(rank, status);
	vm_rank_exit(0);
}

/*
 * Regions of OpenMP need an OS thread, and thread-local variables that are in
 * the code of the program by their distance from the thread pointer cannot go
 * there: the rank runs on one from the beginning.
 */
static bool needs_thread(const struct vm_image_copy *copy)
{
	return vm_exe_tls_has(copy->image) && openmp_is_used();
}

/* The copy that is loaded for a rank from the start; NULL: out of memory. */
static struct vm_image_copy *copy_take(struct vm_rank *rank)
{
	struct vm_image_copy *copy = vm_image_copy(node.image, rank->local);

	copy->number = rank->index;
	if (!rank_words(copy, node.argc, node.argv))
		return NULL;
	rank->image = copy;
	return copy;
}

int rank_main(void *arg)
{
	struct vm_rank *rank = vm_rank_self();
	/* That of a spare rank is there (later.c). */
	struct vm_image_copy *copy = rank->image ? rank->image :
						   copy_take(rank);
	struct rank_thread thread;

	(void)arg;
	if (!copy)
		vm_node_abort(1, "rank %d: out of memory for its arguments",
			      rank->index);
	leave_begin(copy);
	if (!needs_thread(copy)) {
		program_run(rank);
		return 0;
	}
	copy->thread = &thread;
	if (!deputy_run(thread_run, &thread))
		vm_node_abort(1, "rank %d: there is no thread for it",
			      rank->index);
	rank_leave(rank, thread.status);
}

/* exit() by another thread or task of the rank than its main one. */
static _Noreturn void other_end(const struct vm_rank *rank, int status)
{
	if (vm_node->rank_count == 1) {
		vm_flush_files();
		vm_export_remove();
		vm_exit_now(status);
	}
	vm_node_fail(status ? status : 1,
		     "rank %d: a thread other than its main thread called "
		     "exit(%d); ending %s",
		     rank->index, status, vm_node_ends());
}

/* exit() in a child made by fork(): its handlers and its buffers are a copy of
 * this rank's and of all other ranks'. */
static _Noreturn void child_end(struct vm_image_copy *copy, int status,
				bool handlers)
{
	if (handlers) {
		if (!copy->ending)
			vm_image_end(copy);
		output_flush(copy);
		fflush(NULL);
	}
	vm_exit_now(status);
}

void rank_end(int status, bool handlers)
{
	struct vm_rank *rank = vm_rank_self();
	struct vm_image_copy *copy = node_copy();
	struct rank_thread *thread;

	if (!copy)
		return;
	thread = copy->thread;
	status &= 0xff;
	if (!node_is_job())
		child_end(copy, status, handlers);
	if ((thread ? vm_ult_origin(vm_self) : vm_self) != rank->ult)
		other_end(rank, status);
	if (handlers && !copy->ending)
		vm_image_end(copy);
	vm_image_left(copy);
	output_flush(copy);
	if (!thread)
		rank_leave(rank, status);
	thread->status = status;
	longjmp(thread->end, 1);
}
