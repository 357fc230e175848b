/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts and completions, counted at the member that waits for them.
 */
#include "core/window/post.h"

#include <stdlib.h>

#include "core/window/wait.h"
#include "core/window/window.h"

/* What a task waits for. */
struct wanted {
	struct vm_window *window;
	size_t from, members;
};

/* Use it up if it is there; under the window's lock. */
static bool post_take(void *arg)
{
	const struct wanted *wanted = arg;
	uint32_t *posts = wanted->window->posts;

	if (!posts || !posts[wanted->from])
		return false;
	posts[wanted->from]--;
	return true;
}

static bool completes_take(void *arg)
{
	const struct wanted *wanted = arg;

	if (wanted->window->completes < wanted->members)
		return false;
	wanted->window->completes -= wanted->members;
	return true;
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
	vm_window_wake(window);
	return 0;
}

int vm_window_post_wait(struct vm_window *window, size_t from)
{
	struct wanted wanted = { .window = window, .from = from };

	return vm_window_wait(window, post_take, &wanted);
}

void vm_window_complete(struct vm_window *window)
{
	vm_lock_take(&window->lock);
	window->completes++;
	vm_window_wake(window);
}

bool vm_window_complete_test(struct vm_window *window, size_t members)
{
	struct wanted wanted = { .window = window, .members = members };
	bool there;

	vm_lock_take(&window->lock);
	there = completes_take(&wanted);
	vm_lock_give(&window->lock);
	return there;
}

int vm_window_complete_wait(struct vm_window *window, size_t members)
{
	struct wanted wanted = { .window = window, .members = members };

	return vm_window_wait(window, completes_take, &wanted);
}
