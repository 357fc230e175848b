/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts and completions: words that only grow, and how much of them the member
 * has waited for.
 */
#include "core/window/post.h"

#include <stdlib.h>

#include "core/window/wait.h"

_Atomic uint32_t *vm_window_posts(struct vm_window *window)
{
	const struct vm_window_team *team = window->team;
	_Atomic uint32_t *shared = team->places[window->rank].posts, *row,
			 *none;

	if (shared)
		return shared;
	/* Pairs with the exchange of whoever makes it. */
	row = atomic_load_explicit(&window->posts, memory_order_acquire);
	if (row)
		return row;
	row = calloc(team->size, sizeof(*row));
	none = NULL;
	if (!row || atomic_compare_exchange_strong_explicit(
			    &window->posts, &none, row, memory_order_acq_rel,
			    memory_order_acquire))
		return row;
	free(row);
	return none;
}

int vm_window_post(const struct vm_window_place *place, size_t from)
{
	_Atomic uint32_t *posts =
		place->window ? vm_window_posts(place->window) : place->posts;

	if (!posts)
		return -VMPI_ENOMEM;
	atomic_fetch_add(&posts[from], 1);
	return vm_window_told(place);
}

int vm_window_post_wait(struct vm_window *window, size_t from,
			const struct vmpi_chan *chan)
{
	const _Atomic uint32_t *posts = vm_window_posts(window);
	int rc;

	if (posts && !window->posts_taken)
		window->posts_taken = calloc(window->team->size,
					     sizeof(*window->posts_taken));
	if (!posts || !window->posts_taken)
		return -VMPI_ENOMEM;
	rc = vm_window_await(window, &posts[from],
			     window->posts_taken[from] + 1, chan);
	if (rc == 0)
		window->posts_taken[from]++;
	return rc;
}

int vm_window_complete(const struct vm_window_place *place)
{
	atomic_fetch_add(&place->words->completes, 1);
	return vm_window_told(place);
}

bool vm_window_complete_test(struct vm_window *window, size_t members)
{
	uint32_t wanted = window->completes_taken + (uint32_t)members;

	if (!vm_window_has_come(&window->words->completes, wanted))
		return false;
	window->completes_taken = wanted;
	return true;
}

int vm_window_complete_wait(struct vm_window *window, size_t members)
{
	uint32_t wanted = window->completes_taken + (uint32_t)members;
	int rc = vm_window_await(window, &window->words->completes, wanted,
				 NULL);

	if (rc == 0)
		window->completes_taken = wanted;
	return rc;
}
