/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list like the dynamic linker's.
 */
#include "core/libc/loaded.h"

#include "tap.h"

#define COUNT 4

static bool is_list(struct link_map *const *maps, int count)
{
	for (int i = 0; i < count; i++)
		if (maps[i]->l_next != (i + 1 < count ? maps[i + 1] : NULL) ||
		    maps[i]->l_prev != (i ? maps[i - 1] : NULL))
			return false;
	return true;
}

int main(void)
{
	struct link_map a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
	struct link_map *hidden[] = { &b, &d };

	vm_loaded_show(&a, (struct link_map *[]){ &b, &c, &d }, 3);
	ok(is_list((struct link_map *[]){ &a, &b, &c, &d }, COUNT),
	   "objects are added at the end, in order");
	vm_loaded_hide(&d);
	ok(is_list((struct link_map *[]){ &a, &b, &c }, 3),
	   "the last one is taken out");
	vm_loaded_hide(&b);
	ok(is_list((struct link_map *[]){ &a, &c }, 2),
	   "and one in the middle");
	vm_loaded_show(&a, hidden, 2);
	ok(is_list((struct link_map *[]){ &a, &c, &b, &d }, COUNT),
	   "they come back at the end");
	vm_loaded_show(&c, hidden, 0);
	ok(is_list((struct link_map *[]){ &a, &c, &b, &d }, COUNT),
	   "none changes nothing");
	return done_testing();
}
