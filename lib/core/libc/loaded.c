/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * l_next and l_prev are public, for debuggers to read.
 */
#include "core/libc/loaded.h"

void vm_loaded_hide(struct link_map *map)
{
	map->l_prev->l_next = map->l_next;
	if (map->l_next)
		map->l_next->l_prev = map->l_prev;
}

void vm_loaded_show(struct link_map *any, struct link_map *const *maps,
		    size_t count)
{
	struct link_map *last = any;

	while (last->l_next)
		last = last->l_next;
	for (size_t i = 0; i < count; i++) {
		last->l_next = maps[i];
		maps[i]->l_prev = last;
		maps[i]->l_next = NULL;
		last = maps[i];
	}
}
