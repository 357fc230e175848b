/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of this process: its ranks, its workers' engines, and a part for
 * each module of core.
 *
 * A part is named for the module that owns it, which alone writes it; the other
 * fields are written at start and stop (core/runtime/node.c).  Parts of modules
 * that stand above this folder are pointers, or structs of plain words.
 */
#ifndef CORE_RANK_STATE_H
#define CORE_RANK_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_table.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/pool.h"
#include "core/rank/context.h"
#include "core/rank/rank.h"
#include "introspect/policy/vars.h"
#include "sched/stack.h"

struct vm_agent;
struct vm_control;
struct vm_deadlock;
struct vm_descriptors;
struct vm_credit_queues;
struct vm_engine;
struct vm_fabric;
struct vm_group;
struct vm_guests;
struct vm_heartbeat;
struct vm_helpers;
struct vm_meet;
struct vm_migrator;
struct vm_overlap_events;
struct vm_pkt;
struct vm_port;
struct vm_profiler;
struct vm_publish;
struct vm_service;
struct vm_stuck;
struct vm_tracer;
struct vm_tune;
struct vm_wire_step;
struct vm_worker;

#define VM_STACK_SIZES 48   /* the largest stack has fewer than 2^48 bytes */
#define VM_BUFFER_CLASSES 3 /* sizes of buffers for copied payloads */

struct vm_node {
	/* Constant while ranks run; what each message may look at comes
	 * first. */
	struct vm_engine *engines; /* one per worker; core/local/engine.h */
	int engine_count;
	int process, process_count;
	int rank_count;		  /* of the whole job, when it began */
	struct vm_rank *ranks;	  /* so many, and then the spare ones */
	struct vm_fabric *fabric; /* NULL: all ranks share memory */
	size_t agent_bytes; /* longer receives are for the agent, if any */
	struct vm_credit_queues *credit_queues; /* core/remote/credit_queue.h */
	struct vm_overlap_events *overlap_events;
	struct vm_profiler *profiler;		/* core/instrument/profiler.h */
	struct vm_tracer *tracer;		/* core/instrument/trace.h */
	struct core_worker_pvars *worker_pvars; /* core/remote/progress.h */
	/* Ranks may fail one by one: each meets the others as if it were a
	 * process of its own. */
	bool apart;
	int rank_first, rank_here; /* slots of this process: boot/boot.h */
	struct vm_rank **own;	   /* their ranks, so many as rank_here; then
				      those in spares.c, NULL: not used yet */
	int spare_count;	   /* core/runtime/spares.h: of each process */
	int rank_room;		   /* their numbers are below that */
	int process_room; /* numbers of processes, those of guests included,
			     if there is a fabric */
	struct vm_group *world;
	struct vm_meet *world_meet;
	size_t stack_bytes;		/* of ranks */
	struct vm_heartbeat *heartbeat; /* core/remote/heartbeat.h; or NULL */
	struct vm_agent *agent;		/* core/remote/agent.h; or NULL */
	struct vm_migrator *migrator;	/* NULL: ranks stay */
	struct vm_service *service;	/* core/service/thread.h */
	struct vm_helpers *helpers;	/* core/runtime/helper.h: for files, */
	struct vm_helpers *callers;	/* for functions of the program, */
	struct vm_helpers *runners;	/* for errands */
	/* core/service/descriptor.h; NULL: nobody has waited for one. */
	_Atomic(struct vm_descriptors *) descriptors;
	struct vm_lock descriptors_lock;
	_Atomic int outside;	    /* waits that end by what happens outside */
	struct vm_publish *publish; /* core/service/publish.h */
	struct vm_tune *tune;	    /* NULL: there are no policies */
	struct vm_control *control; /* core/service/control.h; or NULL */
	struct vm_deadlock *deadlock; /* core/runtime/deadlock.h; or NULL, */
	void (*quiet_take)(uint32_t process, const struct vm_wire_step *step);
	struct vm_stuck *stuck; /* core/runtime/stuck.h; or NULL */
	/* core/window/wire.h; NULL: there has been no window of several
	 * processes. */
	void (*_Atomic window_take)(struct vm_port *port, struct vm_pkt *pkt);
	void (*_Atomic window_down)(uint32_t process);
	int (*revoke_take)(uint32_t context); /* core/comm/revoke.h */
	void (*failed_take)(int index);	      /* core/comm/fail.h */
	void (*_Atomic revoked_hook)(void);   /* core/comm/revoke.h; or NULL */
	vmpi_body body;			      /* what every rank runs */
	void *body_arg;
	_Atomic bool running; /* the ranks have bodies */
	bool closed;	      /* core/remote/remote.c: it has said goodbye */

	/* Counted by their modules; read through introspect/vars/pvar.h. */
	struct core_node_pvars pvars;
	struct tune_node_pvars tune_pvars;

	/* core/rank/chan.h: guards the ranks' lists of channels. */
	struct vm_lock chans_lock;
	/* core/local/threads.h: OS threads besides the workers. */
	struct {
		_Atomic int adopted; /* vm_node_stop() asks */
		struct vm_lock lock; /* held while ranks move, guards: */
		_Atomic int acting;  /* those that act for ranks; read by all */
	} threads;
	struct vm_contexts contexts;

	/* core/local/engine.h: what the threads' caches are filled from. */
	struct {
		struct vm_pool req, msg, rndv_send, rndv_recv, kept;
		struct vm_pool buffer[VM_BUFFER_CLASSES];
	} pools;
	/* Of which the layer above has handles, and its own objects. */
	struct {
		struct vm_arena req, msg, object;
	} arenas;
	struct vm_stack_pool rank_stacks, task_stacks;
	/* core/local/task.c: of tasks with stacks of their own size, by its
	 * logarithm. */
	_Atomic(struct vm_stack_pool *) sized_stacks[VM_STACK_SIZES];

	/* core/runtime/spares.c */
	struct {
		struct vm_lock guests_lock; /* guests.c: is being opened */
		struct vm_lock lock;	    /* guards their states and own[] */
		_Atomic int used;	    /* so many follow in own[] */
	} spares;

	/* core/runtime/guests.h: processes and ranks of other jobs. */
	struct vm_guests *guests; /* NULL: there have been none */
	int guests_error;	  /* why there cannot be any */
	_Atomic int guest_ranks;  /* their numbers follow rank_room */

	_Atomic uint64_t job; /* vm_process_job_number(); 0: not asked yet */

	/* core/local/errand.h: those that wait, by number. */
	struct {
		struct vm_id_table table;
		_Atomic uint32_t waiting;
		_Atomic uint64_t left; /* one without a task */
		/* A task of one that a thread runs in steps; how many there
		 * have been, and how often it was looked at. */
		_Atomic(struct vm_ult *) stepped;
		_Atomic uint32_t steps_begun, steps;
		_Atomic unsigned eager; /* so many are to have one */
		_Atomic bool called;	/* a helper, which has not come yet */
		void (*help)(void);	/* calls one */
	} errands;

	_Atomic uint32_t works; /* core/local/work.h: offers to take part */

	/* core/local/task.h */
	struct {
		/* Futex of vm_node_stop(), which says that it waits. */
#define VM_TASKS_AWAITED (1u << 31)
		_Atomic uint32_t alive;
		_Atomic uint32_t turn; /* which worker gets the next one */
	} tasks;

	/* core/remote/rndv_send.h and rndv_recv.h: operations by number. */
	struct vm_id_table rndv_sends, rndv_recvs;
	struct vm_id_table windows; /* core/window/wire.h */
	/* core/remote/rndv_send.h: copies of short messages that wait for
	 * credits, by process. */
	_Atomic uint32_t *copies;

	/* core/remote/failure.h */
	struct {
		_Atomic uint8_t *marks; /* by port and process */
		_Atomic bool down;	/* one of them is not HERE */
		/* core/comm/revoke.h: contexts; under chans_lock. */
		uint32_t *revoked;
		int revoked_count;
	} failure;

	/* core/meeting/meet.c: places of vm_meet_shared(). */
	struct {
		struct vm_lock lock; /* guards the list */
		struct vm_list list;
	} meets;

	/* mpi/p2p/pending.c: ranks that left operations undone. */
	_Atomic uint32_t reports;
	/* mpi/dynamic/port.c: numbers given to ports. */
	_Atomic uint32_t ports;

	/* core/remote/progress.h: who waits for the network. */
	struct {
		_Atomic(struct vm_worker *) poller VM_ALIGNED(VM_CACHELINE);
		_Atomic int sleepers; /* workers that sleep elsewhere */
		_Atomic int spares;   /* ... for which the agent helps */
		_Atomic bool called;  /* one of them was woken to poll */
		_Atomic int beside;   /* who would watch only some ports */
		_Atomic(struct vm_ult *) thread_poller;
		_Atomic uint32_t thread_waits; /* changes while threads wait,
						  polling or asleep */
		_Atomic uint32_t agent;	       /* core/remote/agent.h */
		/* Operations for the agent. */
		_Atomic uint32_t under_way VM_ALIGNED(VM_CACHELINE);
		/* What it is for only while nobody else polls. */
		_Atomic uint32_t lasting;
	} progress;
};

extern VM_HIDDEN struct vm_node
	*vm_node; /* NULL while the runtime does not run */

/* Whether a rank is in this process. */
static inline bool vm_rank_here(const struct vm_rank *rank)
{
	return rank->to.process == (uint32_t)vm_node->process;
}

/* The ranks of this process that there have been, in vm_node->own. */
static inline int vm_own_count(void)
{
	/* Pairs with the store in spares.c. */
	return vm_node->rank_here + atomic_load_explicit(&vm_node->spares.used,
							 memory_order_acquire);
}

/* All ranks that this process knows have numbers below that. */
static inline int vm_rank_limit(void)
{
	/* Pairs with the store in guests.c. */
	return vm_node->rank_room + atomic_load_explicit(&vm_node->guest_ranks,
							 memory_order_acquire);
}

/* Whether a rank, or a process, is one of another job. */
static inline bool vm_rank_is_guest(const struct vm_rank *rank)
{
	return rank->to.process >= (uint32_t)vm_node->process_count;
}

/* The process of the rank with this number. */
static inline uint32_t vm_process_of(int index)
{
	return index < vm_node->rank_count ?
		       vm_node->ranks[index].to.process :
		       (uint32_t)((index - vm_node->rank_count) /
				  vm_node->spare_count);
}

#endif
