/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moving ranks between the workers of a process.
 *
 * A rank moves while all workers stand still (sched/halt.h) and all rings
 * between them are empty: then no message is on its way to its mailbox,
 * everything sent to it has arrived, and everything it has sent too, so order
 * holds and nothing is ever forwarded.  Its home port and its seats in meetings
 * stay where they are; both may be used from any worker.
 */
#ifndef CORE_RUNTIME_MIGRATE_H
#define CORE_RUNTIME_MIGRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/lock.h"
#include "introspect/measure/balance.h"

/*
 * Only where the program allows it (core/image/tied.h) and something may want
 * to move ranks is there a struct vm_migrator; without one nothing here is
 * called.
 */

struct vm_node;
struct vm_rank;
struct vm_worker;

struct vm_migrator {
	bool (*poll)(
		struct vm_worker *worker); /* what was vm_sched.hooks.poll */
	struct vm_lock lock;
	/* Under the lock: */
	bool open; /* the ranks have all been started */
	int count; /* moves that are to be made; -1: none */
	struct vm_balance_move *moves;
	int done; /* of the last halt; -1: there was none yet */
	/* Written by the worker that has the turn. */
	_Atomic uint64_t due VM_ALIGNED(VM_CACHELINE); /* ticks */
	_Atomic bool turn;
	uint64_t asked_at;
	struct vm_balance *balance;
	struct vm_balance_load *loads; /* by own rank */
	uint64_t *seen;		       /* run time of each at the last look */
	uint64_t *sums;		       /* by worker */
	uint64_t random, polls;	       /* of a test's moves */
};

/* After the ranks are there and vm_sched.hooks.poll is set; takes the latter's
 * place if ranks may and are to move.  0 or -VMPI_ENOMEM. */
int vm_migrator_init(struct vm_node *node);
void vm_migrator_fini(struct vm_node *node);

/* Ranks may move: from when all have been woken until they are started anew. */
void vm_migrator_open(bool open);

/* The calling rank ends: it is not moved any more. */
void vm_migrator_leave(struct vm_rank *rank);

#endif
