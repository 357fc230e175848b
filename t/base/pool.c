/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools: objects are distinct and aligned, batches go to and fro, the bound
 * holds, and threads may give back what others took.
 */
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define MANY 1000

static void *objects[MANY];

static int compare(const void *a, const void *b)
{
	const char *left = *(void *const *)a, *right = *(void *const *)b;

	return left < right ? -1 : left > right;
}

/* Whether n objects are disjoint pieces of at least `bytes` bytes. */
static bool disjoint(void **list, int n, size_t bytes)
{
	void **sorted = malloc((size_t)n * sizeof(void *));
	bool fine = true;

	memcpy(sorted, list, (size_t)n * sizeof(void *));
	qsort(sorted, (size_t)n, sizeof(void *), compare);
	for (int i = 0; i < n; i++) {
		fine = fine && (uintptr_t)sorted[i] % 64 == 0;
		if (i > 0)
			fine = fine &&
			       (char *)sorted[i] - (char *)sorted[i - 1] >=
				       (ptrdiff_t)bytes;
	}
	free(sorted);
	return fine;
}

/* The number of objects that the pool itself holds. */
static int pool_free_count(const struct vm_pool *pool)
{
	int count = 0;

	for (struct vm_pool_object *o = pool->free; o; o = o->next)
		count++;
	return count;
}

static void test_unbounded(void)
{
	struct vm_pool_cache cache;
	struct vm_pool pool;
	int missing = 0;

	vm_pool_init(&pool, "test", 100, 0);
	is_int((intmax_t)pool.object_bytes, 128, "objects fill cache lines");
	vm_pool_cache_init(&cache, &pool);
	for (int i = 0; i < MANY; i++) {
		objects[i] = vm_pool_get(&cache);
		if (objects[i])
			memset(objects[i], i, 100);
		else
			missing++;
	}
	is_int(missing, 0, "a pool without bound always gives");
	ok(disjoint(objects, MANY, 100), "objects are aligned and disjoint");
	is_int((intmax_t)pool.objects,
	       (MANY + VM_POOL_BATCH - 1) / VM_POOL_BATCH * VM_POOL_BATCH,
	       "memory grows by batches, and no more than needed");
	for (int i = 0; i < MANY; i++)
		vm_pool_put(&cache, objects[i]);
	ok(cache.count <= 2 * VM_POOL_BATCH,
	   "a cache keeps two batches at most (%u)", cache.count);
	is_int(pool_free_count(&pool) + (int)cache.count,
	       (intmax_t)pool.objects, "the rest is in the pool");
	vm_pool_cache_fini(&cache);
	is_int(pool_free_count(&pool), (intmax_t)pool.objects,
	       "a cache that ends hands everything back");
	vm_pool_fini(&pool);
	is_int((intmax_t)pool.objects, 0, "a pool that ends has nothing");
}

static void test_reuse(void)
{
	struct vm_pool_cache cache, second;
	struct vm_pool pool;
	void *object;

	vm_pool_init(&pool, "test", 64, 0);
	vm_pool_cache_init(&cache, &pool);
	vm_pool_cache_init(&second, &pool);
	object = vm_pool_get(&cache);
	vm_pool_put(&cache, object);
	ok(vm_pool_get(&cache) == object, "what came last goes first");
	vm_pool_put(&second, object);
	ok(vm_pool_get(&second) == object, "another cache may take it back");
	for (int i = 0; i < 20 * MANY; i++)
		vm_pool_put(&second, vm_pool_get(&cache));
	ok(pool.objects <= 6 * VM_POOL_BATCH,
	   "giving back elsewhere does not make a pool grow (%zu objects)",
	   pool.objects);
	vm_pool_put(&second, object);
	vm_pool_cache_fini(&cache);
	vm_pool_cache_fini(&second);
	vm_pool_fini(&pool);
}

static void test_bound(void)
{
	struct vm_pool_cache cache;
	struct vm_pool pool;
	int n = 0;

	vm_pool_init(&pool, "test", 64, 100);
	vm_pool_cache_init(&cache, &pool);
	while (n < MANY && (objects[n] = vm_pool_get(&cache)))
		n++;
	ok(n <= 100 && n > 100 - VM_POOL_BATCH,
	   "a pool of 100 gives at most that many (%d)", n);
	ok(!vm_pool_get(&cache), "and says no again");
	vm_pool_put(&cache, objects[0]);
	ok(vm_pool_get(&cache) == objects[0], "until something comes back");
	vm_pool_fini(&pool);
	vm_pool_init(&pool, "test", 64, 1);
	vm_pool_cache_init(&cache, &pool);
	ok(!vm_pool_get(&cache), "a bound below a batch is none at all");
	vm_pool_fini(&pool);
}

/* Threads take objects and leave them in shared places for each other. */
#define THREADS 4
#define PLACES 64
#define ROUNDS 200000

static _Atomic(void *) places[PLACES];
static _Atomic int torn;
static struct vm_pool shared;

struct stamp {
	struct vm_pool_object link;
	_Atomic int users;
};

static void *trade(void *arg)
{
	struct vm_pool_cache cache;
	unsigned random = (unsigned)(uintptr_t)arg * 2654435761u + 1;

	vm_pool_cache_init(&cache, &shared);
	for (int i = 0; i < ROUNDS; i++) {
		struct stamp *mine = vm_pool_get(&cache), *theirs;

		random = random * 1664525u + 1013904223u;
		atomic_store_explicit(&mine->users, 1, memory_order_relaxed);
		theirs = atomic_exchange_explicit(
			&places[random >> 20 & (PLACES - 1)], mine,
			memory_order_acq_rel);
		if (!theirs)
			continue;
		if (atomic_exchange_explicit(&theirs->users, 0,
					     memory_order_relaxed) != 1)
			torn++;
		vm_pool_put(&cache, theirs);
	}
	vm_pool_cache_fini(&cache);
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[THREADS];
	int left = 0;

	vm_pool_init(&shared, "shared", sizeof(struct stamp), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, trade, (void *)(i + 1)))
			bail("no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < PLACES; i++)
		left += places[i] != NULL;
	is_int(torn, 0, "no object is with two threads at a time");
	is_int(pool_free_count(&shared) + left, (intmax_t)shared.objects,
	       "and none is lost");
	vm_pool_fini(&shared);
}

int main(void)
{
	plan(17);
	test_unbounded();
	test_reuse();
	test_bound();
	test_threads();
	return done_testing();
}
