/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank: a task with an address.
 *
 * Its mailbox is at home on one worker and is touched only under the lock of
 * that worker's engine.
 */
#ifndef CORE_RANK_RANK_H
#define CORE_RANK_RANK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/rank/match.h"
#include "core/rank/time.h"
#include "core/rank/vars.h"
#include "fabric/fabric.h"
#include "introspect/measure/vars.h"
#include "introspect/export/format.h"
#include "sched/ult.h"

struct vm_cvar_copy;
struct vm_engine;
struct vm_errand;
struct vm_overlap;
struct vm_profile;
struct vm_chan_stats;
struct vmpi_chan;
struct vmpi_req;

/* Waits for a message without receiving it (Probe): on the task's stack. */
struct vm_prober {
	struct vm_list link;
	struct vm_env env;
	struct vm_ult *ult;   /* is woken, unless there is a */
	struct vmpi_req *req; /* request, which completes */
	bool take;	      /* take the message out (match) */
	struct vmpi_msg *msg; /* take: what was found */
	vmpi_status status;   /* else: what it is */
	int error;	      /* 0, or there will be none */
};

/* Operations some of which a task waits for. */
struct vm_several {
	struct vmpi_req *const *reqs;
	int count;
};

/* What lib/mpi says about a rank: MPI_Finalize has to come, or the end of
 * sessions. */
enum vm_rank_mpi {
	VM_RANK_MPI_BEFORE,
	VM_RANK_MPI_OPEN,
	VM_RANK_MPI_SESSIONS,
	VM_RANK_MPI_OVER
};

/* What a place in vm_node->ranks is used for that was empty when the job began
 * (core/runtime/spares.c). */
enum vm_spare {
	VM_SPARE_NEW,	 /* nothing: all is 0 */
	VM_SPARE_FAR,	 /* a rank of another process */
	VM_SPARE_FREE,	 /* it has a mailbox */
	VM_SPARE_TAKEN,	 /* a rank is being made */
	VM_SPARE_RUNS,	 /* it has a task */
	VM_SPARE_ENDED,	 /* which has nothing more to do */
	VM_SPARE_JOINED, /* somebody waits for its end and frees it */
};

struct vm_rank {
	int index; /* in the job */
	int local; /* in vm_node->own, if it is of this process */
	struct vm_engine *engine; /* of its home worker; elsewhere:
				     vm_engine_remote */
	struct vm_engine *via;	  /* where senders find it: the engine, or
				     vm_engine_remote */
	struct vm_port *port;	  /* its home port; NULL: elsewhere, or there
				     is no fabric */
	struct vm_to to;	  /* the same for others */
	void *mpi;		  /* owned by lib/mpi */
	/* Its control variables, or those of all ranks; the fields up to here
	 * share a cache line, the rest is rarely read. */
	_Atomic(const struct core_cvars *) cvars;
	_Atomic bool failed; /* core/comm/fail.h: no message goes there */
	_Atomic uint8_t fail_ports; /* ports here that have heard of it */
	int32_t there; /* its number in its own job: its index, or if that is
			  another job the one that messages to it have */
	struct vm_ult *ult; /* runs its body, NULL before and after */
	/* The task or thread whose calls and waits are observed: its ult, and
	 * it stays; without one, the first OS thread of those that are
	 * attached. */
	_Atomic(struct vm_ult *) main;
	_Atomic int tasks; /* its other tasks that have not ended */
	/* core/local/errand.h: kept ones, the oldest first; changed under the
	 * lock. */
	_Atomic(struct vm_errand *) kept;
	struct vm_lock kept_lock;
	bool left;	       /* its body has ended; core/runtime/migrate.h */
	_Atomic uint8_t spare; /* enum vm_spare */
	struct vmpi_chan *world, *self_chan;
	struct vm_list chans; /* all channels; vm_node->chans_lock */
	int (*mpi_state)(struct vm_rank *rank); /* enum vm_rank_mpi; set by
						   lib/mpi with mpi, */
	void (*mpi_free)(struct vm_rank *rank); /* like this: ends it */
	void *image;				/* owned by the image loader */
	_Atomic(struct vm_cvar_copy *) cvar_copy; /* core/rank/cvar.h */
	/* Guarded by the engine's lock: */
	struct vm_match match VM_ALIGNED(VM_CACHELINE);
	struct vm_list probers;
	_Atomic bool
		peer_failed; /* ranks it may wait for are gone (core/remote/failure.h) */
	_Atomic(struct vm_chan_stats *)
		chan_stats; /* core/local/chan_stats.h; mostly NULL;
						  not under the lock */
	/* The channel that its main task has waited in last, and its context;
	 * 0: none that is there.  Set and cleared under vm_node->chans_lock. */
	_Atomic uint32_t waited_context;
	_Atomic(struct vmpi_chan *) waited_chan;
	struct vm_several several;  /* its main task waits for some of these */
	struct vm_export_wait wait; /* core/rank/wait.h; then its state, of: */
	/* Counted by the rank's tasks; and by its other OS threads, as of the
	 * last vm_rank_refresh(). */
	struct core_rank_pvars pvars, thread_pvars;
	/* Marks of the mailbox that tools have set back (session.h), and
	 * whether there are any. */
	struct core_match_pvars match_marks;
	_Atomic bool match_marked;
	/* Those threads: core/local/threads.h. */
	struct vm_lock thread_caches_lock; /* guards these three */
	struct vm_list caches;
	struct core_rank_pvars left_pvars; /* of those that have left */
	_Atomic bool threaded; /* there have been some, or marks set back */
	struct vm_overlap *
		overlap; /* core/instrument/overlap_events.h; NULL: not watched */
	struct vm_profile
		*profile; /* core/instrument/profiler.h; NULL: there is none */
	struct overlap_rank_pvars overlap_pvars; /* by its main task */
	struct vm_rank_time time;
} VM_ALIGNED(VM_CACHELINE);

VM_STATIC_ASSERT(offsetof(struct vm_rank, pvars.state) ==
			 offsetof(struct vm_rank, wait) +
				 sizeof(struct vm_export_wait),
		 "readers find them behind each other");

/* The rank the caller belongs to, or NULL. */
static inline struct vm_rank *vm_rank_self(void)
{
	return vm_self ? (struct vm_rank *)vm_self->owner : NULL;
}

static inline struct vm_ult *vm_rank_main(const struct vm_rank *rank)
{
	return atomic_load_explicit(&rank->main, memory_order_relaxed);
}

/* The settings for the rank; read each variable once per call. */
static inline const struct core_cvars *vm_rank_cvars(const struct vm_rank *rank)
{
	/* Pairs with the store in vm_cvar_store_rank(). */
	return atomic_load_explicit(&rank->cvars, memory_order_acquire);
}

#endif
