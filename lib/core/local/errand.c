/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of those that wait; their tasks know the numbers only, since an errand
 * may be over, or be another one, when its task begins.
 */
#include "core/local/errand.h"

#include "base/clock.h"
#include "core/local/task.h"
#include "sched/worker.h"
#include "core/local/threads.h"
#include "core/rank/wait.h"
#include "sched/clocks.h"

/* The worker of most ranks begins the task before, when they wait. */
#define WAITS_NS 50000

/* A rank that waits later for what it has started computes meanwhile, as does one
 * whose errand a helper has taken: so many of the next ones are not left to it. */
#define EAGER 16

/* A thread computes that has polled less often between two looks of its worker. */
#define STEPS_FEW 8

/* It is the caller's, or somebody else has it: NULL. */
static struct vm_errand *errand_claim(uint64_t id)
{
	struct vm_errand *errand =
		vm_id_table_take(&vm_node->errands.table, id);

	if (errand)
		atomic_fetch_sub(&vm_node->errands.waiting, 1);
	return errand;
}

/* Counts of several threads may get lost. */
static void eager_set(unsigned eager)
{
	atomic_store_explicit(&vm_node->errands.eager, eager,
			      memory_order_relaxed);
}

static unsigned eager_get(void)
{
	return atomic_load_explicit(&vm_node->errands.eager,
				    memory_order_relaxed);
}

/* Whether the next one is not to be left. */
static bool eager_take(void)
{
	unsigned eager = eager_get();

	if (eager)
		eager_set(eager - 1);
	return eager;
}

/* The numbers of kept ones; no other has this bit. */
#define KEPT ((uint64_t)1 << 63)

/* Puts a kept one behind the others. */
uint64_t vm_errand_keep(struct vm_errand *errand)
{
	struct vm_rank *rank = vm_rank_self();
	struct vm_errand *last;

	errand->rank = rank;
	errand->helped = false;
	errand->next = NULL;
	vm_lock_take(&rank->kept_lock);
	last = atomic_load_explicit(&rank->kept, memory_order_relaxed);
	while (last && last->next)
		last = last->next;
	errand->id = KEPT | (last ? last->id + 1 : 0);
	if (last)
		last->next = errand;
	else
		atomic_store_explicit(&rank->kept, errand,
				      memory_order_relaxed);
	vm_lock_give(&rank->kept_lock);
	return errand->id;
}

/* Takes out the one behind `before`, or the first; the lock is held. */
static void kept_remove(struct vm_rank *rank, struct vm_errand *before,
			struct vm_errand *errand)
{
	if (before)
		before->next = errand->next;
	else
		atomic_store_explicit(&rank->kept, errand->next,
				      memory_order_relaxed);
}

/* The kept one of a number, 0: the first one; or NULL. */
static struct vm_errand *kept_take(uint64_t id)
{
	struct vm_rank *rank = vm_rank_self();
	struct vm_errand *errand, *before = NULL;

	vm_lock_take(&rank->kept_lock);
	errand = atomic_load_explicit(&rank->kept, memory_order_relaxed);
	for (; errand && id && errand->id != id; errand = errand->next)
		before = errand;
	if (errand)
		kept_remove(rank, before, errand);
	vm_lock_give(&rank->kept_lock);
	return errand;
}

/* The first that is not to wait any longer, or NULL. */
static struct vm_errand *ripe_take(struct vm_rank *rank,
				   enum vm_errand_ripe *how)
{
	struct vm_errand *errand, *before = NULL;

	vm_lock_take(&rank->kept_lock);
	errand = atomic_load_explicit(&rank->kept, memory_order_relaxed);
	for (; errand; before = errand, errand = errand->next) {
		*how = errand->ripe(errand);
		if (*how != VM_ERRAND_WAITS)
			break;
	}
	if (errand)
		kept_remove(rank, before, errand);
	vm_lock_give(&rank->kept_lock);
	return errand;
}

/* Does it for the rank, which has come to it. */
static void errand_do_own(uint64_t id)
{
	struct vm_errand *errand = errand_claim(id);

	if (!errand)
		return;
	if (vm_clock_ns() - errand->since_ns >= WAITS_NS)
		eager_set(EAGER);
	errand->run(errand);
}

void vm_errand_do(uint64_t id)
{
	uint64_t left = id;

	if (id & KEPT) {
		struct vm_errand *errand = kept_take(id);

		if (errand)
			errand->run(errand);
		return;
	}
	if (vm_errands_left() == id)
		atomic_compare_exchange_strong(&vm_node->errands.left, &left,
					       0);
	errand_do_own(id);
}

static int errand_task(void *id)
{
	struct vm_errand *errand = errand_claim((uintptr_t)id);

	if (errand)
		errand->run(errand);
	return 0;
}

static int errand_steps(void *id)
{
	errand_do_own((uintptr_t)id);
	return 0;
}

static bool task_begin(uint64_t id)
{
	struct vm_ult *task;

	if (vm_task_new_deep(&task, errand_task, (void *)id))
		return false;
	vm_ult_detach(task);
	return true;
}

static void left_begin(void)
{
	uint64_t id = atomic_exchange(&vm_node->errands.left, 0);

	/* Without memory it is left to a helper. */
	if (id)
		task_begin(id);
}

static void stepped_hand_over(void)
{
	struct vm_ult *task = atomic_exchange(&vm_node->errands.stepped, NULL);

	if (task)
		vm_task_hand_over(task);
}

void vm_errands_begin(void)
{
	left_begin();
	stepped_hand_over();
}

static uint32_t steps_get(void)
{
	return atomic_load_explicit(&vm_node->errands.steps,
				    memory_order_relaxed);
}

/* For others to see, or if there is one of another thread for the worker. */
static void stepped_put(struct vm_ult *task)
{
	struct vm_ult *none = NULL;

	if (!atomic_compare_exchange_strong(&vm_node->errands.stepped, &none,
					    task))
		vm_task_hand_over(task);
}

static struct vm_ult *stepped_new(void)
{
	uint64_t id = atomic_exchange(&vm_node->errands.left, 0);
	struct vm_ult *task;

	if (!id || vm_task_new_steps(&task, errand_steps, (void *)id))
		return NULL;
	__atomic_fetch_add(&vm_node->pvars.errands_stepped, 1,
			   __ATOMIC_RELAXED);
	atomic_fetch_add(&vm_node->errands.steps_begun, 1);
	return task;
}

bool vm_errands_step(void)
{
	const struct vm_worker *worker = vm_self->worker;
	struct vm_ult *task;
	bool did;

	/* Other threads may end, and who takes the time of a switch knows tasks
	 * of workers. */
	if (!vm_wait_rank() || vm_sched_observed()) {
		left_begin();
		return false;
	}
	task = atomic_exchange(&vm_node->errands.stepped, NULL);
	if (task)
		left_begin(); /* one at a time */
	else
		task = stepped_new();
	if (!task)
		return false;
	atomic_store_explicit(&vm_node->errands.steps, steps_get() + 1,
			      memory_order_relaxed);
	did = task->worker == worker && vm_ult_step(task);
	if (did && vm_ult_has_ended(task))
		vm_ult_detach(task);
	else
		stepped_put(task);
	return did;
}

void vm_errands_take_over(struct vm_errand_seen *seen, bool computes)
{
	uint32_t begun = atomic_load_explicit(&vm_node->errands.steps_begun,
					      memory_order_relaxed);
	uint32_t steps = steps_get();

	if (computes ||
	    (seen->steps_begun == begun && steps - seen->steps < STEPS_FEW)) {
		eager_set(EAGER);
		stepped_hand_over();
	}
	seen->steps_begun = begun;
	seen->steps = steps;
}

/* Leaves an errand to who waits for it; the one that was left before begins. */
static void errand_leave(uint64_t id)
{
	uint64_t before = atomic_exchange(&vm_node->errands.left, id);

	if (before)
		task_begin(before);
	/* A worker that sleeps as the watcher does not look for it: pairs with
	 * the store in sleep_watching(). */
	if (atomic_load(&vm_node->progress.poller))
		vm_errands_begin();
}

/* Its number; 0: there is no memory, and it has been done. */
static uint64_t errand_begin(struct vm_errand *errand)
{
	uint64_t id;

	VM_STATIC_ASSERT(sizeof(uintptr_t) >= sizeof(id),
			 "a number fits a task's argument");
	errand->rank = vm_rank_self();
	errand->since_ns = vm_clock_ns();
	errand->helped = false;
	atomic_fetch_add(&vm_node->errands.waiting, 1);
	id = vm_id_table_new(&vm_node->errands.table, errand, &errand->id);
	if (!id) {
		atomic_fetch_sub(&vm_node->errands.waiting, 1);
		errand->run(errand);
	}
	return id;
}

static void errand_give(struct vm_errand *errand)
{
	uint64_t id = errand_begin(errand);

	if (id && !task_begin(id))
		vm_errand_do(id);
}

bool vm_errands_reap(void)
{
	struct vm_rank *rank = vm_rank_self();
	struct vm_errand *errand;
	enum vm_errand_ripe how;
	bool did = false;

	while ((errand = ripe_take(rank, &how))) {
		if (VM_LIKELY(how == VM_ERRAND_RIPE))
			errand->run(errand);
		else
			errand_give(errand);
		did = true;
	}
	return did;
}

void vm_errands_give(void)
{
	struct vm_errand *errand;

	while ((errand = kept_take(0)))
		errand_give(errand);
}

uint64_t vm_errand_start(struct vm_errand *errand, bool later)
{
	uint64_t id = errand_begin(errand);

	if (!id)
		return 0;
	if (later && vm_sched.hooks.thread_sleep && !eager_take()) {
		errand_leave(id);
	} else if (!task_begin(id)) {
		vm_errand_do(id);
	}
	return id;
}

static uint64_t errand_any(uint64_t id, void *op, void *arg)
{
	(void)op;
	(void)arg;
	return id;
}

bool vm_errands_look(struct vm_errand_seen *seen)
{
	uint64_t now = vm_clock_ns();
	uint64_t id =
		vm_id_table_each(&vm_node->errands.table, errand_any, NULL);
	bool called = false;

	if (!id)
		return false;
	if (id != seen->id) {
		seen->id = id;
		seen->since_ns = now;
		return false;
	}
	/* One at a time: it may be about to begin. */
	if (now - seen->since_ns < WAITS_NS ||
	    !atomic_compare_exchange_strong(&vm_node->errands.called, &called,
					    true))
		return false;
	vm_node->errands.help();
	return true;
}

void vm_errand_take(void)
{
	struct vm_errand *errand;

	atomic_store(&vm_node->errands.called, false);
	errand = errand_claim(
		vm_id_table_each(&vm_node->errands.table, errand_any, NULL));
	if (!errand)
		return;
	__atomic_fetch_add(&vm_node->pvars.errands_helped, 1, __ATOMIC_RELAXED);
	errand->helped = true;
	eager_set(EAGER);
	vm_thread_act(errand->rank);
	errand->run(errand);
	vm_thread_act_end();
}
