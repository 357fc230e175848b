/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that one call leaves to the next, of two calls at a time, and more than
 * is kept.
 */
#include "core/rank/kept.h"

#include <stdint.h>
#include <string.h>

#include "tap.h"

enum { SMALL = 100, LARGE = 1 << 20, HUGE_ONE = 64 << 20 };

/* Uses so much of it, and so much again. */
static char *use(struct vm_kept *kept, size_t first, size_t second)
{
	char *a = vm_kept_get(kept, first), *b = vm_kept_get(kept, second);

	if (!a || !b)
		bail("no memory");
	memset(a, 1, first);
	memset(b, 2, second);
	ok(a[0] == 1 && a[first - 1] == 1 && b[0] == 2 && b[second - 1] == 2,
	   "%zu and %zu bytes are two pieces", first, second);
	ok((uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0,
	   "which begin at cache lines");
	return a;
}

int main(void)
{
	struct vm_kept one = { 0 }, other = { 0 };
	char *first;

	vm_kept_end(&one);
	use(&one, SMALL, LARGE);
	vm_kept_end(&one);
	first = use(&one, SMALL, LARGE);
	use(&other, SMALL, SMALL);
	vm_kept_end(&one);
	ok(use(&one, LARGE, SMALL) == first, "the next call gets the same");
	vm_kept_end(&one);
	vm_kept_end(&other);
	use(&one, SMALL, HUGE_ONE);
	vm_kept_end(&one);
	ok(!vm_kept_get(&one, SIZE_MAX - 10), "there is an end of memory");
	vm_kept_end(&one);
	vm_kept_drop();
	use(&one, SMALL, SMALL);
	vm_kept_end(&one);
	vm_kept_drop();
	return done_testing();
}
