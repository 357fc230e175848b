/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The attached memory of a window: an array in the order of addresses.
 */
#include "core/window/region.h"

#include <stdlib.h>
#include <string.h>

#include "core/window/window.h"

/* The first region that ends behind an address; under the lock. */
static size_t region_after(const struct vm_window *window, uintptr_t address)
{
	size_t low = 0, high = window->region_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct vm_window_region *r = &window->regions[middle];

		if (r->base + r->bytes <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool room_make(struct vm_window *window)
{
	size_t room = window->region_room ? 2 * window->region_room : 8;
	struct vm_window_region *regions;

	if (window->region_count < window->region_room)
		return true;
	regions = realloc(window->regions, room * sizeof(*regions));
	if (!regions)
		return false;
	window->regions = regions;
	window->region_room = room;
	return true;
}

static int insert(struct vm_window *window, uintptr_t base, size_t bytes)
{
	size_t at = region_after(window, base);
	struct vm_window_region *r = window->regions + at;
	size_t behind = window->region_count - at;

	if (behind && (r->base < base || r->base - base < bytes))
		return -VMPI_EINVAL;
	if (!room_make(window))
		return -VMPI_ENOMEM;
	r = window->regions + at;
	memmove(r + 1, r, behind * sizeof(*r));
	*r = (struct vm_window_region){ base, bytes };
	window->region_count++;
	return 0;
}

int vm_window_attach(struct vm_window *window, const void *base, size_t bytes)
{
	int rc = 0;

	vm_lock_take(&window->lock);
	if (bytes)
		rc = insert(window, (uintptr_t)base, bytes);
	vm_lock_give(&window->lock);
	return rc;
}

int vm_window_detach(struct vm_window *window, const void *base)
{
	size_t at, behind;
	int rc = -VMPI_ENOENT;

	vm_lock_take(&window->lock);
	at = region_after(window, (uintptr_t)base);
	behind = window->region_count - at;
	if (behind && window->regions[at].base == (uintptr_t)base) {
		memmove(&window->regions[at], &window->regions[at + 1],
			(behind - 1) * sizeof(window->regions[0]));
		window->region_count--;
		rc = 0;
	}
	vm_lock_give(&window->lock);
	return rc;
}

bool vm_window_attached(struct vm_window *window, uintptr_t from, size_t bytes)
{
	size_t at;

	vm_lock_take(&window->lock);
	at = region_after(window, from);
	for (; bytes && at < window->region_count; at++) {
		const struct vm_window_region *r = &window->regions[at];
		size_t here;

		if (r->base > from)
			break;
		here = r->bytes - (from - r->base);
		if (here > bytes)
			here = bytes;
		from += here;
		bytes -= here;
	}
	vm_lock_give(&window->lock);
	return bytes == 0;
}
