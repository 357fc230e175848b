/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether this process is quiet: nothing in it can go on, unless a packet of
 * another process comes.
 */
#ifndef CORE_RUNTIME_QUIET_H
#define CORE_RUNTIME_QUIET_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Then all ranks wait for messages, for members of a channel or for each
 * other's tasks, or have ended; all workers rest, with no task that sleeps for
 * a time; all OS threads of the program sleep until vmpi wakes them, or wait
 * for a thread of this process (a team of OpenMP between two regions does), so
 * that none of them is in another system call, sleeps or computes; no packet is
 * held back, no memory is moved; and no timer of the process runs.
 *
 * Nothing is asked and nothing is stopped: words are read twice, and it was
 * quiet in between if no thread has done anything.
 */

struct vm_quiet {
	/* The packets exchanged with other processes, except those of kind
	 * QUIET (core/runtime/deadlock.h); counts overflow. */
	uint32_t sent, received;
	unsigned waiting; /* ranks that wait for messages or members */
	uint64_t waits;	  /* differs if a rank has gone on in between */
};

/* Packets of kind QUIET, counted by their sender before they go and by their
 * handler. */
struct vm_quiet_own {
	_Atomic uint32_t sent, received;
};

/* Whether all workers rest: mostly not, and soon seen. */
bool vm_quiet_rests(void);

/* The word of memory of this process alone for which a thread of it waits, so that
 * only another one of its threads can wake it, and without a limit; 0: it does
 * not. */
uintptr_t vm_quiet_futex(int tid);

/* What was seen: the process is quiet; a worker or a packet moves, perhaps only
 * because of a question about it; something runs, or that cannot be seen. */
enum vm_quiet_seen { VM_QUIET_YES, VM_QUIET_MOVES, VM_QUIET_RUNS };

/* Looks at the process; YES: *quiet is filled in.  For one thread at a time,
 * which is none of the program's. */
enum vm_quiet_seen vm_quiet_look(struct vm_quiet *quiet,
				 struct vm_quiet_own *own);

#endif
