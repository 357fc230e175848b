/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mutex of glibc names the thread that has locked it.  A worker that waits for
 * one which itself has locked, or a worker that waits for this one, waits for
 * ever: the task that would unlock it needs the worker.
 */
#include "core/runtime/stuck.h"

#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"
#include "core/rank/state.h"
#include "core/rank/vars.h"
#include "core/runtime/deadlock.h"
#include "core/runtime/node.h"
#include "core/runtime/quiet.h"
#include "core/service/thread.h"
#include "sched/worker.h"

#define LOOK_NS UINT64_C(2000000000)

/* What a worker waits for in the kernel; 0: nothing, or for work. */
struct vm_stuck {
	bool said;
	struct {
		uintptr_t lock, before; /* now, and at the last look */
		int holder;		/* the worker; -1: none */
	} workers[];
};

/* The worker whose thread has locked a mutex, the words of which are lock, count
 * and owner; -1: none has, or it is no mutex. */
static int holder_of(uintptr_t lock)
{
	int words[3];
	struct iovec to = { words, sizeof(words) };
	struct iovec from = { (void *)lock, sizeof(words) };

	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != sizeof(words))
		return -1;
	for (int i = 0; words[2] && i < vm_sched.worker_count; i++)
		if (words[2] ==
		    __atomic_load_n(&vm_sched.workers[i].tid, __ATOMIC_RELAXED))
			return i;
	return -1;
}

static void look(struct vm_stuck *stuck, int i)
{
	struct vm_worker *worker = &vm_sched.workers[i];
	uintptr_t lock =
		vm_quiet_futex(__atomic_load_n(&worker->tid, __ATOMIC_RELAXED));

	if (lock == (uintptr_t)&worker->sleeping)
		lock = 0;
	stuck->workers[i].before = stuck->workers[i].lock;
	stuck->workers[i].lock = lock;
	stuck->workers[i].holder = lock ? holder_of(lock) : -1;
}

/* Whether worker i waits, as at the last look, for one that waits for it, or for
 * itself. */
static bool waits_for_itself(const struct vm_stuck *stuck, int i)
{
	int at = i;

	for (int steps = 0; steps < vm_sched.worker_count; steps++) {
		if (!stuck->workers[at].lock ||
		    stuck->workers[at].lock != stuck->workers[at].before)
			return false;
		at = stuck->workers[at].holder;
		if (at < 0 || at == i)
			return at == i;
	}
	return false;
}

static void tick(void *arg, uint64_t now_ns)
{
	struct vm_stuck *stuck = arg;

	(void)now_ns;
	for (int i = 0; i < vm_sched.worker_count; i++)
		look(stuck, i);
	for (int i = 0; i < vm_sched.worker_count && !stuck->said; i++) {
		if (!waits_for_itself(stuck, i))
			continue;
		stuck->said = true;
		vm_log(VM_ERROR,
		       "deadlock: worker %d waits for the pthread lock at %p, "
		       "which a task holds that waits for worker %d; a task must "
		       "not hold one over a call that may switch, but a "
		       "vmpi_mutex it may",
		       i, (void *)stuck->workers[i].lock,
		       stuck->workers[i].holder);
	}
}

int vm_stuck_start(struct vm_node *node)
{
	struct vm_stuck *stuck;
	int id;

	if (core_cvar.deadlock == VM_DEADLOCK_OFF || vm_node_hooks.boot)
		return 0;
	stuck = calloc(1, sizeof(*stuck) + (size_t)vm_sched.worker_count *
						   sizeof(*stuck->workers));
	if (!stuck)
		return -VMPI_ENOMEM;
	node->stuck = stuck;
	id = vm_service_every(LOOK_NS, tick, stuck);
	return id < 0 ? id : 0;
}

void vm_stuck_fini(struct vm_node *node)
{
	free(node->stuck);
	node->stuck = NULL;
}
