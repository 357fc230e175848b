/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of hooks, and calling them.
 *
 * A hook sees the end of a call if it saw its begin: hooks are numbered in the
 * order in which they were added, and a task notes the newest one when its call
 * begins.
 */
#include "core/instrument/hook.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/lock.h"
#include "core/instrument/intercept.h"
#include "core/rank/rank.h"
#include "sched/worker.h"
#include "vmpi.h"

struct vmpi_hook {
	vmpi_hook_fn enter, exit; /* or NULL */
	void *arg;
	uint32_t number;
};

#define STRIPES 16

/* Whoever runs hooks: on the line of the worker that it began on. */
struct stripe {
	_Atomic uint32_t inside;
} VM_ALIGNED(VM_CACHELINE);

/* There are hooks before there is a node: of tools that are loaded with it. */
static struct {
	struct vm_lock lock; /* orders threads that add and remove */
	_Atomic uint32_t newest;
	_Atomic(struct vmpi_hook *) list[VM_HOOKS_MAX];
	struct stripe stripes[STRIPES];
} hooks;

static struct stripe *hooks_begin(struct vm_ult *self)
{
	unsigned worker = (unsigned)self->worker->index;
	struct stripe *stripe = &hooks.stripes[worker % STRIPES];

	self->observed |= VM_INTERCEPT_INSIDE;
	/* Before the list is read: pairs with hooks_wait(). */
	atomic_fetch_add(&stripe->inside, 1);
	return stripe;
}

static void hooks_end(struct vm_ult *self, struct stripe *stripe)
{
	atomic_fetch_sub_explicit(&stripe->inside, 1, memory_order_release);
	self->observed &= (uint16_t)~VM_INTERCEPT_INSIDE;
}

void vm_hook_enter(struct vm_rank *rank, uint32_t call)
{
	struct vm_ult *self = vm_self;
	struct stripe *stripe;

	if (!rank)
		return;
	self->hooks_from =
		atomic_load_explicit(&hooks.newest, memory_order_relaxed);
	stripe = hooks_begin(self);
	for (int i = 0; i < VM_HOOKS_MAX; i++) {
		const struct vmpi_hook *hook = atomic_load(&hooks.list[i]);

		if (hook && hook->enter &&
		    (int32_t)(hook->number - self->hooks_from) <= 0)
			hook->enter(rank->index, (int)call, hook->arg);
	}
	hooks_end(self, stripe);
}

void vm_hook_exit(struct vm_rank *rank, uint32_t call)
{
	struct vm_ult *self = vm_self;
	struct stripe *stripe;

	if (!rank)
		return;
	stripe = hooks_begin(self);
	for (int i = VM_HOOKS_MAX; i-- > 0;) {
		const struct vmpi_hook *hook = atomic_load(&hooks.list[i]);

		if (hook && hook->exit &&
		    (int32_t)(hook->number - self->hooks_from) <= 0)
			hook->exit(rank->index, (int)call, hook->arg);
	}
	hooks_end(self, stripe);
}

/* Under lock; false: there is no room. */
static bool list_add(struct vmpi_hook *hook)
{
	int free_at = 0;

	while (free_at < VM_HOOKS_MAX && atomic_load(&hooks.list[free_at]))
		free_at++;
	if (free_at == VM_HOOKS_MAX)
		return false;
	hook->number =
		atomic_load_explicit(&hooks.newest, memory_order_relaxed) + 1;
	/* A task that sees the number sees the hook. */
	atomic_store(&hooks.list[free_at], hook);
	atomic_store(&hooks.newest, hook->number);
	vm_intercept_set(VM_INTERCEPT_HOOKS);
	return true;
}

/* Under lock; false: it is none. */
static bool list_remove(const struct vmpi_hook *hook)
{
	bool found = false, any = false;

	for (int i = 0; i < VM_HOOKS_MAX; i++) {
		struct vmpi_hook *other = atomic_load(&hooks.list[i]);

		found = found || other == hook;
		if (other == hook)
			atomic_store(&hooks.list[i], NULL);
		else
			any = any || other;
	}
	if (!any)
		vm_intercept_clear(VM_INTERCEPT_HOOKS);
	return found;
}

static void moment_pass(void)
{
	if (vm_self)
		vm_ult_yield();
	else
		vm_cpu_yield();
}

/* Waits until no task is in a hook that it may have found in the list.  May
 * switch. */
static void hooks_wait(void)
{
	for (int i = 0; i < STRIPES; i++)
		while (atomic_load(&hooks.stripes[i].inside))
			moment_pass();
}

int vmpi_hook_add(vmpi_hook **out, vmpi_hook_fn enter, vmpi_hook_fn exit,
		  void *arg)
{
	struct vmpi_hook *hook;
	bool added;

	if (!out || (!enter && !exit))
		return -VMPI_EINVAL;
	hook = malloc(sizeof(*hook));
	if (!hook)
		return -VMPI_ENOMEM;
	*hook = (struct vmpi_hook){ .enter = enter, .exit = exit, .arg = arg };
	vm_lock_take(&hooks.lock);
	added = list_add(hook);
	vm_lock_give(&hooks.lock);
	if (!added) {
		free(hook);
		return -VMPI_ELIMIT;
	}
	*out = hook;
	return 0;
}

int vmpi_hook_remove(vmpi_hook **hook)
{
	bool found;

	if (!hook || !*hook)
		return -VMPI_EINVAL;
	/* It would wait for itself. */
	if (vm_self && (vm_self->observed & VM_INTERCEPT_INSIDE))
		return -VMPI_ESTATE;
	vm_lock_take(&hooks.lock);
	found = list_remove(*hook);
	vm_lock_give(&hooks.lock);
	if (!found)
		return -VMPI_EINVAL;
	hooks_wait();
	free(*hook);
	*hook = NULL;
	return 0;
}

const char *vmpi_call_name(int call)
{
	const char *name;

	if (call < 0 || call >= vmpi_call_count())
		return NULL;
	name = vm_intercept_call_name((uint32_t)call);
	return strcmp(name, "none") == 0 ? NULL : name;
}

int vmpi_call_count(void)
{
	return (int)vm_intercept_call_count();
}
