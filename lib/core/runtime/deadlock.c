/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service thread looks, sends and decides; pollers only note what packets
 * bring, and wake it.
 */
#include "core/runtime/deadlock.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/standard.h"
#include "core/rank/state.h"
#include "core/remote/remote.h"
#include "core/remote/wire.h"
#include "core/runtime/near.h"
#include "core/runtime/node.h"
#include "core/runtime/quiet.h"
#include "core/service/thread.h"
#include "sched/worker.h"

#define MILLISECOND_NS UINT64_C(1000000)
#define LOOK_NS (80 * MILLISECOND_NS)	/* between two looks */
#define AGAIN_NS (250 * MILLISECOND_NS) /* while others do something */
#define SOON_NS (1 * MILLISECOND_NS)
#define NEVER_NS (UINT64_MAX / 4)
#define TRIES 10 /* a worker that took in a packet soon rests again */
#define SAY_NS (300 * MILLISECOND_NS) /* for the reports of other processes */

/* What a process has said last. */
struct peer {
	bool quiet, still;
	uint32_t sent, received;
	uint32_t waiting;
};

struct vm_deadlock {
	_Atomic bool armed; /* the service will look, or looks */
	_Atomic int tick;   /* of the service; 0: its first may come before */
	/* Of the service thread: */
	struct vm_quiet last; /* what it saw last, */
	uint64_t since_ns;    /* since when it is so; 0: it was not quiet */
	struct vm_quiet told; /* what the leader was told, */
	bool is_told;
	bool said; /* this has been reported: */
	uint64_t said_waits;
	uint32_t said_sent;
	uint32_t wave; /* of the leader: the number of its question */
	uint64_t asked_ns;
	struct vm_quiet_own own;
	/* Written by pollers, under the lock: */
	struct vm_lock lock;
	uint32_t question; /* of the leader, + 1, to be answered; 0: none */
	bool found;
	struct peer *peers; /* of the leader, by process */
};

int vm_deadlock_fd(const char *text)
{
	int fd = vm_standard_handed(text);

	return fd < 0 ? 0 : fd;
}

/* Has the service look after ns. */
static void look_after(struct vm_deadlock *deadlock, uint64_t ns)
{
	vm_service_period(atomic_load_explicit(&deadlock->tick,
					       memory_order_relaxed),
			  ns);
}

/* Somebody begins to wait, on his stack. */
static void rest(struct vm_worker *worker)
{
	struct vm_deadlock *deadlock = vm_node->deadlock;

	/* The worker of a process that is a rank only takes naps. */
	if ((worker && vm_sched.hooks.thread_sleep) ||
	    atomic_load(&deadlock->armed) ||
	    atomic_exchange(&deadlock->armed, true))
		return;
	look_after(deadlock, LOOK_NS);
}

/* Notes what a packet says; on a poller. */
static void take(uint32_t process, const struct vm_wire_step *step)
{
	struct vm_deadlock *deadlock = vm_node->deadlock;
	bool leads = vm_node->process == 0;
	uint32_t sent = (uint32_t)(step->bytes >> 32);
	uint32_t received = (uint32_t)step->bytes;

	atomic_fetch_add(&deadlock->own.received, 1);
	vm_lock_take(&deadlock->lock);
	if (leads && process < (uint32_t)vm_node->process_count) {
		struct peer *peer = &deadlock->peers[process];
		bool same = peer->quiet && peer->sent == sent &&
			    peer->received == received;

		peer->quiet = step->to == VM_DEADLOCK_QUIET ||
			      step->to == VM_DEADLOCK_STILL;
		peer->still = step->to == VM_DEADLOCK_STILL && same &&
			      step->from == deadlock->wave;
		peer->sent = sent;
		peer->received = received;
		peer->waiting = (uint32_t)step->error;
	} else if (!leads && step->to == VM_DEADLOCK_ASK) {
		deadlock->question = (uint32_t)step->from + 1;
	} else if (!leads && step->to == VM_DEADLOCK_FOUND) {
		deadlock->found = true;
	}
	vm_lock_give(&deadlock->lock);
	atomic_store(&deadlock->armed, true);
	look_after(deadlock, SOON_NS);
}

static void send(struct vm_deadlock *deadlock, uint32_t process,
		 enum vm_deadlock_step what, const struct vm_quiet *quiet)
{
	const struct vm_wire_step step = {
		.to = what,
		.from = deadlock->wave,
		.bytes = (uint64_t)quiet->sent << 32 | quiet->received,
		.error = (int32_t)quiet->waiting,
	};

	atomic_fetch_add(&deadlock->own.sent, 1);
	/* One that is gone ends the job. */
	if (vm_remote_step(vm_fabric_port(vm_node->fabric, 0),
			   (struct vm_to){ process, 0 }, VM_PACKET_QUIET, &step,
			   NULL, 0) < 0)
		atomic_fetch_sub(&deadlock->own.sent, 1);
}

static void all_send(struct vm_deadlock *deadlock, enum vm_deadlock_step what,
		     const struct vm_quiet *quiet)
{
	for (int i = 1; i < vm_node->process_count; i++)
		send(deadlock, (uint32_t)i, what, quiet);
}

/* A line for vmpirun, which takes whole lines. */
static void line_send(const char *text)
{
	if (write(vm_node_hooks.hang_fd, text, strlen(text)) < 0)
		vm_log(VM_INFO, "vmpirun does not listen");
}

static void near_send(const char *text, void *arg)
{
	const struct vm_deadlock *deadlock = arg;
	char line[VM_NEAR_TEXT_MAX + 32];

	snprintf(line, sizeof(line), "near %u %s\n", deadlock->wave, text);
	line_send(line);
}

/* What vmpirun cannot see in the files of the processes. */
static void words_send(struct vm_deadlock *deadlock)
{
	vm_near_several_say(near_send, deadlock);
	vm_near_say(near_send, deadlock);
}

static void line_print(const char *text, void *arg)
{
	(void)arg;
	dprintf(STDERR_FILENO, "vmpirun: %s\n", text);
}

/* Reports the ranks of this process where there is no vmpirun to do it. */
static void own_print(void)
{
	vm_near_waits_say(line_print, NULL);
	vm_near_several_say(line_print, NULL);
	vm_near_say(line_print, NULL);
}

/* Reports it, for the whole job. */
static void found_say(struct vm_deadlock *deadlock,
		      const struct vm_quiet *quiet)
{
	bool ends = core_cvar.deadlock == VM_DEADLOCK_END;
	const struct timespec moment = { .tv_nsec = (long)SAY_NS };
	char line[64];

	deadlock->said = true;
	deadlock->said_waits = quiet->waits;
	deadlock->said_sent = quiet->sent;
	if (vm_node_hooks.hang_fd) {
		words_send(deadlock);
		snprintf(line, sizeof(line), "deadlock %u %s\n", deadlock->wave,
			 ends ? "end" : "report");
		line_send(line);
		return;
	}
	line_print("deadlock: all ranks wait, and nothing can wake them", NULL);
	own_print();
	if (vm_node->process_count > 1) {
		all_send(deadlock, VM_DEADLOCK_FOUND, quiet);
		nanosleep(&moment, NULL);
	}
	if (ends)
		vm_node_abort(VM_DEADLOCK_EXIT,
			      "the job is ended, as it is deadlocked "
			      "(core_deadlock)");
}

/* Whether it has been reported, and nothing has moved since then. */
static bool is_said(const struct vm_deadlock *deadlock,
		    const struct vm_quiet *quiet)
{
	return deadlock->said && deadlock->said_waits == quiet->waits &&
	       deadlock->said_sent == quiet->sent;
}

/* What all processes have said. */
struct sum {
	bool quiet, still;
	uint32_t sent, received, waiting;
};

static struct sum peers_sum(struct vm_deadlock *deadlock,
			    const struct vm_quiet *quiet)
{
	struct sum sum = { true, true, quiet->sent, quiet->received,
			   quiet->waiting };

	vm_lock_take(&deadlock->lock);
	for (int i = 1; i < vm_node->process_count; i++) {
		const struct peer *peer = &deadlock->peers[i];

		sum.quiet &= peer->quiet;
		sum.still &= peer->still;
		sum.sent += peer->sent;
		sum.received += peer->received;
		sum.waiting += peer->waiting;
	}
	vm_lock_give(&deadlock->lock);
	return sum;
}

/* Asks all processes whether they are still quiet. */
static void wave_begin(struct vm_deadlock *deadlock,
		       const struct vm_quiet *quiet, uint64_t now)
{
	vm_lock_take(&deadlock->lock);
	deadlock->wave++;
	for (int i = 1; i < vm_node->process_count; i++)
		deadlock->peers[i].still = false;
	vm_lock_give(&deadlock->lock);
	deadlock->asked_ns = now;
	deadlock->told = *quiet;
	all_send(deadlock, VM_DEADLOCK_ASK, quiet);
}

static bool is_same(const struct vm_quiet *a, const struct vm_quiet *b)
{
	return a->sent == b->sent && a->received == b->received &&
	       a->waits == b->waits;
}

/* The leader is quiet, as it was a moment ago. */
static void lead(struct vm_deadlock *deadlock, const struct vm_quiet *quiet,
		 uint64_t now)
{
	struct sum sum = peers_sum(deadlock, quiet);

	if (!sum.quiet || sum.sent != sum.received || !sum.waiting ||
	    is_said(deadlock, quiet))
		return; /* until somebody says something else */
	if (sum.still && deadlock->asked_ns &&
	    is_same(quiet, &deadlock->told)) {
		deadlock->asked_ns = 0;
		found_say(deadlock, quiet);
		return;
	}
	if (!deadlock->asked_ns || now - deadlock->asked_ns >= AGAIN_NS)
		wave_begin(deadlock, quiet, now);
	atomic_store(&deadlock->armed, true);
	look_after(deadlock, AGAIN_NS);
}

/* Another process is quiet, as it was a moment ago. */
static void follow(struct vm_deadlock *deadlock, const struct vm_quiet *quiet)
{
	if (deadlock->is_told && is_same(quiet, &deadlock->told))
		return;
	deadlock->is_told = true;
	deadlock->told = *quiet;
	send(deadlock, 0, VM_DEADLOCK_QUIET, quiet);
}

/* Looks, again while something moves: it may be the worker that has taken in a
 * question. */
static enum vm_quiet_seen look(struct vm_deadlock *deadlock,
			       struct vm_quiet *quiet)
{
	const struct timespec moment = { .tv_nsec = (long)SOON_NS };
	enum vm_quiet_seen seen = VM_QUIET_MOVES;

	for (int i = 0; i < TRIES && seen == VM_QUIET_MOVES; i++) {
		if (i)
			nanosleep(&moment, NULL);
		seen = vm_quiet_look(quiet, &deadlock->own);
	}
	return seen;
}

/* Answers the leader's question. */
static void answer(struct vm_deadlock *deadlock, uint32_t wave)
{
	struct vm_quiet quiet = { 0 };
	bool still = look(deadlock, &quiet) == VM_QUIET_YES;

	deadlock->wave = wave;
	deadlock->is_told = still;
	deadlock->told = quiet;
	if (still && vm_node_hooks.hang_fd)
		words_send(deadlock);
	send(deadlock, 0, still ? VM_DEADLOCK_STILL : VM_DEADLOCK_BUSY, &quiet);
}

/* Takes what the leader wants from this process. */
static void orders_take(struct vm_deadlock *deadlock)
{
	uint32_t question;
	bool found;

	vm_lock_take(&deadlock->lock);
	question = deadlock->question;
	found = deadlock->found;
	deadlock->question = 0;
	deadlock->found = false;
	vm_lock_give(&deadlock->lock);
	if (question)
		answer(deadlock, question - 1);
	if (found)
		own_print();
}

/* On the service thread. */
static void tick(void *arg, uint64_t now)
{
	struct vm_deadlock *deadlock = arg;
	enum vm_quiet_seen seen;
	struct vm_quiet quiet;

	/* Who begins to rest after this store has it look again; the look sees
	 * who did before. */
	look_after(deadlock, NEVER_NS);
	atomic_store(&deadlock->armed, false);
	orders_take(deadlock);
	seen = look(deadlock, &quiet);
	if (seen != VM_QUIET_YES) {
		deadlock->since_ns = 0;
		/* What the others do makes no worker rest again, and the naps
		 * of a worker ask for nothing. */
		if ((seen == VM_QUIET_MOVES || vm_quiet_rests()) &&
		    !atomic_exchange(&deadlock->armed, true))
			look_after(deadlock, AGAIN_NS);
		return;
	}
	if (!deadlock->since_ns || !is_same(&quiet, &deadlock->last))
		deadlock->since_ns = now;
	deadlock->last = quiet;
	if (now - deadlock->since_ns < LOOK_NS) {
		atomic_store(&deadlock->armed, true);
		look_after(deadlock, LOOK_NS);
	} else if (vm_node->process > 0) {
		follow(deadlock, &quiet);
	} else if (vm_node->process_count > 1) {
		lead(deadlock, &quiet, now);
	} else if (quiet.waiting && !is_said(deadlock, &quiet)) {
		found_say(deadlock, &quiet);
	}
}

static struct vm_deadlock *deadlock_new(int processes)
{
	struct vm_deadlock *deadlock = calloc(1, sizeof(*deadlock));

	if (!deadlock)
		return NULL;
	deadlock->peers = calloc((size_t)processes, sizeof(*deadlock->peers));
	if (!deadlock->peers) {
		free(deadlock);
		return NULL;
	}
	vm_lock_init(&deadlock->lock);
	/* The first look comes without being asked for. */
	deadlock->armed = true;
	return deadlock;
}

/* Here the service gets its thread: later it would be created on the stack of a
 * rank, and be taken for a thread of that. */
int vm_deadlock_start(struct vm_node *node)
{
	struct vm_deadlock *deadlock;
	int id;

	if (core_cvar.deadlock == VM_DEADLOCK_OFF)
		return 0;
	deadlock = deadlock_new(node->process_count);
	if (!deadlock)
		return -VMPI_ENOMEM;
	node->deadlock = deadlock;
	id = vm_service_every(LOOK_NS, tick, deadlock);
	if (id < 0)
		return id;
	atomic_store_explicit(&deadlock->tick, id, memory_order_relaxed);
	node->quiet_take = take;
	vm_sched.hooks.rest = rest;
	return 0;
}

void vm_deadlock_stop(struct vm_node *node)
{
	node->quiet_take = NULL;
	vm_sched.hooks.rest = NULL;
}

void vm_deadlock_fini(struct vm_node *node)
{
	if (node->deadlock)
		free(node->deadlock->peers);
	free(node->deadlock);
	node->deadlock = NULL;
}
