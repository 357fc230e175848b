/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks at addresses that can be told from others. */
#include "base/arena.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "tap.h"

#define MANY 100000

static struct vm_arena arena;
static void *blocks[MANY];

static void usual(void)
{
	char *one, *two;

	vm_arena_init(&arena, (size_t)1 << 30);
	ok(!vm_arena_has(&arena, NULL) && !vm_arena_has(&arena, &arena) &&
		   !vm_arena_has(&arena, (void *)UINTPTR_MAX),
	   "an arena has nothing at first");
	one = vm_arena_get(&arena, 100);
	two = vm_arena_get(&arena, 1);
	ok(vm_arena_has(&arena, one) && vm_arena_has(&arena, two),
	   "it has its blocks");
	ok(two - one >= 100 && (uintptr_t)one % VM_CACHELINE == 0,
	   "which do not overlap");
	ok(!vm_arena_has(&arena, one + 8), "nothing begins within a line");
	memset(one, 7, 100);
	vm_arena_put(&arena, one, 100);
	ok(vm_arena_has(&arena, one), "what was given back can be read");
	ok(vm_arena_get(&arena, 128) == one, "and is used again");
	for (int i = 0; i < MANY; i++)
		blocks[i] = vm_arena_get(&arena, 200);
	ok(blocks[MANY - 1] && vm_arena_has(&arena, blocks[MANY - 1]),
	   "it grows");
	memset(blocks[MANY - 1], 1, 200);
	vm_arena_fini(&arena);
}

/* More than was reserved. */
static void small(void)
{
	char *first, *last = NULL;

	vm_arena_init(&arena, (size_t)16 << 20);
	first = vm_arena_get(&arena, (size_t)10 << 20);
	last = vm_arena_get(&arena, (size_t)10 << 20);
	ok(first && last, "blocks beyond the addresses come from the heap");
	memset(last, 3, (size_t)10 << 20);
	ok(vm_arena_has(&arena, first) && vm_arena_has(&arena, last),
	   "and count as its own, as anything does then");
	vm_arena_fini(&arena);
	vm_arena_init(&arena, 4096);
	last = vm_arena_get(&arena, 64);
	ok(last && vm_arena_has(&arena, last), "also if none were reserved");
	vm_arena_fini(&arena);
}

/* Where addresses are limited, nothing is reserved. */
static void limited(void)
{
	struct rlimit before, few = { (rlim_t)256 << 20, RLIM_INFINITY };
	void *rest;

	getrlimit(RLIMIT_AS, &before);
	few.rlim_max = before.rlim_max;
	if (before.rlim_cur != RLIM_INFINITY || setrlimit(RLIMIT_AS, &few)) {
		skip(4, "addresses cannot be limited here");
		return;
	}
	vm_arena_init(&arena, (size_t)16 << 30);
	blocks[0] = vm_arena_get(&arena, 200);
	ok(vm_arena_has(&arena, blocks[0]) && !vm_arena_has(&arena, &arena),
	   "a limit smaller than the addresses does not matter");
	rest = mmap(NULL, (size_t)200 << 20, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ok(rest != MAP_FAILED, "almost all of it is left to others");
	for (int i = 1; i < MANY; i++)
		blocks[i] = vm_arena_get(&arena, 200);
	ok(blocks[MANY - 1] && vm_arena_has(&arena, blocks[MANY - 1]) &&
		   !vm_arena_has(&arena, &arena),
	   "it grows");
	munmap(rest, (size_t)200 << 20);
	vm_arena_fini(&arena);
	vm_arena_init(&arena, (size_t)16 << 30);
	ok(vm_arena_has(&arena, vm_arena_get(&arena, 64)),
	   "and gives all back at its end");
	vm_arena_fini(&arena);
	setrlimit(RLIMIT_AS, &before);
}

int main(void)
{
	usual();
	limited();
	small();
	return done_testing();
}
