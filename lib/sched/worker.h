/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers: OS threads that run ULTs, and the scheduler's global state.
 *
 * A worker has a run queue that only it touches and an inbox where others leave
 * ULTs they have woken.  With nothing to run it polls for a while and then
 * sleeps in the kernel; a thread that gives it work reads `sleeping` and wakes
 * it.
 */
#ifndef SCHED_WORKER_H
#define SCHED_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/lock.h"
#include "sched/counter.h"
#include "sched/halt.h"
#include "sched/local.h"
#include "sched/turn.h"
#include "sched/ult.h"
#include "sched/vars.h"

struct vm_worker {
	/* Touched by the worker's own OS thread only. */
	struct vm_ult *head, *tail; /* run queue */
	struct vm_ult *next;	    /* runs before the queue */
	unsigned handoffs;	    /* times in a row `next` was taken */
	unsigned rounds;	    /* switches, for periodic work */
	uint64_t no_spins_until; /* ns: waits sleep without polling till then */
	int looks;	      /* polls of a waiting worker between two yields */
	bool spun;	      /* has polled: the next wait only sleeps */
	bool patient;	      /* the last sleep was short: waits poll longer */
	uint64_t waits_since; /* ns: when an OS thread last began to poll */
	_Atomic bool idles;   /* has nothing to run, on whose stack ever */
	unsigned vain;	      /* polls in a row of ULTs that found nothing */
	uint64_t vain_since;  /* ns, when this was last checked */
	struct vm_ult *zombie;	 /* has ended, its stack was just left */
	struct vm_ult *sleepers; /* sched/sleepers.h */
	bool halting;		 /* the root is to run, for a halt */
	uint32_t halt_asked;	 /* the halt that it has waited for ... */
	uint64_t halt_ns_left;	 /* ... and how long it will */
	int *errno_address;
	void *cache; /* the layer above: its per-thread caches */
	void *locals[VM_LOCAL_MAX];
	struct sched_worker_pvars pvars;
	struct vm_timer_core core_time;
	uint64_t idle_ticks; /* while the clocks are on: with nothing to run */
	uint64_t idle_from;
	struct vm_counter_worker counters;
	struct vm_turn turn;
	struct vm_ult root; /* the OS thread itself */
	/* Constant after the start. */
	int index; /* -1: an adopted OS thread */
	pthread_t thread;
	int tid;	     /* the kernel's number of it; 0: not yet known */
	struct vm_list link; /* adopted: in vm_sched.adopted */
	char *altstack;
	/* Odd while it waits in the kernel with nothing to do: no ULT to run,
	 * none that sleeps.  Written by the worker, read by any thread. */
	_Atomic uint32_t rests VM_ALIGNED(VM_CACHELINE);
	/* Written by others. */
	_Atomic(struct vm_ult *) inbox VM_ALIGNED(VM_CACHELINE);
	_Atomic uint32_t sleeping VM_ALIGNED(VM_CACHELINE);
	_Atomic bool asleep; /* it is one of vm_sched.asleep */
};

/* Bits of vm_sched.observed (clocks.h): what is observed. */
enum {
	VM_OBSERVE_CLOCKS = 1,
	VM_OBSERVE_COUNTERS = 2, /* with the clocks */
	VM_OBSERVE_SWITCHES = 4, /* on_switch, on_idle; with the clocks */
	VM_OBSERVE_STACKS = 8,	 /* on_stack */
};

/* Reasons for a switch away from a ULT. */
enum vm_why { VM_WHY_WAITS, VM_WHY_YIELDS, VM_WHY_ENDS };

/* Functions of the layer above; each may be NULL. */
struct vm_sched_hooks {
	/* Looks for messages from other workers; returns whether there were
	 * any.  Called between ULTs.  NULL: there is nothing to poll. */
	bool (*poll)(struct vm_worker *worker);
	/* Sleeps where network traffic also wakes, for limit_ns (0: no limit);
	 * false: not now, sleep as usual.  NULL: there is no network. */
	bool (*sleep)(struct vm_worker *worker, uint64_t limit_ns);
	/* Polls the network, for an OS thread that waits while its rank may
	 * block a worker; returns whether there was anything.  With sleep. */
	bool (*thread_poll)(void);
	/*
	 * For ranks that are OS threads, which then poll the network while they
	 * wait, and sleep there; else NULL.  thread_sleep: false: not now,
	 * sleep as usual.  thread_kick: wakes a thread that sleeps there;
	 * false: it does not.
	 */
	bool (*thread_sleep)(struct vm_ult *self);
	bool (*thread_kick)(struct vm_ult *ult);
	/* Whether the process that has sent last has not yielded its processor,
	 * as it says; with vm_sched.away. */
	bool (*partner_runs)(void);
	/* Wakes the worker if it sleeps there; with sleep. */
	void (*kick)(struct vm_worker *worker);
	/* Called first on each worker thread. */
	void (*thread_start)(struct vm_worker *worker);
	/* Called by a worker (or an OS thread: NULL) that is about to wait in
	 * the kernel with nothing to do. */
	void (*rest)(struct vm_worker *worker);
};

/* An observer of switches and waits. */
struct vm_sched_observer {
	/* A worker switches from one ULT to another, on the stack of the
	 * first. */
	void (*on_switch)(struct vm_worker *worker, struct vm_ult *from,
			  struct vm_ult *to, enum vm_why why, uint64_t now);
	/* self, on its worker or OS thread, begins or ends to wait without a
	 * switch. */
	void (*on_idle)(struct vm_ult *self, bool idle, uint64_t now);
};

/* Written at start and stop only, unless a comment says otherwise. */
struct vm_sched {
	struct vm_worker *workers;
	int worker_count;
	struct vm_sched_hooks hooks;
	const struct vm_sched_observer *observer; /* VM_OBSERVE_SWITCHES */
	bool membarrier; /* sleepers issue the fence for everybody */
	bool crowded;	 /* more workers than processors */
	int processors;
	int shared; /* processes of the job per core; 0: at most one */
	/* Set while the only worker, or a thread, yields, for other processes to
	 * see; NULL: no core is shared. */
	_Atomic uint32_t *away;
	/* A worker is about to leave the stack of a ULT (ends: for good) for
	 * another one's; VM_OBSERVE_STACKS. */
	void (*on_stack)(struct vm_ult *from, struct vm_ult *to, bool ends);
	_Atomic unsigned observed; /* bits: what a switch has to note */
	struct vm_counters counters;
	_Atomic bool stop;
	_Atomic int threads; /* adopted threads; written by these */
	/* Those of them that sleep until they are woken, less those that have
	 * been, or are away; and how often one began to. */
	struct vm_lock adopted_lock; /* guards the list of them: */
	struct vm_list adopted;
	_Atomic int threads_asleep;
	_Atomic uint32_t thread_sleeps;
	_Atomic int asleep; /* workers that sleep and have not been woken */
	struct vm_halt halt;
};

extern struct vm_sched vm_sched;

/* Whether more workers are awake than there are processors. */
static inline bool vm_sched_crowded(void)
{
	return VM_UNLIKELY(vm_sched.crowded) &&
	       vm_sched.worker_count -
			       atomic_load_explicit(&vm_sched.asleep,
						    memory_order_relaxed) >
		       vm_sched.processors;
}

/* Whether others of the job may need this processor: workers of this process, or
 * other processes. */
static inline bool vm_sched_contended(void)
{
	return vm_sched.shared || vm_sched_crowded();
}

/* Has changes of stacks reported, by all workers that are made later. */
void vm_sched_report_stacks(void (*on_stack)(struct vm_ult *from,
					     struct vm_ult *to, bool ends));

/* Makes `count` workers; their threads start with vm_sched_start().  The hooks
 * are set in between.  0, -VMPI_ENOMEM. */
int vm_sched_init(int count);
int vm_sched_start(void);
/* Stops the workers.  All ULTs have ended. */
void vm_sched_stop(void);
void vm_sched_fini(void);

/* Wakes the worker if it sleeps; call after leaving work where it polls. */
void vm_worker_nudge_slow(struct vm_worker *worker);
static inline void vm_worker_nudge(struct vm_worker *worker)
{
	/*
	 * The store that left the work must be visible before this load.  The
	 * sleeper's membarrier ensures that (worker.c); without it, a fence.
	 */
	if (vm_sched.membarrier)
		atomic_signal_fence(memory_order_seq_cst);
	else
		atomic_thread_fence(memory_order_seq_cst);
	if (VM_UNLIKELY(atomic_load_explicit(&worker->sleeping,
					     memory_order_relaxed)))
		vm_worker_nudge_slow(worker);
}

/* Makes every other thread of the process pass a memory barrier; only with
 * vm_sched.membarrier. */
void vm_sched_fence_all(void);

/* Makes the calling OS thread a ULT that waits in the kernel; NULL when out of
 * memory.  Released by vm_worker_release(). */
struct vm_worker *vm_worker_adopt(void *owner);
void vm_worker_release(struct vm_worker *worker);

/*
 * Notes that a ULT has polled for something and found nothing.  When nothing
 * else happens, and others of the job may need the processor, the worker sleeps
 * for a moment or until it is given work.
 * vm_worker_got() notes that something did happen.
 */
void vm_worker_vain(struct vm_worker *worker);
static inline void vm_worker_got(struct vm_worker *worker)
{
	worker->vain = 0;
}

/*
 * Around each wait in the kernel of a worker with nothing to run.  A reader who
 * finds `rests` odd and `sleeping` set for all workers, twice, with equal
 * values of `rests`, knows that in between no ULT has run.
 */
void vm_worker_rest_begin(struct vm_worker *worker);
void vm_worker_rest_end(struct vm_worker *worker);

/* Waits until `sleeping` is cleared, for limit_ns (0: no limit), as a rest. */
void vm_worker_rest(struct vm_worker *worker, uint64_t limit_ns);

/* Inside sched: the steps of a worker between ULTs (worker.c). */
#define VM_HANDOFFS_MAX 3 /* times in a row that a woken ULT goes first */
struct vm_ult *vm_worker_next(struct vm_worker *worker);
/* Without a look at what else has become runnable: right after one. */
struct vm_ult *vm_worker_pick(struct vm_worker *worker);

/* The same where a ULT was just woken and there is nothing to collect; else
 * NULL. */
static inline struct vm_ult *vm_worker_next_quick(struct vm_worker *worker)
{
	struct vm_ult *ult = worker->next;

	if (VM_UNLIKELY(!ult || vm_sched.hooks.poll || worker->sleepers ||
			atomic_load_explicit(&worker->inbox,
					     memory_order_relaxed) ||
			(worker->head && worker->handoffs >= VM_HANDOFFS_MAX)))
		return NULL;
	worker->next = NULL;
	worker->handoffs++;
	vm_pvar_add(worker->pvars.handoffs, 1);
	return ult;
}
void vm_worker_idle(struct vm_worker *worker);
bool vm_worker_watch(struct vm_worker *worker, const _Atomic uint32_t *word,
		     uint32_t value);
/* Collects ULTs that have become runnable; returns whether there is one. */
bool vm_worker_collect(struct vm_worker *worker);
/* The same; returns whether there is one, or something else has come. */
bool vm_worker_found(struct vm_worker *worker);
/* Moves ULTs that others have woken to the run queue. */
void vm_worker_inbox(struct vm_worker *worker);

/* Inside sched: how long a wait polls before it sleeps; and to be said after a
 * sleep: how long that wait took, polls included. */
uint64_t vm_worker_polls_ns(const struct vm_worker *worker);
void vm_worker_slept(struct vm_worker *worker, uint64_t took);

/*
 * Inside sched: yields the processor between two polls of a wait.  False when
 * another thread computes there: then it is better to sleep, because the kernel
 * soon runs a thread that wakes up, but late one that has yielded its time
 * slice.
 */
bool vm_worker_give_way(struct vm_worker *worker, uint64_t *now);

/* Inside sched: whether a wait that begins now is to sleep at once. */
static inline bool vm_worker_spins_not(const struct vm_worker *worker,
				       uint64_t now)
{
	return VM_UNLIKELY(now < worker->no_spins_until);
}

/* Inside sched: what of the time for some polls and a yield this process had the
 * core: where several share it the others had their turns in the rest. */
uint64_t vm_worker_own_ns(uint64_t took);

/* Inside sched: runs ULTs until the scheduler stops (ult.c). */
void vm_ult_run_all(struct vm_worker *worker);

/* Whether a ULT runs in steps of an OS thread (vm_ult_step()). */
static inline bool vm_ult_in_steps(const struct vm_ult *ult)
{
	return ult->worker->index < 0 && ult != &ult->worker->root;
}

static inline void vm_worker_push(struct vm_worker *worker, struct vm_ult *ult)
{
	ult->next = NULL;
	if (worker->tail)
		worker->tail->next = ult;
	else
		worker->head = ult;
	worker->tail = ult;
}

#endif
