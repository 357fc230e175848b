/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User-level threads (ULTs): suspend, wake, yield, sleep, join.
 *
 * A ULT lives at the top of its own stack and runs on one worker: compilers
 * cache the addresses of thread-local variables, so running code must not
 * change its OS thread, unless it is known to keep none (sched/halt.h).  An OS
 * thread that calls vmpi without being a worker is a ULT too, one that waits in
 * the kernel; nothing above sched sees a difference.
 */
#ifndef SCHED_ULT_H
#define SCHED_ULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "introspect/measure/timer.h"
#include "sched/stack.h"

struct vm_overlap;
struct vm_worker;

/* Embedded in what ring() is called with. */
struct vm_alarm {
	void (*ring)(struct vm_alarm *alarm);
};

/* Embedded in what ended() is called with. */
struct vm_ult_end {
	void (*ended)(struct vm_ult_end *end);
};

/* Values of vm_ult.end below the address of a joining ULT, or that of a struct
 * vm_ult_end plus 1. */
enum { VM_ULT_ALIVE, VM_ULT_ENDED, VM_ULT_DETACHED };

/* Values of vm_ult.signal.  MOVED: it goes on as one of a worker. */
enum { VM_SIGNAL_NONE, VM_SIGNAL_WOKEN, VM_SIGNAL_ASLEEP, VM_SIGNAL_MOVED };

/* Values of vm_ult.view, what a task does; NONE: it runs no code of the
 * user. */
enum { VM_VIEW_NONE, VM_VIEW_COMPUTES, VM_VIEW_CALLS };

/* Fields belong to the ULT and its worker; the atomics say who else writes. */
struct vm_ult {
	void *sp;	     /* saved context while it does not run */
	struct vm_ult *next; /* in a run queue or an inbox */
	struct vm_worker *worker;
	void *owner;  /* the layer above: its rank, or NULL, */
	void *counts; /* and where it counts its work for it */
	int saved_errno;
	unsigned sends_in_row, tests_in_row; /* budgets of the layer above */
	uint32_t waits_in;     /* the layer above's (core/rank/wait.h) */
	struct vm_timer timer; /* its time and sections (clocks.h) */
	char *locals;	       /* its copies of the blocks of sched/local.h */
	/* The layer above (core/instrument/intercept.h).  overlap: of the rank,
	 * in its main task (core/instrument/overlap_events.h). */
	struct vm_overlap *overlap;
	const char *frame;   /* of the call it is in */
	uint32_t hooks_from; /* core/instrument/hook.c */
	uint8_t view;
	uint8_t busy;		    /* it runs a callback of an event */
	uint16_t observed;	    /* VM_INTERCEPT_ bits at the call's begin */
	uint16_t call;		    /* its number, while the view is CALLS */
	_Atomic uint32_t signal;    /* OS threads: futex word; or of steps */
	_Atomic uintptr_t end;	    /* ALIVE, ENDED, DETACHED or who joins */
	struct vm_worker *moves_to; /* where who wakes it puts it; MOVED */
	int (*body)(void *arg);
	void *arg;
	int result;
	void (*on_end)(void); /* called after it has ended; or NULL */
	struct vm_stack stack;
	struct vm_stack_pool *pool;
	uint64_t deadline; /* CLOCK_MONOTONIC ns, for sched/sleepers.h */
	struct vm_ult *heap_left, *heap_right, *heap_up;
	_Atomic(struct vm_alarm *) alarm; /* NULL: none is set */
	void *fiber;			  /* thread sanitizer's name for it */
	void *fake_stack;		  /* address sanitizer's */
	unsigned valgrind;		  /* its stack's number */
	/* Of what it sends next, while VM_INTERCEPT_SIGNATURES is set. */
	uint32_t signature;
	/* OS threads: the task that waits while this thread runs its code; or
	 * NULL. */
	struct vm_ult *stands_for;
	struct vm_timer counters[VMPI_COUNTER_KINDS]; /* (counter.h) */
} VM_ALIGNED(VM_CACHELINE);

/* The ULT that runs on this OS thread; NULL on a thread that vmpi does not
 * know. */
extern _Thread_local struct vm_ult *vm_self
	__attribute__((tls_model("initial-exec")));

/* This OS thread has switched since it was last returned from an entry
 * (core/instrument/return.S). */
extern _Thread_local bool vm_resumed __attribute__((tls_model("initial-exec")));

/* The task whose code ult runs: itself, mostly. */
static inline struct vm_ult *vm_ult_origin(struct vm_ult *ult)
{
	return ult->stands_for ? ult->stands_for : ult;
}

/*
 * Makes a ULT that will run body(arg) on worker, not started yet; its stack
 * comes from pool.  The worker may be an OS thread, which runs it in steps.
 * 0, -VMPI_ENOMEM, -VMPI_ELIMIT (logged).
 */
int vm_ult_new(struct vm_ult **ult, struct vm_worker *worker,
	       struct vm_stack_pool *pool, int (*body)(void *), void *arg);

/*
 * Runs ult, whose worker is the calling OS thread, which is no worker itself, until
 * it waits, if it has been woken; whether it did.  One that has ended is joined or
 * detached by the caller.
 */
bool vm_ult_step(struct vm_ult *ult);

/* Such a ULT, whose thread is not in a step of it, goes on as one of a worker.  By
 * any thread. */
void vm_ult_hand_over(struct vm_ult *ult, struct vm_worker *worker);

static inline bool vm_ult_has_ended(const struct vm_ult *ult)
{
	return atomic_load_explicit(&ult->end, memory_order_acquire) ==
	       VM_ULT_ENDED;
}

/*
 * Makes a suspended (or new) ULT runnable; any OS thread may call.  Each
 * suspend takes one wake: a wake that comes first is not lost, a second one is
 * an error of the caller.
 */
void vm_ult_wake(struct vm_ult *ult);

/* As vm_ult_wake() by the ULT's own worker, which then runs it next, ahead of
 * the run queue (at most three times in a row). */
void vm_ult_wake_next(struct vm_ult *ult);

/* Waits for one wake.  Other ULTs run; if there is none to run the caller polls
 * on its own stack.  May switch. */
void vm_ult_suspend(void);

/* Polls, as a worker with nothing to run does, until *word, which only grows, is
 * at value or beyond; false: another ULT is to run, or it takes long, and the
 * caller had better suspend itself.  Does not switch. */
bool vm_ult_watch(const _Atomic uint32_t *word, uint32_t value);

/* Goes to the end of the run queue.  May switch. */
void vm_ult_yield(void);

/* The same for one that polls: where no other ULT can run it looks what has come
 * and gives up its processor only if nothing has.  Whether it yielded.  May
 * switch. */
bool vm_ult_poll(void);

/* Sleeps for at least ns nanoseconds.  May switch. */
void vm_ult_sleep(uint64_t ns);

/*
 * Sets the caller's alarm, of which it has one: when the deadline has passed,
 * ring() is called once, on the caller's OS thread, while the caller waits (not
 * in a sleep) or another ULT runs; it may wake the caller.  Cleared, it is not
 * called any more.
 */
void vm_ult_alarm_set(struct vm_alarm *alarm, uint64_t deadline_ns);
void vm_ult_alarm_clear(void);

static inline struct vm_alarm *vm_ult_alarm(const struct vm_ult *ult)
{
	return atomic_load_explicit(&ult->alarm, memory_order_relaxed);
}

/* Inside sched: lets the alarm ring, which is no longer among the sleepers. */
void vm_ult_ring(struct vm_ult *ult);

/* Ends the calling ULT. */
_Noreturn void vm_ult_exit(int result);

/* Waits for the end of ult, frees it and returns its result.  May switch. */
int vm_ult_join(struct vm_ult *ult);

/*
 * Has ended() called once, by ult's worker, when ult ends; instead of a join,
 * which must follow.  False: it has ended already.  _unwatch takes that back;
 * false: it has ended, and ended() has been called or is about to be.
 */
bool vm_ult_end_watch(struct vm_ult *ult, struct vm_ult_end *end);
bool vm_ult_end_unwatch(struct vm_ult *ult, struct vm_ult_end *end);

/* Lets ult free itself at its end. */
void vm_ult_detach(struct vm_ult *ult);

#endif
