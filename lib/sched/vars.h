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
	  "Clock source: auto uses the CPU's counter if it can be trusted, "  \
	  "counter uses it whenever its rate is fixed, monotonic uses "       \
	  "CLOCK_MONOTONIC")                                                  \
	X(INT, workers, 0, 0, 1024, "threads", STARTUP, UB, launch,           \
	  "Number of workers (OS threads that run ranks); 0: one per "        \
	  "allowed core")                                                     \
	X(BOOL, bind, 1, 0, 1, "flag", STARTUP, UB, launch,                   \
	  "Bind each worker to a core of its own, or to its process's share " \
	  "of the cores if there are not enough; and each rank that is a "    \
	  "process to its share if there are enough")                         \
	X(SIZE, stack_bytes, 8388608, 16384, 1099511627776, "bytes", STARTUP, \
	  UB, launch,                                                         \
	  "Stack size of each rank; unless it is set, what ulimit -s says, "  \
	  "and with more than 1024 ranks of 8M in a process a share of 8G, "  \
	  "but at least 1M; only touched pages take memory")                  \
	X(SIZE, task_stack_bytes, 65536, 16384, 1099511627776, "bytes",       \
	  STARTUP, UD, launch,                                                \
	  "Stack size of each task started by vmpi_spawn()")                  \
	X(INT, spin_us, 200, 0, 1000000, "us", ANYTIME, TD, sched,            \
	  "Time for which a worker with nothing to run, or another OS "       \
	  "thread that waits, polls before it sleeps; it yields the "         \
	  "processor meanwhile if others of the job may need it, and sleeps " \
	  "at once for a while after a yield that took long; after a sleep "  \
	  "that was short it polls four times as long")                       \
	X(BOOL, rank_time, 0, 0, 1, "flag", STARTUP, TB, timer,               \
	  "Keep the run time of each rank from the start, by reading the "    \
	  "clock at each switch; otherwise it is kept from the first time "   \
	  "that it is asked for")                                             \
	X(CHOICE, counters, 0, 0, 3, "auto|perf|usage|off", ANYTIME, UD,      \
	  timer,                                                              \
	  "What vmpi_counter_open() uses: perf_event_open() and otherwise "   \
	  "getrusage(), only one of the two, or nothing")

struct sched_cvars {
	SCHED_CVARS(VM_CVAR_FIELD)
};
extern struct sched_cvars sched_cvar;
extern const struct vm_cvar_table sched_cvar_table;

#define SCHED_WORKER_PVARS(X)                                               \
	X(COUNTER, switches, "switches", WORKER, TB, sched,                 \
	  "Switches from one task to another")                              \
	X(COUNTER, handoffs, "switches", WORKER, DD, sched,                 \
	  "Switches to a task that had just been woken, ahead of the run "  \
	  "queue")                                                          \
	X(COUNTER, sleeps, "sleeps", WORKER, TD, sched,                     \
	  "Times the worker slept because it had nothing to run")           \
	X(COUNTER, short_sleeps, "sleeps", WORKER, TD, sched,               \
	  "Short sleeps of the worker while all its tasks only polled")     \
	X(COUNTER, remote_wakes, "wakes", WORKER, TD, sched,                \
	  "Tasks of the worker woken by other OS threads")                  \
	X(COUNTER, tasks, "tasks", WORKER, UD, sched, "Tasks started")      \
	X(TIMER, idle_ns, "ns", WORKER, UB, timer,                          \
	  "Time with nothing to run: asleep, or polling for more than a "   \
	  "moment")                                                         \
	X(GENERIC, idle_since_ns, "ns", WORKER, DD, timer,                  \
	  "Start of the current idle time of a sleeping worker, by "        \
	  "CLOCK_MONOTONIC; that time is not yet in sched_idle_ns; 0: the " \
	  "worker does not sleep")                                          \
	X(TIMER, core_ns, "ns", WORKER, UB, timer,                          \
	  "Core time (see vmpi_clock(3)), as of the worker's last idle "    \
	  "moment, end of a section or call of MPIX_Ptime()")

struct sched_worker_pvars {
	SCHED_WORKER_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table sched_worker_pvar_table;

#endif
