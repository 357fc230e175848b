/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends of windows, and their teams.
 */
#include "core/window/window.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/rank/state.h"

struct vm_window_team *vm_window_team_new(size_t size)
{
	struct vm_window_team *team = NULL;
	size_t bytes;

	if (__builtin_mul_overflow(size, sizeof(team->places[0]), &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(*team), &bytes))
		return NULL;
	team = calloc(1, bytes);
	if (!team)
		return NULL;
	atomic_init(&team->refs, 1);
	team->size = size;
	return team;
}

void vm_window_team_drop(struct vm_window_team *team)
{
	/* Release our accesses, acquire everyone's before the memory goes. */
	if (!team || atomic_fetch_sub_explicit(&team->refs, 1,
					       memory_order_acq_rel) != 1)
		return;
	for (size_t i = 0; i < team->map_count; i++)
		munmap(team->maps[i].base, team->maps[i].bytes);
	free(team->maps);
	free(team->memory);
	free(team);
}

void vm_window_common_init(struct vm_window_common *common, bool processes)
{
	atomic_init(&common->words.locks, 0);
	atomic_init(&common->words.completes, 0);
	atomic_init(&common->words.sleepers, 0);
	atomic_init(&common->locked, processes);
	atomic_init(&common->broken, false);
	vm_lock_init(&common->update);
	common->processes = processes;
}

struct vm_window *vm_window_new(struct vm_rank *owner, size_t rank)
{
	struct vm_window *window =
		aligned_alloc(VM_CACHELINE, sizeof(struct vm_window));

	if (!window)
		return NULL;
	*window = (struct vm_window){ .owner = owner, .rank = rank };
	vm_lock_init(&window->lock);
	window->common = &window->own_common;
	window->words = &window->own_common.words;
	vm_window_common_init(window->common, false);
	vm_list_init(&window->claims);
	vm_list_init(&window->waiters);
	vm_list_init(&window->questions);
	return window;
}

void vm_window_free(struct vm_window *window)
{
	VM_ASSERT(vm_list_empty(&window->claims));
	if (window->number)
		vm_id_table_take(&vm_node->windows, window->number);
	vm_window_team_drop(window->team);
	free(window->own);
	free(atomic_load_explicit(&window->posts, memory_order_relaxed));
	free(window->posts_taken);
	free(window->far);
	free(window->regions);
	free(window);
}

void *vm_window_memory(size_t bytes, size_t align)
{
	void *memory = NULL;

	if (align < VM_CACHELINE)
		align = VM_CACHELINE;
	if (!bytes || posix_memalign(&memory, align, bytes) != 0)
		return NULL;
	return memory;
}
