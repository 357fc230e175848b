/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This process: how its workers and its ranks start and end.
 */
#ifndef CORE_RUNTIME_NODE_H
#define CORE_RUNTIME_NODE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"
#include "core/rank/state.h"
#include "vmpi.h"

struct vm_boot;
struct vm_spare_program;

/* The implementations of vmpi_start, vmpi_run and vmpi_stop. */
int vm_node_start(const vmpi_config *config);
int vm_node_run(vmpi_body body, void *arg);
int vm_node_stop(void);

/*
 * Takes the only rank of this process out of the job, whose processes say
 * goodbye to each other: it sends and receives nothing any more.  Its objects
 * stay.  Called by an OS thread of the rank, when there are no tasks.
 */
void vm_node_leave(void);

/* Opens the fabric of a process that is its whole job, while ranks run; called
 * once, by a thread that is no rank's: 0 or an error (logged). */
int vm_node_fabric_open(void);

/*
 * Hooks of the program that runs the node, set before the start; may be NULL.
 * thread_start: on every worker thread before it runs anything.  end: once,
 * before vm_node_abort() ends the process.  left: in vm_node_stop(), when all
 * others have said goodbye; until then it matters who dies.  spare_load: loads a
 * program for spare ranks (core/runtime/spares.h) and sets rank->image; 0, or an
 * error (logged).  spare_free: unloads it for a rank that has ended.  boot: this
 * process is one of several, and has the ranks that boot says; NULL: it is the
 * only one.  untied: ranks may change their OS thread (core/image/tied.h).
 * process: it is a rank itself, of which OS threads are the tasks.  watched,
 * child: written by core/runtime/child.c.  hang_fd: where vmpirun is told of
 * deadlocks (core/runtime/deadlock.h); 0: nowhere.  thread_new: pthread_create()
 * without attributes, of a thread that is no rank's whoever calls it.
 * keep_going: other processes go on when this one fails; apart: and so do the
 * other ranks of this one.  spare_can: whether spare_load can load a program, as
 * far as its file shows.  parent: the port of the rank that has started the job,
 * or NULL; appnum: by which of its commands.
 */
struct vm_node_hooks {
	struct vm_boot *boot;
	bool untied;
	bool process;
	bool watched, child;
	bool keep_going, apart;
	int hang_fd;
	void (*thread_start)(void);
	int (*thread_new)(pthread_t *thread, void *(*run)(void *), void *arg);
	void (*end)(void);
	void (*left)(void);
	bool (*spare_can)(const char *command, const char *folders);
	const char *parent;
	int appnum;
	int (*spare_load)(const struct vm_spare_program *program);
	void (*spare_free)(struct vm_rank *rank);
};

extern struct vm_node_hooks vm_node_hooks;

/*
 * Prints "vmpirun: " and the text as one line, unless another process of the
 * job has said why it ends (base/last_word.h), and ends the process with code.
 * Only the first caller prints and ends it; others wait for that.  The end hook
 * is not called from a signal handler: there use vm_node_die().
 */
_Noreturn void vm_node_abort(int code, const char *format, ...) VM_PRINTF(2, 3);
_Noreturn void vm_node_die(int code, const char *format, ...) VM_PRINTF(2, 3);

/* Whether one of these has printed its line. */
bool vm_node_said(void);

/* As vm_node_abort(); but with hooks.keep_going only this process ends. */
_Noreturn void vm_node_fail(int code, const char *format, ...) VM_PRINTF(2, 3);

/* What ends, for these messages. */
static inline const char *vm_node_ends(void)
{
	return vm_node_hooks.keep_going ? "its process" : "the job";
}

#endif
