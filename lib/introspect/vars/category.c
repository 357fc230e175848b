/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables behind the enums.
 */
#include "introspect/vars/category.h"

#include <string.h>

#include "introspect/vars/pvar.h"
#include "introspect/vars/cvar.h"

static const struct vm_category_view categories[] = {
#define CATEGORY(token, parent_, text_) \
	{ .name = #token, .text = (text_), .parent = VM_CATEGORY_##parent_ },
	VM_CATEGORIES(CATEGORY)
#undef CATEGORY
};

bool vm_category_info(int number, struct vm_category_view *view)
{
	if (number < 0 || number >= VM_CATEGORY_end)
		return false;
	*view = categories[number];
	return true;
}

int vm_category_find(const char *name)
{
	for (int i = 0; i < VM_CATEGORY_end; i++) {
		if (strcmp(categories[i].name, name) == 0)
			return i;
	}
	return -1;
}

bool vm_category_in(enum vm_category category, enum vm_category outer)
{
	while (category != outer && category != VM_CATEGORY_none)
		category = categories[category].parent;
	return category == outer;
}

const char *vm_level_name(enum vm_level level)
{
	static const char *const names[] = {
#define LEVEL_NAME(token, text) [VM_LEVEL_##token] = text,
		VM_LEVELS(LEVEL_NAME)
#undef LEVEL_NAME
	};

	return names[level];
}

unsigned vm_vars_stamp(void)
{
	/* Tables are never taken away, so the sum never repeats itself. */
	return (unsigned)(vm_cvar_count() + vm_pvar_count());
}
