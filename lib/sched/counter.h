/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance counters of ULTs and of sections of workers.
 *
 * The kernel counts per OS thread; a switch reads the count and credits the
 * difference to the ULT that ran, by the arithmetic of
 * introspect/measure/timer.h.  Each OS thread opens its own counters when it
 * first meets a kind that is open, and keeps them to its end.  Nothing of this
 * happens while no kind is open.
 */
#ifndef SCHED_COUNTER_H
#define SCHED_COUNTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/lock.h"
#include "introspect/measure/timer.h"

struct vm_ult;
struct vm_worker;

/* Source of the counts of a kind. */
enum vm_counter_source {
	VM_COUNTER_NONE,
	VM_COUNTER_PERF,  /* perf_event_open() */
	VM_COUNTER_USAGE, /* getrusage() */
	VM_COUNTER_CLOCK, /* clock_gettime() */
};

/* Choices of sources; the words of the control variable sched_counters. */
enum vm_counter_choice {
	VM_COUNTERS_AUTO,
	VM_COUNTERS_PERF,
	VM_COUNTERS_USAGE,
	VM_COUNTERS_OFF,
};

/* A kind of counter, in vm_sched.counters. */
struct vmpi_counter {
	int users; /* guarded by the lock */
	/* Workers may still read the source of the last opening. */
	_Atomic(enum vm_counter_source) source;
	_Atomic uint32_t epoch; /* number of this opening */
	_Atomic bool lost;	/* some thread could not count it */
};

struct vm_counters {
	struct vm_lock lock;
	_Atomic uint32_t open; /* bits: kinds that have users */
	struct vmpi_counter kinds[VMPI_COUNTER_KINDS];
};

/* Part of each worker; the descriptors of its thread plus 1, 0: none. */
struct vm_counter_worker {
	int fds[VMPI_COUNTER_KINDS];
	struct vm_timer_core core[VMPI_COUNTER_KINDS];
};

/*
 * Starts counting kind.  The caller is a ULT.  -VMPI_ENOTSUP, -VMPI_ELIMIT.
 * Each open needs its close.
 */
int vm_counter_open(struct vmpi_counter **counter, int kind);
void vm_counter_close(struct vmpi_counter *counter);

/* The source that would count kind; the runtime need not run. */
enum vm_counter_source vm_counter_probe(int kind);

/* Reads the count of the calling ULT; of the sections of its worker.
 * -VMPI_EIO. */
int vm_counter_rank(const struct vmpi_counter *counter, uint64_t *value);
int vm_counter_core(const struct vmpi_counter *counter, uint64_t *value);

/* As the functions of clocks.h, which call them while a kind is open. */
void vm_counters_switch(struct vm_worker *worker, struct vm_ult *from,
			struct vm_ult *to);
void vm_counters_suspend(struct vm_ult *self);
void vm_counters_resume(struct vm_ult *self);
void vm_counters_enter(struct vm_ult *self);
void vm_counters_leave(struct vm_ult *self);

/* Closes the worker's counters, at the end of its OS thread. */
void vm_counters_end(struct vm_worker *worker);

#endif
