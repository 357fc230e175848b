/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control and performance variables of sched.
 */
#ifndef SCHED_VARS_H
#define SCHED_VARS_H

#include "introspect/vars/pvar.h"
#include "introspect/vars/cvar.h"

#define SCHED_CVARS(X)                                                        \
	X(CHOICE, clock, 0, 0, 2, "auto|counter|monotonic", STARTUP, TD,      \
	  timer,                                                              \
	  "Where times come from: the CPU's counter when it can be trusted, " \
	  "the counter in any case where its rate is fixed, CLOCK_MONOTONIC") \
	X(INT, workers, 0, 0, 1024, "threads", STARTUP, UB, launch,           \
	  "Workers (OS threads that run ranks); 0: one per allowed core")     \
	X(BOOL, bind, 1, 0, 1, "flag", STARTUP, UB, launch,                   \
	  "Bind each worker to a core of its own while there are enough")     \
	X(SIZE, stack_bytes, 1048576, 16384, 1099511627776, "bytes", STARTUP, \
	  UB, launch, "Stack of each rank; only touched pages take memory")   \
	X(SIZE, task_stack_bytes, 65536, 16384, 1099511627776, "bytes",       \
	  STARTUP, UD, launch, "Stack of each task started by vmpi_spawn()")  \
	X(INT, spin_us, 200, 0, 1000000, "us", ANYTIME, TD, sched,            \
	  "How long a worker with nothing to run, or another OS thread that " \
	  "waits, polls before it sleeps; a hundredth of that when workers "  \
	  "outnumber the allowed processors")                                 \
	X(BOOL, rank_time, 0, 0, 1, "flag", STARTUP, TB, timer,               \
	  "Read the clock at each switch from the start on, to know the run " \
	  "time of each rank; else from when somebody first asks for it")     \
	X(CHOICE, counters, 0, 0, 3, "auto|perf|usage|off", ANYTIME, UD,      \
	  timer,                                                              \
	  "By which means vmpi_counter_open() counts: perf_event_open() or "  \
	  "else getrusage(), only one of them, or not at all")

struct sched_cvars {
	SCHED_CVARS(VM_CVAR_FIELD)
};
extern struct sched_cvars sched_cvar;
extern const struct vm_cvar_table sched_cvar_table;

#define SCHED_WORKER_PVARS(X)                                               \
	X(COUNTER, switches, "switches", WORKER, TB, sched,                 \
	  "Switches from one task to another")                              \
	X(COUNTER, handoffs, "switches", WORKER, DD, sched,                 \
	  "Switches to a task that was just woken, ahead of the run queue") \
	X(COUNTER, sleeps, "sleeps", WORKER, TD, sched,                     \
	  "Times the worker had nothing to do and slept")                   \
	X(COUNTER, short_sleeps, "sleeps", WORKER, TD, sched,               \
	  "Times its tasks only polled and it slept for a moment")          \
	X(COUNTER, remote_wakes, "wakes", WORKER, TD, sched,                \
	  "Tasks of this worker woken by other OS threads")                 \
	X(COUNTER, tasks, "tasks", WORKER, UD, sched, "Tasks started")      \
	X(TIMER, idle_ns, "ns", WORKER, UB, timer,                          \
	  "Time with nothing to run: asleep, or polling for more than a "   \
	  "moment")                                                         \
	X(GENERIC, idle_since_ns, "ns", WORKER, DD, timer,                  \
	  "Since when a worker that sleeps has had nothing to run, by "     \
	  "CLOCK_MONOTONIC, not in sched_idle_ns yet; 0: it does not "      \
	  "sleep")                                                          \
	X(TIMER, core_ns, "ns", WORKER, UB, timer,                          \
	  "Time of its ranks in sections, as of the last idle moment, end " \
	  "of a section or MPIX_Ptime()")

struct sched_worker_pvars {
	SCHED_WORKER_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table sched_worker_pvar_table;

#endif
