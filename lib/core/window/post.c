/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts and completions, counted at the member that waits for them.
 */
#include "core/window/post.h"

#include <stdlib.h>

#include "core/rank/wait.h"
#include "core/window/window.h"

/* What a task waits for: `count` of something of a window. */
struct wanted {
	struct vm_window *window;
	size_t from, members;
	/* Uses it up if it is there; under the window's lock. */
	bool (*take)(struct wanted *wanted);
};

static bool post_take(struct wanted *wanted)
{
	uint32_t *posts = wanted->window->posts;

	if (!posts || !posts[wanted->from])
		return false;
	posts[wanted->from]--;
	return true;
}

static bool completes_take(struct wanted *wanted)
{
	if (wanted->window->completes < wanted->members)
		return false;
	wanted->window->completes -= wanted->members;
	return true;
}

static bool wanted_test(struct wanted *wanted)
{
	bool there;

	vm_lock_take(&wanted->window->lock);
	there = wanted->take(wanted);
	vm_lock_give(&wanted->window->lock);
	return there;
}

static void wanted_wait(struct wanted *wanted)
{
	struct vm_window *window = wanted->window;
	struct vm_window_waiter waiter = { .ult = vm_self };

	for (;;) {
		bool there;

		vm_lock_take(&window->lock);
		there = wanted->take(wanted);
		if (!there)
			vm_list_append(&window->waiters, &waiter.link);
		vm_lock_give(&window->lock);
		if (there)
			return;
		vm_wait_other(VM_EXPORT_WAIT);
	}
}

/* Lets the window's tasks look again; lets its lock go. */
static void wake_and_give(struct vm_window *window)
{
	struct vm_list *link;

	/* A waiter is gone once its task runs. */
	while ((link = vm_list_pop(&window->waiters)))
		vm_ult_wake(vm_container_of(link, struct vm_window_waiter, link)
				    ->ult);
	vm_lock_give(&window->lock);
}

int vm_window_post(struct vm_window *window, size_t from)
{
	vm_lock_take(&window->lock);
	if (!window->posts)
		window->posts =
			calloc(window->team->size, sizeof(*window->posts));
	if (!window->posts) {
		vm_lock_give(&window->lock);
		return -VMPI_ENOMEM;
	}
	window->posts[from]++;
	wake_and_give(window);
	return 0;
}

void vm_window_post_wait(struct vm_window *window, size_t from)
{
	struct wanted wanted = { .window = window,
				 .from = from,
				 .take = post_take };

	wanted_wait(&wanted);
}

void vm_window_complete(struct vm_window *window)
{
	vm_lock_take(&window->lock);
	window->completes++;
	wake_and_give(window);
}

bool vm_window_complete_test(struct vm_window *window, size_t members)
{
	struct wanted wanted = { .window = window,
				 .members = members,
				 .take = completes_take };

	return wanted_test(&wanted);
}

void vm_window_complete_wait(struct vm_window *window, size_t members)
{
	struct wanted wanted = { .window = window,
				 .members = members,
				 .take = completes_take };

	wanted_wait(&wanted);
}
