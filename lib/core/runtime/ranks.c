/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of all ranks of the job is made by every process; only its own
 * ranks get an engine, channels and a task.
 */
#include "core/runtime/ranks.h"

#include <stdlib.h>

#include "base/log.h"
#include "boot/boot.h"
#include "boot/map.h"
#include "core/meeting/chan_make.h"
#include "core/meeting/meet.h"
#include "core/instrument/intercept.h"
#include "core/instrument/overlap_events.h"
#include "core/instrument/profiler.h"
#include "core/local/chan_stats.h"
#include "core/local/engine.h"
#include "core/local/threads.h"
#include "core/rank/chan.h"
#include "core/rank/context.h"
#include "core/rank/cvar.h"
#include "core/rank/time.h"
#include "core/rank/wait.h"
#include "core/remote/remote.h"
#include "core/runtime/migrate.h"
#include "core/runtime/node.h"
#include "core/runtime/spares.h"
#include "introspect/export/export.h"

/* The engine where the placement of the job puts a rank; without one ranks are
 * spread in blocks: neighbours share a worker.  NULL: there is no such worker
 * (logged). */
static struct vm_engine *rank_home(const struct vm_node *node,
				   const struct vm_rank *rank)
{
	const struct vm_boot *boot = vm_node_hooks.boot;
	int64_t home = (int64_t)rank->local * node->engine_count;
	int worker = VM_MAP_BLOCK;

	if (boot && boot->workers)
		worker = boot->workers[node->rank_first + rank->local];
	if (worker < node->engine_count)
		return &node->engines[worker >= 0 ?
					      worker :
				      worker == VM_MAP_CYCLIC ?
					      rank->local % node->engine_count :
					      home / node->rank_here];
	vm_log(VM_ERROR,
	       "the placement puts rank %d on worker %d of node %d, which has "
	       "workers 0 to %d; --workers sets their number",
	       rank->index, worker, node->process, node->engine_count - 1);
	return NULL;
}

void vm_rank_mailbox_init(struct vm_rank *rank, int local,
			  struct vm_engine *engine)
{
	rank->local = local;
	vm_rank_cvars_init(rank);
	rank->engine = engine;
	if (engine)
		atomic_fetch_add_explicit(&engine->ranks, 1,
					  memory_order_relaxed);
	rank->via = core_cvar.loopback ? &vm_engine_remote : rank->engine;
	vm_match_init(&rank->match);
	vm_list_init(&rank->probers);
	vm_rank_threads_init(rank);
	vm_list_init(&rank->chans);
	/* The main thread of a process joins as all of them do. */
	rank->wait.others = vm_node_hooks.process ? -1 : 0;
}

int vm_rank_self_make(struct vm_rank *rank)
{
	struct vm_group *group = vm_group_new(1);
	struct vm_meet *meet;

	if (!group)
		return -VMPI_ENOMEM;
	group->ranks[0] = rank;
	meet = vm_meet_new(group, rank);
	if (meet)
		rank->self_chan =
			vm_chan_new(rank, group, meet, vm_context_new(), 0);
	vm_meet_drop(meet);
	vm_group_drop(group);
	return rank->self_chan ? 0 : -VMPI_ENOMEM;
}

static int rank_init(struct vm_node *node, struct vm_rank *rank, int local)
{
	struct vm_engine *engine;

	rank->local = local;
	node->own[local] = rank;
	engine = rank_home(node, rank);
	vm_rank_mailbox_init(rank, local, engine);
	if (!engine)
		return -VMPI_EINVAL;
	vm_overlap_events_rank(rank,
			       vm_node_hooks.process ? -1 : engine->index);
	return vm_rank_self_make(rank);
}

static int rank_of_slot(int slot)
{
	const struct vm_boot *boot = vm_node_hooks.boot;

	return boot && boot->numbers ? boot->numbers[slot] : slot;
}

/* Whose ranks are where, and how they are reached. */
static void ranks_place(struct vm_node *node)
{
	const struct vm_boot_peer alone = { .rank_count = node->rank_count };
	const struct vm_boot_peer *peers =
		vm_node_hooks.boot ? vm_node_hooks.boot->peers : &alone;

	for (int p = 0; p < node->process_count; p++) {
		for (int i = 0; i < peers[p].rank_count; i++) {
			int slot = peers[p].rank_first + i;
			int index = rank_of_slot(slot);
			struct vm_rank *rank = &node->ranks[index];

			rank->index = rank->there = index;
			rank->engine = rank->via = &vm_engine_remote;
			rank->to.process = (uint32_t)p;
			node->world->ranks[index] = rank;
			if (node->fabric)
				vm_remote_place(rank, i, peers[p].rank_count);
		}
	}
}

/* The rank's channel of all. */
static int world_make(struct vm_node *node, struct vm_rank *rank)
{
	struct vm_meet *meet = node->apart ? vm_meet_new(node->world, rank) :
					     vm_meet_hold(node->world_meet);

	if (meet)
		rank->world = vm_chan_new(rank, node->world, meet,
					  VM_CONTEXT_WORLD, rank->index);
	vm_meet_drop(meet);
	return rank->world ? 0 : -VMPI_ENOMEM;
}

int vm_ranks_init(struct vm_node *node)
{
	int count = node->rank_count;
	int rc = 0;

	node->spare_count = vm_node_hooks.process ? 0 : core_cvar.spawn_max;
	node->rank_room = count + node->spare_count * node->process_count;
	node->ranks = vm_export_alloc(
		(size_t)node->rank_room * sizeof(struct vm_rank), VM_CACHELINE);
	node->own = calloc((size_t)(node->rank_here + node->spare_count),
			   sizeof(*node->own));
	vm_lock_init(&node->spares.lock);
	vm_lock_init(&node->spares.guests_lock);
	node->world = vm_group_new(count);
	if (!node->ranks || !node->own || !node->world)
		return -VMPI_ENOMEM;
	ranks_place(node);
	for (int i = 0; i < node->rank_here && !rc; i++)
		rc = rank_init(node,
			       &node->ranks[rank_of_slot(node->rank_first + i)],
			       i);
	if (rc)
		return rc;
	if (!node->apart)
		node->world_meet = vm_meet_new(node->world, NULL);
	if (!node->apart && !node->world_meet)
		return -VMPI_ENOMEM;
	for (int i = 0; i < node->rank_here && !rc; i++)
		rc = world_make(node, node->own[i]);
	return rc;
}

void vm_rank_objects_free(struct vm_rank *rank)
{
	if (rank->mpi)
		rank->mpi_free(rank);
	vm_chan_free(rank->world);
	vm_chan_free(rank->self_chan);
	rank->world = rank->self_chan = NULL;
	vm_chan_stats_all_fini(rank);
	vm_rank_cvars_fini(rank);
}

void vm_ranks_fini(struct vm_node *node)
{
	for (int i = 0; node->own && i < vm_own_count(); i++) {
		struct vm_rank *rank = node->own[i];

		if (!rank || !rank->engine)
			break;
		vm_rank_objects_free(rank);
		vm_match_fini(&rank->match);
	}
	free(node->own);
	free(node->failure.revoked);
	vm_export_free(node->ranks);
	vm_group_drop(node->world);
	vm_meet_drop(node->world_meet);
}

static void rank_left(struct vm_rank *rank)
{
	vm_intercept_body_end();
	vm_migrator_leave(rank);
	vm_rank_time_end(rank);
	vm_rank_does(rank, VM_EXPORT_DONE);
	vm_spare_left(rank);
}

static int rank_body(void *arg)
{
	const struct vm_node *node = arg;
	struct vm_rank *rank = vm_rank_self();
	int result;

	vm_rank_does(rank, VM_EXPORT_RUNNING);
	vm_rank_time_begin(rank);
	vm_intercept_body_begin();
	result = node->body(node->body_arg);
	/* Maybe on another OS thread. */
	rank_left(rank);
	return result;
}

int vm_rank_task_make(struct vm_rank *rank)
{
	int rc = vm_ult_new(&rank->ult, rank->engine->worker,
			    &vm_node->rank_stacks, rank_body, vm_node);

	if (rc) {
		rank->ult = NULL;
		return rc;
	}
	rank->ult->owner = rank;
	rank->ult->counts = &rank->pvars;
	atomic_store_explicit(&rank->main, rank->ult, memory_order_relaxed);
	rank->left = false;
	vm_overlap_events_task(rank, rank->ult);
	vm_profiler_rank(rank);
	return 0;
}

int vm_ranks_start(vmpi_body body, void *arg)
{
	struct vm_rank **own = vm_node->own;

	vm_migrator_open(false);
	vm_node->body = body;
	vm_node->body_arg = arg;
	for (int i = 0; i < vm_node->rank_here; i++) {
		int rc = vm_rank_task_make(own[i]);

		if (rc)
			return rc;
	}
	for (int i = 0; i < vm_node->rank_here; i++)
		vm_ult_wake(own[i]->ult);
	vm_migrator_open(true);
	return 0;
}

int vm_ranks_join(void)
{
	struct vm_rank **own = vm_node->own;
	int result = 0;

	for (int i = 0; i < vm_node->rank_here; i++) {
		int status = vm_ult_join(own[i]->ult);

		/* Threads that the rank has left behind compare it. */
		__atomic_store_n(&own[i]->ult, NULL, __ATOMIC_RELAXED);
		if (!result)
			result = status;
	}
	vm_spares_join();
	return result;
}

void vm_rank_exit(int status)
{
	rank_left(vm_rank_self());
	vm_ult_exit(status);
}
