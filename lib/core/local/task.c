/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How tasks that are no ranks begin and end.
 */
#include "core/local/task.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/instrument/intercept.h"
#include "core/local/engine.h"
#include "core/rank/state.h"
#include "core/rank/wait.h"
#include "sched/futex.h"
#include "sched/worker.h"

/* What a task started by vm_task_new() runs. */
struct task_start {
	vmpi_body body;
	void *arg;
	bool watched; /* it runs code of the user */
};

static void task_ended(void)
{
	/* Pairs with the loads in vm_node_stop(). */
	if (atomic_fetch_sub_explicit(&vm_node->tasks.alive, 1,
				      memory_order_release) ==
	    (VM_TASKS_AWAITED | 1))
		vm_futex_wake(&vm_node->tasks.alive);
}

static int task_main(void *arg)
{
	struct task_start start = *(struct task_start *)arg;
	struct vm_rank *rank = vm_rank_self();
	int result;

	free(arg);
	if (start.watched)
		vm_intercept_body_begin();
	result = start.body(start.arg);
	vm_intercept_body_end();
	if (rank) {
		atomic_fetch_sub_explicit(&rank->tasks, 1,
					  memory_order_relaxed);
		vm_wait_others(rank, -1);
	}
	return result;
}

static struct vm_worker *task_worker(struct vm_rank *rank)
{
	uint32_t turn;

	if (rank)
		return rank->engine->worker;
	turn = atomic_fetch_add_explicit(&vm_node->tasks.turn, 1,
					 memory_order_relaxed);
	return &vm_sched.workers[turn % (uint32_t)vm_sched.worker_count];
}

/* Where a task of a rank (NULL: of none) counts that runs on this worker. */
static struct core_rank_pvars *counts_on(const struct vm_worker *worker,
					 struct vm_rank *rank)
{
	/* Without a rank too it may wait for the request of one. */
	return rank && worker->index >= 0 ?
		       &rank->pvars :
		       &((struct vm_thread_cache *)worker->cache)->pvars;
}

static int task_new_on(struct vm_worker *worker, struct vm_ult **task,
		       struct vm_stack_pool *stacks, vmpi_body body, void *arg,
		       bool watched)
{
	struct vm_rank *rank = vm_rank_self();
	struct task_start *start = malloc(sizeof(*start));
	int rc;

	if (!start)
		return -VMPI_ENOMEM;
	*start = (struct task_start){ body, arg, watched };
	rc = vm_ult_new(task, worker, stacks, task_main, start);
	if (rc) {
		free(start);
		return rc;
	}
	(*task)->owner = rank;
	(*task)->counts = counts_on(worker, rank);
	(*task)->on_end = task_ended;
	if (rank) {
		atomic_fetch_add_explicit(&rank->tasks, 1,
					  memory_order_relaxed);
		vm_pvar_add(vm_counters()->tasks, 1);
		vm_wait_others(rank, 1);
	}
	atomic_fetch_add_explicit(&vm_node->tasks.alive, 1,
				  memory_order_relaxed);
	vm_ult_wake(*task);
	return 0;
}

static int task_new(struct vm_ult **task, struct vm_stack_pool *stacks,
		    vmpi_body body, void *arg, bool watched)
{
	return task_new_on(task_worker(vm_rank_self()), task, stacks, body, arg,
			   watched);
}

int vm_task_new(struct vm_ult **task, vmpi_body body, void *arg)
{
	return task_new(task, &vm_node->task_stacks, body, arg, false);
}

int vm_task_new_user(struct vm_ult **task, vmpi_body body, void *arg)
{
	return task_new(task, &vm_node->task_stacks, body, arg, true);
}

/* Stacks with this logarithm of their size; NULL when out of memory. */
static struct vm_stack_pool *sized_pool(unsigned log)
{
	_Atomic(struct vm_stack_pool *) *place = &vm_node->sized_stacks[log];
	/* Pairs with the exchange below. */
	struct vm_stack_pool *pool =
		atomic_load_explicit(place, memory_order_acquire);
	struct vm_stack_pool *new;

	if (pool)
		return pool;
	new = malloc(sizeof(*new));
	if (!new)
		return NULL;
	vm_stack_pool_init(new, (size_t)1 << log, 0);
	if (atomic_compare_exchange_strong_explicit(place, &pool, new,
						    memory_order_acq_rel,
						    memory_order_acquire))
		return new;
	vm_stack_pool_fini(new);
	free(new);
	return pool;
}

int vm_task_new_sized(struct vm_ult **task, size_t stack_bytes, vmpi_body body,
		      void *arg)
{
	struct vm_stack_pool *pool;
	unsigned log = 0;

	while (log < VM_STACK_SIZES && (size_t)1 << log < stack_bytes)
		log++;
	if (log == VM_STACK_SIZES) {
		vm_log(VM_ERROR, "a task cannot have a stack of %zu bytes",
		       stack_bytes);
		return -VMPI_ELIMIT;
	}
	pool = sized_pool(log);
	return pool ? task_new(task, pool, body, arg, true) : -VMPI_ENOMEM;
}

void vm_task_stacks_fini(struct vm_node *node)
{
	for (int i = 0; i < VM_STACK_SIZES; i++) {
		struct vm_stack_pool *pool = node->sized_stacks[i];

		if (!pool)
			continue;
		vm_stack_pool_fini(pool);
		free(pool);
	}
}

int vm_task_new_deep(struct vm_ult **task, vmpi_body body, void *arg)
{
	return task_new(task, &vm_node->rank_stacks, body, arg, false);
}

int vm_task_new_steps(struct vm_ult **task, vmpi_body body, void *arg)
{
	return task_new_on(vm_self->worker, task, &vm_node->rank_stacks, body,
			   arg, false);
}

void vm_task_hand_over(struct vm_ult *task)
{
	struct vm_rank *rank = task->owner;
	struct vm_worker *worker = task_worker(rank);

	task->counts = counts_on(worker, rank);
	vm_ult_detach(task);
	vm_ult_hand_over(task, worker);
}
