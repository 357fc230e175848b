/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Task and deputy take turns by one word: what the one has written before it
 * sets the word, or wakes the task, the other sees.
 */
#include "deputy.h"

#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "core/image/tls.h"
#include "core/local/threads.h"
#include "fatal.h"
#include "node.h"
#include "real.h"
#include "sanitizer.h"
#include "sched/futex.h"
#include "sched/local.h"
#include "sched/thread.h"
#include "sched/topo.h"

#define STACK_SPARE (1u << 20) /* of an OS thread, beyond what a rank has */

/* Values of deputy.turn. */
enum { TURN_TASK, TURN_TASK_ASLEEP, TURN_DEPUTY, TURN_NONE };

struct deputy {
	struct deputy *next; /* of those without a task */
	struct vm_rank *rank;
	struct vm_worker *worker; /* of the deputy's OS thread */
	_Atomic uint32_t turn;
	/* The task's: */
	struct vm_ult *task;
	void (*run)(void *arg);
	void *arg;
	int errno_carried;
	fenv_t floating;
	locale_t locale;
	struct vm_image_tls *tls; /* of this worker: */
	const struct vm_worker *tls_of;
	char *locals; /* the blocks of sched/local.h */
};

static bool is_called(void *arg)
{
	const struct deputy *deputy = arg;

	/* Pairs with the exchange in turn_give(). */
	return atomic_load_explicit(&deputy->turn, memory_order_acquire) >=
	       TURN_DEPUTY;
}

/* Waits for the next turn; returns whether there is one. */
static bool turn_await(struct deputy *deputy)
{
	uint32_t turn = TURN_TASK;

	/* Not vm_ult_suspend(): an idle deputy does not look at the network. */
	if (!vm_thread_spin(deputy->worker, is_called, deputy))
		atomic_compare_exchange_strong(&deputy->turn, &turn,
					       TURN_TASK_ASLEEP);
	deputy->worker->spun = false;
	if (!is_called(deputy)) {
		vm_thread_away();
		while (!is_called(deputy))
			vm_futex_wait(&deputy->turn, TURN_TASK_ASLEEP, 0);
		vm_thread_back();
	}
	return atomic_load_explicit(&deputy->turn, memory_order_acquire) ==
	       TURN_DEPUTY;
}

static void turn_give(struct deputy *deputy, uint32_t turn)
{
	/* Pairs with the loads in is_called(). */
	if (atomic_exchange_explicit(&deputy->turn, turn,
				     memory_order_acq_rel) == TURN_TASK_ASLEEP)
		vm_futex_wake(&deputy->turn);
}

/* The calls of the rank's main task are observed, whichever thread makes
 * them. */
static void main_change(struct vm_rank *rank, struct vm_ult *from,
			struct vm_ult *to)
{
	atomic_compare_exchange_strong_explicit(&rank->main, &from, to,
						memory_order_relaxed,
						memory_order_relaxed);
}

/* One turn, on the deputy's thread. */
static void turn_take(struct deputy *deputy)
{
	struct vm_worker *worker = deputy->worker;
	locale_t locale = uselocale(deputy->locale);

	vm_image_tls_take(deputy->tls);
	vm_local_load(deputy->locals, worker->locals);
	fesetenv(&deputy->floating);
	worker->root.stands_for = deputy->task;
	main_change(deputy->rank, deputy->task, &worker->root);
	errno = deputy->errno_carried;
	sanitizer_acquire(deputy);
	deputy->run(deputy->arg);
	sanitizer_release(deputy);
	deputy->errno_carried = *worker->errno_address;
	main_change(deputy->rank, &worker->root, deputy->task);
	worker->root.stands_for = NULL;
	fegetenv(&deputy->floating);
	deputy->locale = uselocale(locale);
	vm_local_save(deputy->locals, worker->locals);
	vm_image_tls_return(deputy->tls);
}

/* A thread's destructors would end what the task still uses. */
static void locals_forget(struct deputy *deputy)
{
	char *fresh = malloc(vm_local_bytes() + 1);

	if (!fresh)
		return;
	vm_local_fresh(fresh);
	vm_local_load(fresh, deputy->worker->locals);
	free(fresh);
}

static void deputy_free(struct deputy *deputy)
{
	vm_image_tls_free(deputy->tls);
	free(deputy->locals);
	free(deputy);
}

static void left_early(void *arg)
{
	const struct deputy *deputy = arg;

	vm_node_abort(1,
		      "rank %d: the master thread of a parallel region has "
		      "ended in it, by pthread_exit() or pthread_cancel()",
		      deputy->rank->index);
}

static void *deputy_main(void *arg)
{
	struct deputy *deputy = arg;
	void *signals = fatal_thread_start();

	vm_topo_unbind();
	if (vm_thread_adopt(deputy->rank))
		vm_node_abort(1, "rank %d: out of memory for a thread",
			      deputy->rank->index);
	deputy->worker = vm_self->worker;
	vm_stack_of_thread(&vm_self->stack);
	vm_local_find(deputy->worker->locals);
	pthread_cleanup_push(left_early, deputy);
	while (turn_await(deputy)) {
		struct vm_ult *task = deputy->task;

		turn_take(deputy);
		atomic_store_explicit(&deputy->turn, TURN_TASK,
				      memory_order_relaxed);
		vm_ult_wake(task);
	}
	pthread_cleanup_pop(0);
	locals_forget(deputy);
	vm_thread_release();
	deputy_free(deputy);
	fatal_thread_end(signals);
	return NULL;
}

static struct deputy *deputy_new(struct vm_rank *rank)
{
	static _Atomic bool told;
	struct vm_image_copy *copy = rank->image;
	struct deputy *deputy = calloc(1, sizeof(*deputy));
	size_t stack = vm_node->stack_bytes + STACK_SPARE +
		       vm_image_static_tls(copy->image);
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	if (!deputy || !(deputy->locals = malloc(vm_local_bytes() + 1))) {
		free(deputy);
		return NULL;
	}
	deputy->rank = rank;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack);
	pthread_attr_setguardsize(&attr, VM_STACK_GUARD_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	error = REAL(pthread_create)(&thread, &attr, deputy_main, deputy);
	pthread_attr_destroy(&attr);
	if (!error)
		return deputy;
	if (!atomic_exchange_explicit(&told, true, memory_order_relaxed))
		vm_log(VM_WARN,
		       "rank %d: there is no thread for it (%s); while it "
		       "waits for threads of its own it blocks other ranks",
		       rank->index, strerror(error));
	deputy_free(deputy);
	return NULL;
}

/* One without a task, that has the variables of the caller's worker. */
static struct deputy *deputy_take(struct vm_rank *rank)
{
	struct vm_image_copy *copy = rank->image;
	struct deputy *deputy;

	vm_lock_take(&copy->deputies_lock);
	deputy = copy->deputies;
	if (deputy)
		copy->deputies = deputy->next;
	vm_lock_give(&copy->deputies_lock);
	if (!deputy)
		deputy = deputy_new(rank);
	if (!deputy || deputy->tls_of == vm_self->worker)
		return deputy;
	vm_image_tls_free(deputy->tls);
	deputy->tls = vm_image_tls_new(copy);
	if (!deputy->tls)
		vm_node_abort(1, "rank %d: out of memory for a thread",
			      rank->index);
	deputy->tls_of = vm_self->worker;
	return deputy;
}

static void deputy_put(struct deputy *deputy)
{
	struct vm_image_copy *copy = deputy->rank->image;

	vm_lock_take(&copy->deputies_lock);
	deputy->next = copy->deputies;
	copy->deputies = deputy;
	vm_lock_give(&copy->deputies_lock);
}

bool deputy_run(void (*run)(void *arg), void *arg)
{
	struct vm_rank *rank = vm_rank_self();
	struct deputy *deputy;
	int carried = errno;

	/* A child made by fork() has no other threads. */
	if (!node_is_job())
		return false;
	deputy = deputy_take(rank);
	if (!deputy)
		return false;
	deputy->task = vm_self;
	deputy->run = run;
	deputy->arg = arg;
	deputy->errno_carried = carried;
	deputy->locale = uselocale(NULL);
	fegetenv(&deputy->floating);
	vm_local_save(deputy->locals, vm_self->worker->locals);
	sanitizer_release(deputy);
	turn_give(deputy, TURN_DEPUTY);
	vm_ult_suspend();
	sanitizer_acquire(deputy);
	vm_local_load(deputy->locals, vm_self->worker->locals);
	fesetenv(&deputy->floating);
	uselocale(deputy->locale);
	carried = deputy->errno_carried;
	deputy_put(deputy);
	errno = carried;
	return true;
}

void deputies_end(struct vm_image_copy *copy)
{
	struct deputy *deputy;

	while ((deputy = copy->deputies)) {
		copy->deputies = deputy->next;
		turn_give(deputy, TURN_NONE);
	}
}

void thread_act_for(struct vm_rank *rank)
{
	if (vm_self && vm_self->owner == rank)
		return;
	if (vm_self)
		vm_thread_release();
	if (vm_thread_adopt(rank))
		vm_node_abort(1, "rank %d: out of memory for a thread",
			      rank->index);
}
