/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting at a window.
 */
#include "core/window/wait.h"

#include "core/rank/wait.h"
#include "core/window/claim.h"
#include "sched/thread.h"

#define LOOKS 8 /* at a word between two polls of the network */

/* A task that waits; on its stack. */
struct waiter {
	struct vm_list link;
	struct vm_ult *ult;
};

static int wait_suspended(struct vm_window *window, bool (*come)(void *arg),
			  void *arg, const struct vmpi_chan *chan)
{
	struct waiter waiter = { .ult = vm_self };

	for (;;) {
		bool there, lost;

		vm_lock_take(&window->lock);
		there = come(arg);
		lost = window->lost;
		if (!there && !lost)
			vm_list_append(&window->waiters, &waiter.link);
		vm_lock_give(&window->lock);
		if (there)
			return 0;
		if (lost)
			return -VMPI_EPEER;
		if (chan)
			vm_wait_members(chan);
		else
			vm_wait_other(VM_EXPORT_WAIT);
	}
}

int vm_window_wait(struct vm_window *window, bool (*come)(void *arg), void *arg)
{
	return wait_suspended(window, come, arg, NULL);
}

void vm_window_wake(struct vm_window *window)
{
	struct vm_list *link;

	/* A waiter is gone once its task runs. */
	while ((link = vm_list_pop(&window->waiters)))
		vm_ult_wake(vm_container_of(link, struct waiter, link)->ult);
	vm_lock_give(&window->lock);
}

struct awaited {
	const _Atomic uint32_t *word;
	uint32_t wanted;
};

static bool has_come(void *arg)
{
	const struct awaited *awaited = arg;

	return vm_window_has_come(awaited->word, awaited->wanted);
}

/* Looks several times, as each look of a thread polls the network first. */
static bool comes_soon(void *arg)
{
	for (int i = 0; i < LOOKS; i++)
		if (has_come(arg))
			return true;
	return false;
}

/* Polls for a while; false: the caller had better suspend itself. */
static bool watch(struct awaited *awaited)
{
	struct vm_worker *worker = vm_self->worker;

	if (vm_sched.shared)
		return false;
	if (worker->index < 0)
		return vm_thread_spin(worker, comes_soon, awaited);
	return vm_ult_watch(awaited->word, awaited->wanted);
}

bool vm_window_watch(const _Atomic uint32_t *word, uint32_t wanted)
{
	struct awaited awaited = { word, wanted };

	return has_come(&awaited) || watch(&awaited);
}

int vm_window_await(struct vm_window *window, const _Atomic uint32_t *word,
		    uint32_t wanted, const struct vmpi_chan *chan)
{
	struct awaited awaited = { word, wanted };
	int rc;

	if (has_come(&awaited) || watch(&awaited))
		return 0;
	/* Pairs with the load in vm_window_told(): who changes the word sees
	 * this, or that is seen here. */
	atomic_fetch_add(&window->words->sleepers, 1);
	atomic_thread_fence(memory_order_seq_cst);
	rc = wait_suspended(window, has_come, &awaited, chan);
	atomic_fetch_sub(&window->words->sleepers, 1);
	return rc;
}

int vm_window_told(const struct vm_window_place *place)
{
	if (VM_LIKELY(!atomic_load(&place->words->sleepers)))
		return 0;
	if (!place->window)
		return VM_PENDING;
	vm_lock_take(&place->window->lock);
	vm_window_wake(place->window);
	return 0;
}

void vm_window_lose(struct vm_window *window)
{
	struct vm_window_team *team;

	vm_lock_take(&window->lock);
	window->lost = true;
	team = window->team;
	for (size_t i = 0; team && i < team->size; i++)
		if (team->places[i].updates)
			atomic_store_explicit(&team->places[i].updates->broken,
					      true, memory_order_relaxed);
	vm_window_claims_end(window);
	vm_window_wake(window);
}
