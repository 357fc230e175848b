/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and stop, in order: topology, workers, pools, engines, ranks; then the
 * workers' threads.
 */
#include "core/runtime/node.h"
#include "core/runtime/ranks.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bias.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/last_word.h"
#include "base/nearest.h"
#include "boot/boot.h"
#include "boot/map.h"
#include "core/instrument/overlap_events.h"
#include "core/instrument/thread_name.h"
#include "core/instrument/trace.h"
#include "core/instrument/intercept.h"
#include "core/rank/chan.h"
#include "core/rank/context.h"
#include "core/rank/numbers.h"
#include "core/service/control.h"
#include "core/service/descriptor.h"
#include "core/local/engine.h"
#include "core/comm/fail.h"
#include "core/rank/kept.h"
#include "core/meeting/meet.h"
#include "core/comm/revoke.h"
#include "core/runtime/child.h"
#include "core/runtime/deadlock.h"
#include "core/runtime/guests.h"
#include "core/runtime/helper.h"
#include "core/runtime/migrate.h"
#include "core/runtime/stuck.h"
#include "core/instrument/profiler.h"
#include "core/remote/agent.h"
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
#include "core/local/task.h"
#include "core/local/threads.h"
#include "core/meeting/chan_make.h"
#include "fabric/packet/vars.h"
#include "introspect/export/export.h"
#include "sched/futex.h"
#include "sched/topo.h"
#include "sched/worker.h"

/* Addresses only, of many millions of objects. */
#define ARENA_BYTES ((size_t)16 << 30)

struct vm_node_hooks vm_node_hooks;

static void pools_init(struct vm_node *node, int ranks)
{
	size_t share = (size_t)core_cvar.copy_bytes_max / VM_BUFFER_CLASSES;

	vm_lock_init(&node->chans_lock);
	vm_arena_init(&node->arenas.req, ARENA_BYTES);
	vm_arena_init(&node->arenas.msg, ARENA_BYTES);
	vm_arena_init(&node->arenas.object, ARENA_BYTES);
	vm_pool_init_in(&node->pools.req, "requests", sizeof(struct vm_req),
			&node->arenas.req);
	vm_pool_init_in(&node->pools.msg, "messages", sizeof(struct vm_msg),
			&node->arenas.msg);
	vm_pool_init(&node->pools.rndv_send, "sends to other processes",
		     sizeof(struct vm_rndv_send), 0);
	vm_pool_init(&node->pools.rndv_recv, "receives from other processes",
		     sizeof(struct vm_rndv_recv), 0);
	vm_pool_init(&node->pools.kept, "calls that requests keep",
		     VM_KEPT_BYTES, 0);
	vm_id_table_init(&node->rndv_sends);
	vm_id_table_init(&node->rndv_recvs);
	vm_id_table_init(&node->windows);
	vm_id_table_init(&node->errands.table);
	for (int i = 0; i < VM_BUFFER_CLASSES; i++) {
		size_t most = share / vm_buffer_bytes[i];

		vm_pool_init(&node->pools.buffer[i], "buffers",
			     vm_buffer_bytes[i], most ? most : 1);
	}
	vm_stack_pool_init(&node->rank_stacks, node->stack_bytes,
			   (size_t)ranks);
	vm_stack_pool_init(&node->task_stacks,
			   (size_t)sched_cvar.task_stack_bytes, 0);
}

static void pools_fini(struct vm_node *node)
{
	vm_pool_fini(&node->pools.req);
	vm_pool_fini(&node->pools.msg);
	vm_pool_fini(&node->pools.rndv_send);
	vm_pool_fini(&node->pools.rndv_recv);
	vm_pool_fini(&node->pools.kept);
	vm_id_table_fini(&node->rndv_sends);
	vm_id_table_fini(&node->rndv_recvs);
	vm_id_table_fini(&node->windows);
	vm_id_table_fini(&node->errands.table);
	for (int i = 0; i < VM_BUFFER_CLASSES; i++)
		vm_pool_fini(&node->pools.buffer[i]);
	vm_stack_pool_fini(&node->rank_stacks);
	vm_stack_pool_fini(&node->task_stacks);
	vm_task_stacks_fini(node);
	vm_arena_fini(&node->arenas.req);
	vm_arena_fini(&node->arenas.msg);
	vm_arena_fini(&node->arenas.object);
}

static void thread_start(struct vm_worker *worker)
{
	(void)worker;
	if (vm_node_hooks.thread_start)
		vm_node_hooks.thread_start();
}

/* The rank's threads poll for themselves; the worker looks now and then. */
static void process_thread_start(struct vm_worker *worker)
{
	vm_bias_decline();
	thread_start(worker);
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

/* The size of the ranks' stacks: somebody's choice, or one for so many
 * ranks. */
static size_t stack_bytes(const vmpi_config *config, int ranks)
{
	struct vm_cvar_view view;
	char name[VM_NAME_MAX];

	if (config->stack_bytes)
		return config->stack_bytes;
	if (vm_cvar_info(vm_cvar_find("sched_stack_bytes"), &view, name) &&
	    view.source == VM_SOURCE_DEFAULT)
		return vm_stack_bytes_of(ranks);
	return (size_t)sched_cvar.stack_bytes;
}

static void node_free(void)
{
	vm_helpers_free(&vm_node->helpers);
	vm_helpers_free(&vm_node->callers);
	vm_helpers_free(&vm_node->runners);
	vm_service_stop(vm_node);
	vm_tune_stop(vm_node);
	vm_deadlock_stop(vm_node);
	vm_service_fini(vm_node);
	vm_descriptors_fini(vm_node);
	vm_publish_close();
	vm_sched.away = NULL;
	vm_remote_close();
	vm_deadlock_fini(vm_node);
	vm_stuck_fini(vm_node);
	vm_migrator_fini(vm_node);
	vm_ranks_fini(vm_node);
	vm_guests_fini(vm_node);
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
	node->process_room = 1 + (int)core_cvar.connect_max;
	if (!boot)
		return;
	node->process = boot->process;
	node->process_count = boot->processes;
	node->process_room = boot->processes + (int)core_cvar.connect_max;
	node->rank_count = boot->ranks;
	node->rank_first = boot->rank_first;
	node->rank_here = boot->rank_count;
}

/* What is done when others revoke channels or fail. */
static void faults_prepare(struct vm_node *node)
{
	node->revoke_take = vm_revoke_context;
	node->failed_take = vm_fail_take;
	node->apart = vm_node_hooks.apart;
}

/* What the scheduler calls: with one worker, with several, with a network, and
 * in a process that is one rank. */
static const struct vm_sched_hooks alone_hooks = {
	.thread_start = thread_start,
};

static const struct vm_sched_hooks local_hooks = {
	.poll = vm_engine_poll,
	.thread_start = thread_start,
};

static const struct vm_sched_hooks fabric_hooks = {
	.poll = vm_progress_poll,
	.sleep = vm_progress_sleep,
	.kick = vm_progress_kick,
	.thread_poll = vm_progress_thread_poll,
	.partner_runs = vm_progress_partner_runs,
	.thread_start = thread_start,
};

static const struct vm_sched_hooks process_hooks = {
	.poll = vm_progress_poll,
	.sleep = vm_progress_sleep,
	.kick = vm_progress_kick,
	.thread_poll = vm_progress_thread_poll,
	.partner_runs = vm_progress_partner_runs,
	.thread_sleep = vm_progress_thread_sleep,
	.thread_kick = vm_progress_thread_kick,
	.thread_start = process_thread_start,
};

static const struct vm_sched_hooks *hooks_of(const struct vm_node *node)
{
	if (!node->fabric)
		return node->engine_count > 1 ? &local_hooks : &alone_hooks;
	return vm_node_hooks.process ? &process_hooks : &fabric_hooks;
}

static void hooks_begin(const struct vm_node *node)
{
	vm_sched.hooks = *hooks_of(node);
	/* Of several workers none speaks for the process. */
	if (node->fabric && vm_sched.shared && vm_sched.worker_count == 1)
		vm_sched.away = vm_fabric_away(node->fabric);
}

/* What runs beside the ranks. */
static int services_start(struct vm_node *node)
{
	int rc = vm_deadlock_start(node);

	if (!rc)
		rc = vm_stuck_start(node);
	if (!rc)
		rc = vm_migrator_init(node);
	if (!rc)
		rc = vm_tune_start(node);
	if (!rc)
		rc = vm_agent_start(node);
	return rc;
}

static int helpers_new(struct vm_node *node)
{
	int rc = vm_helpers_new(&node->helpers, VM_HELPERS_FILES);

	if (!rc)
		rc = vm_helpers_new(&node->callers,
				    (int)core_cvar.offload_threads);
	node->errands.help = vm_helper_errand;
	return rc ? rc : vm_helpers_new(&node->runners, VM_HELPERS_ERRANDS);
}

static void helpers_stop(struct vm_node *node)
{
	vm_helpers_stop(node->helpers);
	vm_helpers_stop(node->callers);
	vm_helpers_stop(node->runners);
}

static int node_start(const vmpi_config *config)
{
	int ranks, workers, rc;

	vm_log_set_level((enum vm_log_level)core_cvar.log);
	rc = config_check(config);
	if (!rc)
		rc = vm_child_watch();
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
	vm_node->stack_bytes = stack_bytes(config, ranks);
	pools_init(vm_node, ranks);
	ranks_count(vm_node, ranks);
	vm_contexts_init(vm_node);
	faults_prepare(vm_node);
	vm_lock_init(&vm_node->threads.lock);
	vm_lock_init(&vm_node->meets.lock);
	vm_lock_init(&vm_node->descriptors_lock);
	vm_list_init(&vm_node->meets.list);
	rc = vm_service_init(vm_node);
	if (!rc)
		rc = helpers_new(vm_node);
	if (!rc)
		rc = vm_sched_init(workers);
	if (!rc)
		rc = vm_engines_init(workers, !vm_node_hooks.process);
	if (!rc && (vm_node->process_count > 1 || core_cvar.loopback))
		rc = vm_remote_open(vm_node_hooks.boot);
	if (!rc)
		rc = vm_overlap_events_start(vm_node);
	if (!rc)
		rc = vm_profiler_start(vm_node);
	if (!rc)
		rc = vm_trace_start(vm_node);
	vm_thread_names_start();
	if (!rc)
		rc = vm_ranks_init(vm_node);
	if (rc)
		goto fail;
	rc = vm_publish_open(vm_node);
	if (rc)
		goto fail;
	hooks_begin(vm_node);
	rc = services_start(vm_node);
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

int vm_node_start(const vmpi_config *config)
{
	static const vmpi_config defaults;
	unsigned errors = vm_last_word_counted();
	int rc;

	if (vm_node)
		return -VMPI_ESTATE;
	rc = node_start(config ? config : &defaults);
	/* Where memory is missing is not said there. */
	if (rc && vm_last_word_counted() == errors)
		vm_log(VM_ERROR, "the runtime cannot start: %s%s",
		       vmpi_strerror(rc),
		       rc == -VMPI_ENOMEM ?
			       ", or of addresses: ulimit -v, ulimit -d or a "
			       "container's limit of memory is too low" :
			       "");
	return rc;
}

int vm_node_fabric_open(void)
{
	int rc = vm_remote_open_late();

	if (rc)
		return rc;
	/* Workers take them up one by one: each may be called once the fabric
	 * is there. */
	vm_sched.hooks = *hooks_of(vm_node);
	for (int i = 0; i < vm_sched.worker_count; i++)
		vm_worker_nudge(&vm_sched.workers[i]);
	return vm_agent_start(vm_node);
}

int vm_node_stop(void)
{
	uint32_t alive;

	if (!vm_node || vm_self)
		return -VMPI_ESTATE;
	alive = atomic_fetch_or(&vm_node->tasks.alive, VM_TASKS_AWAITED);
	while ((alive | VM_TASKS_AWAITED) != VM_TASKS_AWAITED) {
		vm_futex_wait(&vm_node->tasks.alive, alive | VM_TASKS_AWAITED,
			      0);
		alive = atomic_load_explicit(&vm_node->tasks.alive,
					     memory_order_acquire);
	}
	helpers_stop(vm_node);
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
	vm_kept_drop();
	node_free();
	vm_vars_freeze(false);
	return 0;
}

void vm_node_leave(void)
{
	VM_ASSERT(vm_node->rank_here == 1 && vm_self);
	helpers_stop(vm_node);
	vm_control_stop(vm_node);
	vm_service_stop(vm_node);
	vm_tune_stop(vm_node);
	if (!vm_node->fabric)
		return;
	vm_sched_stop();
	vm_remote_stop();
	vm_publish_leave();
	vm_remote_close();
	vm_numbers_close();
	vm_sched.hooks = alone_hooks;
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
	rc = vm_ranks_start(body, arg);
	if (!rc)
		rc = vm_ranks_join();
	vm_thread_release();
end:
	atomic_store(&vm_node->running, false);
	return rc;
}
