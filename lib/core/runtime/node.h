/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This process: its workers, its ranks, and how they start and end.
 */
#ifndef CORE_RUNTIME_NODE_H
#define CORE_RUNTIME_NODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/pool.h"
#include "core/service/publish.h"
#include "core/remote/op_table.h"
#include "core/rank/rank.h"
#include "core/service/thread.h"
#include "introspect/policy/vars.h"

struct vm_boot;
struct vm_engine;
struct vm_overlap_events;
struct vm_control;
struct vm_tracer;
struct vm_fabric;
struct vm_migrator;
struct vm_profiler;
struct vm_heartbeat;
struct vm_tune;
struct vm_worker;

#define VM_CONTEXT_SPARES 1024
#define VM_BUFFER_CLASSES 3 /* sizes of buffers for copied payloads */

/* What every rank runs. */
struct vm_node_body {
	vmpi_body body;
	void *arg;
};

/* Written at start and stop only, but for the atomics. */
struct vm_node {
	int rank_count; /* of the whole job */
	struct vm_rank *ranks;
	int rank_first, rank_here; /* slots of this process: boot/boot.h */
	struct vm_rank **own;	   /* their ranks, so many as rank_here */
	int process, process_count;
	struct vm_fabric *fabric;	/* NULL: all ranks share memory */
	struct vm_heartbeat *heartbeat; /* core/remote/heartbeat.h; or NULL */
	bool stopped;			/* it has said goodbye */
	struct vm_overlap_events
		*account;	      /* core/instrument/overlap_events.h */
	struct vm_profiler *profiler; /* core/instrument/profiler.h */
	struct vm_tracer *tracer;     /* core/instrument/trace.h */
	struct vm_op_table pushes,
		pulls; /* core/remote/rndv_send.h, core/remote/rndv_recv.h */
	_Atomic uint8_t *lost;		 /* core/remote/failure.h */
	_Atomic uint32_t *copies;	 /* by process: what waits for it */
	struct core_worker_pvars *found; /* by worker; core/remote/progress.h */
	struct vm_credit_queues *lines;	 /* core/remote/credit_queue.h */
	struct vm_lock chans_lock;	 /* guards the ranks' chans */
	struct core_node_pvars pvars;
	struct vm_publish publish;
	struct vm_service service;
	struct vm_tune *tune; /* core/service/tune.h; NULL: no policies */
	struct tune_node_pvars tune_pvars;
	struct vm_control *control; /* core/service/control.h; or NULL */
	struct vm_group *world;
	struct vm_meet *world_meet;
	struct vm_engine *engines; /* one per worker */
	struct vm_migrator
		*migrator; /* core/runtime/migrate.h; NULL: ranks stay */
	int engine_count;
	size_t stack_bytes; /* of ranks */
	struct vm_stack_pool rank_stacks, task_stacks;
	struct vm_pool req_pool, msg_pool, rndv_send_pool, rndv_recv_pool;
	struct vm_pool buffer_pool[VM_BUFFER_CLASSES];
	_Atomic bool running; /* the ranks have bodies */
	struct vm_node_body body;
	_Atomic uint32_t context_next; /* core/rank/context.h */
	uint32_t context_base, context_mask;
	struct vm_lock context_lock; /* of those taken and never used */
	unsigned context_spares;
	uint32_t context_spare[VM_CONTEXT_SPARES];
	struct vm_lock places_lock; /* of vm_meet_shared() */
	struct vm_list places;
	_Atomic uint32_t tasks_alive; /* futex of vm_node_stop() */
	_Atomic uint32_t task_turn;   /* which worker gets the next task */
	_Atomic uint32_t reports;     /* ranks that left operations undone */
	_Atomic int threads;	      /* adopted; vm_node_stop() asks */
	_Atomic int holds;     /* ranks between vm_failure_hold() and _let() */
	_Atomic bool bereaved; /* a process has died (core/remote/failure.h) */
	/* Who waits for the network (core/remote/progress.h). */
	_Atomic(struct vm_worker *) watcher VM_ALIGNED(VM_CACHELINE);
	_Atomic int asleep;  /* workers that sleep elsewhere */
	_Atomic bool called; /* one of them was woken to watch */
	_Atomic(struct vm_ult *) thread_watcher;
	_Atomic uint32_t thread_waits; /* times that a thread went to sleep */
};

extern struct vm_node *vm_node; /* NULL while the runtime does not run */

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

/*
 * Hooks of the program that runs the node, set before the start; may be NULL.
 * thread_start: on every worker thread before it runs anything.  end: once,
 * before vm_node_abort() ends the process.  left: in vm_node_stop(), when all
 * others have said goodbye; until then it matters who dies.  boot: this process
 * is one of several, and has the ranks that boot says; NULL: it is the only one.
 * untied: ranks may change their OS thread (core/image/tied.h).  process: it is
 * a rank itself, of which OS threads are the tasks.
 */
struct vm_node_hooks {
	struct vm_boot *boot;
	bool untied;
	bool process;
	void (*thread_start)(void);
	void (*end)(void);
	void (*left)(void);
};

extern struct vm_node_hooks vm_node_hooks;

/* A task of the caller's rank on its home worker, or of no rank on any. */
int vm_task_new(struct vm_ult **task, vmpi_body body, void *arg);
/* The same for code of the user. */
int vm_task_new_user(struct vm_ult **task, vmpi_body body, void *arg);
/* As the first with a stack as large as those of ranks. */
int vm_task_new_deep(struct vm_ult **task, vmpi_body body, void *arg);

/* Ends the calling rank's task as if its body had returned status. */
_Noreturn void vm_rank_exit(int status);

/*
 * Prints "vmpirun: " and the text as one line, unless another process of the
 * job has said why it ends (base/last_word.h), and ends the process with code.
 * Only the first caller prints and ends it; others wait for that.  The end hook
 * is not called from a signal handler: there use vm_node_die().
 */
_Noreturn void vm_node_abort(int code, const char *format, ...) VM_PRINTF(2, 3);
_Noreturn void vm_node_die(int code, const char *format, ...) VM_PRINTF(2, 3);

/* The calling OS thread acts for rank (NULL: for none), until it releases it.
 * 0, -VMPI_ENOMEM, -VMPI_ESTATE. */
int vm_thread_adopt(struct vm_rank *rank);
void vm_thread_release(void);

#endif
