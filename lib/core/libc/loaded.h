/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dynamic linker's list of loaded objects (<link.h>).
 *
 * It compares what it is to load with everything in that list: an object that
 * is out of it is loaded anew.  Meanwhile no other thread may use the dynamic
 * linker.
 */
#ifndef CORE_LIBC_LOADED_H
#define CORE_LIBC_LOADED_H

#include <link.h>
#include <stddef.h>

/* Takes an object out of the list.  The first one, the program, stays. */
void vm_loaded_hide(struct link_map *map);

/* Puts objects that are out of the list at its end, in order; any: one that is
 * in it. */
void vm_loaded_show(struct link_map *any, struct link_map *const *maps,
		    size_t count);

#endif
