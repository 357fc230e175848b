/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and stop, in order: topology, workers, pools, engines, ranks; then the
 * workers' threads.
 */
#include "core/runtime/node.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/log.h"
#include "base/last_word.h"
#include "boot/boot.h"
#include "boot/map.h"
#include "core/instrument/overlap_events.h"
#include "core/instrument/trace.h"
#include "core/instrument/intercept.h"
#include "core/rank/chan.h"
#include "core/rank/context.h"
#include "core/service/control.h"
#include "core/local/engine.h"
#include "core/comm/meet.h"
#include "core/runtime/migrate.h"
#include "core/instrument/profiler.h"
#include "core/remote/rndv_recv.h"
#include "core/remote/rndv_send.h"
#include "core/rank/cvar.h"
#include "core/remote/remote.h"
#include "core/local/chan_stats.h"
#include "core/service/tune.h"
#include "core/rank/wait.h"
#include "core/remote/progress.h"
#include "core/service/publish.h"
#include "core/service/thread.h"
#include "core/local/threads.h"
#include "core/comm/chan_make.h"
#include "fabric/vars.h"
#include "introspect/export/export.h"
#include "sched/futex.h"
#include "sched/topo.h"
#include "sched/worker.h"

struct vm_node_hooks vm_node_hooks;

static void pools_init(struct vm_node *node)
{
	size_t share = (size_t)core_cvar.copy_bytes_max / VM_BUFFER_CLASSES;

	vm_lock_init(&node->chans_lock);
	vm_pool_init(&node->pools.req, "requests", sizeof(struct vm_req), 0);
	vm_pool_init(&node->pools.msg, "messages", sizeof(struct vm_msg), 0);
	vm_pool_init(&node->pools.rndv_send, "sends to other processes",
		     sizeof(struct vm_rndv_send), 0);
	vm_pool_init(&node->pools.rndv_recv, "receives from other processes",
		     sizeof(struct vm_rndv_recv), 0);
	vm_id_table_init(&node->rndv_sends);
	vm_id_table_init(&node->rndv_recvs);
	for (int i = 0; i < VM_BUFFER_CLASSES; i++) {
		size_t most = share / vm_buffer_bytes[i];

		vm_pool_init(&node->pools.buffer[i], "buffers",
			     vm_buffer_bytes[i], most ? most : 1);
	}
	vm_stack_pool_init(&node->rank_stacks, node->stack_bytes);
	vm_stack_pool_init(&node->task_stacks,
			   (size_t)sched_cvar.task_stack_bytes);
}

static void pools_fini(struct vm_node *node)
{
	vm_pool_fini(&node->pools.req);
	vm_pool_fini(&node->pools.msg);
	vm_pool_fini(&node->pools.rndv_send);
	vm_pool_fini(&node->pools.rndv_recv);
	vm_id_table_fini(&node->rndv_sends);
	vm_id_table_fini(&node->rndv_recvs);
	for (int i = 0; i < VM_BUFFER_CLASSES; i++)
		vm_pool_fini(&node->pools.buffer[i]);
	vm_stack_pool_fini(&node->rank_stacks);
	vm_stack_pool_fini(&node->task_stacks);
}

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

static int rank_init(struct vm_node *node, struct vm_rank *rank, int local)
{
	struct vm_group *group = vm_group_new(1);
	struct vm_meet *meet = NULL;

	rank->local = local;
	node->own[local] = rank;
	vm_rank_cvars_init(rank);
	rank->engine = rank_home(node, rank);
	rank->via = core_cvar.loopback ? &vm_engine_remote : rank->engine;
	vm_match_init(&rank->match);
	vm_list_init(&rank->probers);
	vm_rank_threads_init(rank);
	vm_list_init(&rank->chans);
	/* The main thread of a process joins as all of them do. */
	rank->wait.others = vm_node_hooks.process ? -1 : 0;
	if (!rank->engine)
		return -VMPI_EINVAL;
	if (!group)
		return -VMPI_ENOMEM;
	group->ranks[0] = rank;
	meet = vm_meet_new(group);
	if (meet)
		rank->self_chan =
			vm_chan_new(rank, group, meet, vm_context_new(), 0);
	vm_meet_drop(meet);
	vm_group_drop(group);
	return rank->self_chan ? 0 : -VMPI_ENOMEM;
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

			rank->index = index;
			rank->engine = rank->via = &vm_engine_remote;
			rank->to.process = (uint32_t)p;
			node->world->ranks[index] = rank;
			if (node->fabric)
				vm_remote_place(rank, i, peers[p].rank_count);
		}
	}
}

static int ranks_init(struct vm_node *node)
{
	int count = node->rank_count;
	size_t bytes = (size_t)count * sizeof(struct vm_rank);
	int rc = 0;

	node->ranks = vm_export_alloc(bytes, VM_CACHELINE);
	node->own = calloc((size_t)node->rank_here, sizeof(*node->own));
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
	node->world_meet = vm_meet_new(node->world);
	if (!node->world_meet)
		return -VMPI_ENOMEM;
	for (int i = 0; i < node->rank_here && !rc; i++) {
		struct vm_rank *rank = node->own[i];

		rank->world = vm_chan_new(rank, node->world, node->world_meet,
					  VM_CONTEXT_WORLD, rank->index);
		if (!rank->world)
			rc = -VMPI_ENOMEM;
	}
	return rc;
}

static void ranks_fini(struct vm_node *node)
{
	for (int i = 0; node->own && i < node->rank_here; i++) {
		struct vm_rank *rank = node->own[i];

		if (!rank || !rank->engine)
			break;
		if (rank->mpi)
			rank->mpi_free(rank);
		vm_chan_free(rank->world);
		vm_chan_free(rank->self_chan);
		vm_chan_stats_all_fini(rank);
		vm_match_fini(&rank->match);
		vm_rank_cvars_fini(rank);
	}
	free(node->own);
	vm_export_free(node->ranks);
	vm_group_drop(node->world);
	vm_meet_drop(node->world_meet);
}

static void thread_start(struct vm_worker *worker)
{
	(void)worker;
	if (vm_node_hooks.thread_start)
		vm_node_hooks.thread_start();
}

static int config_check(const vmpi_config *config)
{
	if (config->ranks < 0 || config->workers < 0 ||
	    config->workers > 1024 ||
	    (config->stack_bytes && config->stack_bytes < 16384)) {
		vm_log(VM_ERROR,
		       "vmpi_config: %d ranks, %d workers, stacks of %zu bytes: "
		       "counts are not negative, workers at most 1024, stacks "
		       "at least 16384",
		       config->ranks, config->workers, config->stack_bytes);
		return -VMPI_EINVAL;
	}
	return 0;
}

static int worker_count(const vmpi_config *config, int ranks)
{
	int count = config->workers;

	if (!count)
		count = (int)sched_cvar.workers;
	if (!count) {
		count = vm_topo_cores();
		if (count > ranks && config->ranks > 0)
			count = ranks;
	}
	return count;
}

static void node_free(void)
{
	vm_service_stop(vm_node);
	vm_tune_stop(vm_node);
	vm_service_fini(vm_node);
	vm_publish_close();
	vm_remote_close();
	vm_migrator_fini(vm_node);
	ranks_fini(vm_node);
	vm_engines_fini();
	vm_trace_stop(vm_node);
	vm_overlap_events_stop(vm_node);
	vm_profiler_stop(vm_node);
	pools_fini(vm_node);
	vm_sched_fini();
	vm_export_free(vm_node);
	vm_node = NULL;
	vm_export_close(false);
}

/* Determines which ranks there are, and which of them are ours. */
static void ranks_count(struct vm_node *node, int ranks)
{
	const struct vm_boot *boot = vm_node_hooks.boot;

	node->rank_here = node->rank_count = ranks;
	node->process_count = 1;
	if (!boot)
		return;
	node->process = boot->process;
	node->process_count = boot->processes;
	node->rank_count = boot->ranks;
	node->rank_first = boot->rank_first;
	node->rank_here = boot->rank_count;
}

static void sched_hook(const struct vm_node *node)
{
	vm_sched.thread_start = thread_start;
	vm_sched.polls = node->engine_count > 1 || node->fabric;
	vm_sched.poll = vm_engine_poll;
	if (!node->fabric)
		return;
	vm_sched.poll = vm_progress_poll;
	vm_sched.sleep = vm_progress_sleep;
	vm_sched.thread_poll = vm_progress_thread_poll;
	vm_sched.kick = vm_progress_kick;
	if (!vm_node_hooks.process)
		return;
	vm_sched.thread_sleep = vm_progress_thread_sleep;
	vm_sched.thread_kick = vm_progress_thread_kick;
}

int vm_node_start(const vmpi_config *config)
{
	static const vmpi_config defaults;
	int ranks, workers, rc;

	if (vm_node)
		return -VMPI_ESTATE;
	if (!config)
		config = &defaults;
	rc = config_check(config);
	if (!rc)
		rc = vm_topo_init();
	if (rc)
		return rc;
	ranks = config->ranks ? config->ranks : 1;
	workers = worker_count(config, ranks);
	vm_topo_plan(workers);
	vm_publish_share(vm_node_hooks.boot);
	vm_node = vm_export_alloc(sizeof(*vm_node), _Alignof(struct vm_node));
	if (!vm_node) {
		vm_export_close(false);
		return -VMPI_ENOMEM;
	}
	vm_node->stack_bytes = config->stack_bytes ?
				       config->stack_bytes :
				       (size_t)sched_cvar.stack_bytes;
	pools_init(vm_node);
	ranks_count(vm_node, ranks);
	vm_contexts_init(vm_node);
	vm_lock_init(&vm_node->threads.lock);
	vm_lock_init(&vm_node->meets.lock);
	vm_list_init(&vm_node->meets.list);
	rc = vm_service_init(vm_node);
	if (!rc)
		rc = vm_sched_init(workers);
	if (!rc)
		rc = vm_engines_init(workers);
	if (!rc && (vm_node->process_count > 1 || core_cvar.loopback))
		rc = vm_remote_open(vm_node_hooks.boot);
	if (!rc)
		rc = vm_overlap_events_start(vm_node);
	if (!rc)
		rc = vm_profiler_start(vm_node);
	if (!rc)
		rc = vm_trace_start(vm_node);
	if (!rc)
		rc = ranks_init(vm_node);
	if (rc)
		goto fail;
	rc = vm_publish_open(vm_node);
	if (rc)
		goto fail;
	sched_hook(vm_node);
	rc = vm_migrator_init(vm_node);
	if (!rc)
		rc = vm_tune_start(vm_node);
	if (rc)
		goto fail;
	rc = vm_sched_start();
	if (rc) {
		vm_sched_stop();
		goto fail;
	}
	vm_vars_freeze(true);
	vm_control_start(vm_node, vm_node_hooks.boot);
	return 0;
fail:
	node_free();
	return rc;
}

int vm_node_stop(void)
{
	uint32_t alive;

	if (!vm_node || vm_self)
		return -VMPI_ESTATE;
	while ((alive = atomic_load_explicit(&vm_node->tasks.alive,
					     memory_order_acquire)))
		vm_futex_wait(&vm_node->tasks.alive, alive, 0);
	if (!atomic_load_explicit(&vm_sched.stop, memory_order_relaxed))
		vm_sched_stop();
	/* Other processes wait for that, even if threads remain here. */
	vm_remote_stop();
	if (vm_node_hooks.left)
		vm_node_hooks.left();
	vm_control_stop(vm_node);
	vm_service_stop(vm_node);
	vm_tune_stop(vm_node);
	/*
	 * Threads of an OpenMP team may be about to end, others never end; they
	 * still use all that.  Pairs with vm_thread_release().
	 */
	if (atomic_load_explicit(&vm_node->threads.adopted,
				 memory_order_acquire))
		return -VMPI_ESTATE;
	node_free();
	vm_vars_freeze(false);
	return 0;
}

void vm_node_leave(void)
{
	VM_ASSERT(vm_node->rank_here == 1 && vm_self);
	vm_control_stop(vm_node);
	vm_service_stop(vm_node);
	vm_tune_stop(vm_node);
	if (!vm_node->fabric)
		return;
	vm_sched_stop();
	vm_remote_stop();
	vm_publish_leave();
	vm_remote_close();
	vm_sched.polls = false;
	vm_sched.poll = vm_engine_poll;
	vm_sched.sleep = NULL;
	vm_sched.thread_poll = NULL;
	vm_sched.thread_sleep = NULL;
	vm_sched.thread_kick = NULL;
	vm_sched.kick = NULL;
}

static void rank_left(struct vm_rank *rank)
{
	vm_intercept_body_end();
	vm_migrator_leave(rank);
	vm_rank_time_end(rank);
	vm_rank_does(rank, VM_EXPORT_DONE);
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

/* Starts body as every rank.  On failure none has run; the stacks made so far
 * go back with all others when the node stops. */
static int ranks_start(vmpi_body body, void *arg)
{
	struct vm_rank **own = vm_node->own;

	vm_migrator_open(false);
	vm_node->body = body;
	vm_node->body_arg = arg;
	for (int i = 0; i < vm_node->rank_here; i++) {
		struct vm_rank *rank = own[i];
		int rc = vm_ult_new(&rank->ult, rank->engine->worker,
				    &vm_node->rank_stacks, rank_body, vm_node);

		if (rc) {
			rank->ult = NULL;
			return rc;
		}
		rank->ult->owner = rank;
		rank->ult->counts = &rank->pvars;
		atomic_store_explicit(&rank->main, rank->ult,
				      memory_order_relaxed);
		rank->left = false;
		vm_overlap_events_rank(rank, rank->ult);
		vm_profiler_rank(rank);
	}
	for (int i = 0; i < vm_node->rank_here; i++)
		vm_ult_wake(own[i]->ult);
	vm_migrator_open(true);
	return 0;
}

static int ranks_join(void)
{
	struct vm_rank **own = vm_node->own;
	int result = 0;

	for (int i = 0; i < vm_node->rank_here; i++) {
		int status = vm_ult_join(own[i]->ult);

		own[i]->ult = NULL;
		if (!result)
			result = status;
	}
	return result;
}

int vm_node_run(vmpi_body body, void *arg)
{
	int rc;

	if (!vm_node || vm_self)
		return -VMPI_ESTATE;
	if (atomic_exchange(&vm_node->running, true))
		return -VMPI_ESTATE;
	rc = vm_thread_adopt(NULL);
	if (rc)
		goto end;
	rc = ranks_start(body, arg);
	if (!rc)
		rc = ranks_join();
	vm_thread_release();
end:
	atomic_store(&vm_node->running, false);
	return rc;
}

void vm_rank_exit(int status)
{
	rank_left(vm_rank_self());
	vm_ult_exit(status);
}

#define DEATH_NS 100000000

/* When another process has died that is the reason of all that follows: gives
 * the launcher the time to say so first. */
static void death_let_say(void)
{
	struct timespec moment = { .tv_nsec = DEATH_NS };

	if (vm_node && vm_node->fabric &&
	    __atomic_load_n(&vm_fabric_pvars(vm_node->fabric)->peers_failed,
			    __ATOMIC_RELAXED))
		syscall(SYS_nanosleep, &moment, NULL);
}

/* Prints and ends the process; of several callers the first wins. */
static _Noreturn void node_end(int code, bool hook, const char *format,
			       va_list args)
{
	static _Atomic int ending;
	char text[1024] = "vmpirun: ";
	size_t length = strlen(text);
	int n;

	while (atomic_exchange_explicit(&ending, 1, memory_order_acq_rel))
		pause();
	if (hook)
		death_let_say();
	n = vsnprintf(text + length, sizeof(text) - length - 1, format, args);
	if (n > 0)
		length += (size_t)n;
	if (length > sizeof(text) - 2)
		length = sizeof(text) - 2;
	text[length++] = '\n';
	if (hook && vm_node_hooks.end)
		vm_node_hooks.end();
	/* What a signal ends can be looked at afterwards. */
	if (hook)
		vm_export_remove();
	if (vm_last_word_take()) {
		if (write(STDERR_FILENO, text, length) < 0)
			code = code ? code : 1; /* nowhere left to say it */
		vm_last_word_give();
	}
	if (vm_node_hooks.boot)
		vm_boot_abort(vm_node_hooks.boot, code, "see standard error",
			      !hook);
	/* Not _exit(): the node program replaces that one for its ranks. */
	vm_exit_now(code);
}

void vm_node_abort(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	node_end(code, true, format, args);
}

void vm_node_die(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	node_end(code, false, format, args);
}
