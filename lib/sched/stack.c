/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slabs of stacks and their guards.
 */
#include "sched/stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/own.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif
#if defined(VM_HAVE_VALGRIND)
#include <valgrind/memcheck.h>
#endif

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

#define PAGE ((size_t)4096)
#define TABLE_BYTES ((size_t)2 << 20) /* what a page of page tables covers */
#define SLAB_STACKS_FIRST 4
#define SLAB_STACKS_MAX 64
#define SLAB_BYTES_MAX ((size_t)1 << 30)

/* Of stacks whose size nobody has chosen: */
#define ALL_BYTES ((rlim_t)8 << 30)  /* of a process, together, */
#define EACH_BYTES ((rlim_t)1 << 20) /* but so much for each */
#define EACH_BYTES_LEAST ((rlim_t)64 << 10)
#define UNLIMITED_BYTES ((rlim_t)1 << 30)
#define CANARY UINT64_C(0x76d9c0a11ab1e5ed)
#define KEEP_BYTES (16 * PAGE) /* of a free stack */
#define MARKS 16	       /* in the lowest page of these */

struct vm_stack_slab {
	struct vm_stack_slab *next;
	size_t bytes;
	char *map;
	char *end; /* of the last stack */
};

/* Kept in the top of a free stack, which is resident anyway. */
struct vm_stack_free {
	struct vm_stack_free *next;
	struct vm_stack stack;
};

static size_t max_map_count(void)
{
	FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
	unsigned long count = 65530;

	if (file) {
		if (fscanf(file, "%lu", &count) != 1)
			count = 65530;
		fclose(file);
	}
	return count;
}

enum vm_guard vm_guard_probe(void)
{
	enum vm_guard guard = VM_GUARD_MPROTECT;
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return guard;
	if (madvise(page, PAGE, MADV_GUARD_INSTALL) == 0)
		guard = VM_GUARD_MADVISE;
	munmap(page, PAGE);
	return guard;
}

const char *vm_guard_name(enum vm_guard guard)
{
	static const char *const names[] = {
		[VM_GUARD_MADVISE] = "madvise(MADV_GUARD_INSTALL)",
		[VM_GUARD_MPROTECT] = "mprotect",
		[VM_GUARD_CANARY] = "canary",
	};

	return names[guard];
}

/* The soft limit; RLIM_INFINITY also if it is not known. */
static rlim_t limit_of(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

size_t vm_stack_bytes_of(int ranks)
{
	rlim_t each = limit_of(RLIMIT_STACK);
	rlim_t share = vm_own_space() / 4;

	if (share > ALL_BYTES)
		share = ALL_BYTES;
	share /= (rlim_t)(ranks > 0 ? ranks : 1);
	if (share < EACH_BYTES)
		share = EACH_BYTES;
	if (each == RLIM_INFINITY)
		each = UNLIMITED_BYTES;
	if (each > share)
		each = share;
	if (each < EACH_BYTES_LEAST)
		each = EACH_BYTES_LEAST;
	return (size_t)each & ~(PAGE - 1);
}

void vm_stack_pool_init(struct vm_stack_pool *pool, size_t bytes, size_t count)
{
	size_t maps = max_map_count();

	*pool = (struct vm_stack_pool){ 0 };
	vm_lock_init(&pool->lock);
	pool->bytes = (bytes + PAGE - 1) & ~(PAGE - 1);
	pool->stride = pool->bytes + VM_STACK_GUARD_BYTES;
	pool->guard = vm_guard_probe();
	pool->marks = pool->guard == VM_GUARD_MADVISE;
	/* A guard splits a mapping in two; half of the mappings are left for
	 * other uses, and more where there is another way. */
	pool->guards_max = maps / 4;
	if (count && count <= maps / 8)
		pool->guard = VM_GUARD_MPROTECT;
}

void vm_stack_pool_fini(struct vm_stack_pool *pool)
{
	while (pool->slabs) {
		struct vm_stack_slab *slab = pool->slabs;

		pool->slabs = slab->next;
		munmap(slab->map, slab->bytes);
		free(slab);
	}
	pool->free = NULL;
}

/* The number of stacks of the next slab: few ranks do not need the address
 * space of many, which may be limited, too. */
static size_t slab_stacks(const struct vm_stack_pool *pool)
{
	size_t count = pool->made;

	if (count < SLAB_STACKS_FIRST)
		count = SLAB_STACKS_FIRST;
	if (count > SLAB_STACKS_MAX)
		count = SLAB_STACKS_MAX;
	while (count > 1 && count * pool->stride > SLAB_BYTES_MAX)
		count /= 2;
	return count;
}

/* Where the first stack's guard lies in a mapping: so that the used pages at
 * the top of a stack of 1 MiB and the guard of the next one share a page of
 * page tables. */
static char *slab_first(char *map)
{
	uintptr_t base = (uintptr_t)map + VM_STACK_GUARD_BYTES;
	uintptr_t rest = base % TABLE_BYTES;

	return rest ? map + TABLE_BYTES - rest : map;
}

/* Adds a new slab; the lock is held. */
static int slab_add(struct vm_stack_pool *pool)
{
	struct vm_stack_slab *slab = malloc(sizeof(*slab));
	size_t count = slab_stacks(pool);

	if (!slab)
		return -VMPI_ENOMEM;
	for (;; count /= 2) {
		slab->bytes = count * pool->stride + TABLE_BYTES;
		slab->map = mmap(NULL, slab->bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
					 MAP_STACK,
				 -1, 0);
		if (slab->map != MAP_FAILED || count == 1)
			break;
	}
	if (slab->map == MAP_FAILED) {
		vm_log(VM_ERROR,
		       "no addresses for a stack of %zu KiB (%zu KiB with its "
		       "guard) after %zu of them (%s): fewer ranks, a smaller "
		       "--stack, or a larger ulimit -v, ulimit -d or "
		       "vm.max_map_count would do",
		       pool->bytes / 1024, pool->stride / 1024, pool->made,
		       strerror(errno));
		free(slab);
		return -VMPI_ELIMIT;
	}
	madvise(slab->map, slab->bytes, MADV_NOHUGEPAGE);
	pool->slab = slab_first(slab->map);
	pool->slab_end = slab->end = pool->slab + count * pool->stride;
	slab->next = pool->slabs;
	pool->slabs = slab;
	return 0;
}

/* Puts the best guard that is available below stack; the lock is held. */
static void guard_install(struct vm_stack_pool *pool, struct vm_stack *stack)
{
	char *guard = stack->base - VM_STACK_GUARD_BYTES;

	if (pool->guard == VM_GUARD_MPROTECT &&
	    (pool->made >= pool->guards_max ||
	     mprotect(guard, VM_STACK_GUARD_BYTES, PROT_NONE) != 0))
		pool->guard = pool->marks ? VM_GUARD_MADVISE : VM_GUARD_CANARY;
	if (pool->guard == VM_GUARD_MADVISE &&
	    madvise(guard, VM_STACK_GUARD_BYTES, MADV_GUARD_INSTALL) != 0)
		pool->guard = VM_GUARD_CANARY;
	stack->guard = pool->guard;
	if (stack->guard == VM_GUARD_CANARY)
		*(uint64_t *)(void *)stack->base = CANARY;
}

int vm_stack_get(struct vm_stack_pool *pool, struct vm_stack *stack)
{
	int rc = 0;

	vm_lock_take(&pool->lock);
	if (pool->free) {
		*stack = pool->free->stack;
		pool->free = pool->free->next;
		goto give;
	}
	if (pool->slab == pool->slab_end) {
		rc = slab_add(pool);
		if (rc)
			goto give;
	}
	stack->base = pool->slab + VM_STACK_GUARD_BYTES;
	stack->bytes = pool->bytes;
	pool->slab += pool->stride;
	guard_install(pool, stack);
	pool->made++;
give:
	vm_lock_give(&pool->lock);
	return rc;
}

/* Tools still take the frames of a task that has ended for live frames, or for
 * memory beyond the top of a stack. */
static void stack_unmark(const struct vm_stack *stack)
{
#if defined(__SANITIZE_ADDRESS__)
	__asan_unpoison_memory_region(stack->base, stack->bytes);
#endif
#if defined(VM_HAVE_VALGRIND)
	VALGRIND_MAKE_MEM_UNDEFINED(stack->base + sizeof(CANARY),
				    stack->bytes - sizeof(CANARY));
#endif
	(void)stack;
}

/*
 * Returns what lies below KEEP_BYTES to the system, unless it was not used since
 * that was done last: then the marks above it are whole.
 */
static void depth_free(const struct vm_stack *stack)
{
	size_t lowest = stack->guard == VM_GUARD_CANARY ? PAGE : 0;
	size_t below = stack->bytes - KEEP_BYTES;
	uint64_t *page = (void *)(stack->base + below);
	bool used = false;

#if defined(VM_HAVE_VALGRIND)
	VALGRIND_MAKE_MEM_DEFINED(page, PAGE);
#endif
	for (size_t i = 0; i < PAGE / sizeof(*page);
	     i += PAGE / sizeof(*page) / MARKS) {
		used |= page[i] != CANARY;
		page[i] = CANARY;
	}
	if (used)
		madvise(stack->base + lowest, below - lowest, MADV_DONTNEED);
}

void vm_stack_put(struct vm_stack_pool *pool, struct vm_stack *stack)
{
	struct vm_stack_free *entry =
		(void *)(stack->base + stack->bytes - sizeof(*entry));

	stack_unmark(stack);
	if (stack->bytes > KEEP_BYTES)
		depth_free(stack);
	entry->stack = *stack;
	vm_lock_take(&pool->lock);
	entry->next = pool->free;
	pool->free = entry;
	vm_lock_give(&pool->lock);
}

void vm_stack_of_thread(struct vm_stack *stack)
{
	pthread_attr_t attr;
	void *base;

	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &base, &stack->bytes))
		stack->base = base;
	pthread_attr_destroy(&attr);
}

bool vm_stack_overrun(const struct vm_stack *stack)
{
	return stack->guard == VM_GUARD_CANARY &&
	       *(const uint64_t *)(const void *)stack->base != CANARY;
}

bool vm_stack_left(const struct vm_stack_pool *pool,
		   const struct vm_stack *stack, const void *pointer)
{
	const char *at = pointer;

	if (vm_stack_guard_hit(stack, pointer))
		return true;
	if (!pool || at >= stack->base)
		return false;
	/* Slabs are only added while tasks run. */
	for (const struct vm_stack_slab *slab = pool->slabs; slab;
	     slab = slab->next)
		if (at >= slab->map && at < slab->end)
			return true;
	return false;
}
