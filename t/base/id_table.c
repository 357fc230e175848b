/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers for operations: they find what they were given for, once, and nothing
 * when they are over or made up.
 */
#include <pthread.h>

#include "base/id_table.h"
#include "tap.h"

#define COUNT 1000 /* the table grows four times */
#define THREADS 4
#define ROUNDS 20000

static struct vm_id_table table;

static void test_one(void)
{
	uint64_t id, stored, again;
	int op;

	id = vm_id_table_new(&table, &op, &stored);
	ok(id != 0 && id == stored, "a number is not 0 and is stored");
	ok(vm_id_table_find(&table, id) == &op, "it finds the operation");
	ok(vm_id_table_take(&table, id) == &op,
	   "who takes it gets the operation");
	ok(!vm_id_table_take(&table, id), "once");
	ok(!vm_id_table_find(&table, id), "then it finds nothing");
	again = vm_id_table_new(&table, &op, &stored);
	ok(again != id, "the entry gets another number when it is used again");
	ok(!vm_id_table_take(&table, id),
	   "and the old one still finds nothing");
	ok(vm_id_table_take(&table, again) == &op, "unlike the new one");
	ok(!vm_id_table_find(&table, 0) && !vm_id_table_take(&table, 0),
	   "0 finds nothing");
	ok(!vm_id_table_find(&table, UINT64_MAX) &&
		   !vm_id_table_find(&table, UINT64_C(1) << 32),
	   "nor do numbers nobody gave");
}

static uint64_t is_op(uint64_t id, void *op, void *arg)
{
	return op == arg ? id : 0;
}

static void test_many(void)
{
	static int ops[COUNT];
	static uint64_t ids[COUNT];
	int wrong = 0;

	for (int i = 0; i < COUNT; i++)
		vm_id_table_new(&table, &ops[i], &ids[i]);
	for (int i = 0; i < COUNT; i++)
		wrong += vm_id_table_find(&table, ids[i]) != &ops[i];
	is_int(wrong, 0, "%d operations at a time are found", COUNT);
	ok(vm_id_table_each(&table, is_op, &ops[COUNT / 2]) == ids[COUNT / 2],
	   "a search finds one of them");
	for (int i = 0; i < COUNT; i++)
		wrong += vm_id_table_take(&table, ids[i]) != &ops[i];
	is_int(wrong, 0, "and taken");
	ok(!vm_id_table_each(&table, is_op, &ops[0]),
	   "then a search finds none");
}

/* All threads try to take each number; one of them gets it. */
static _Atomic uint64_t shared;
static _Atomic int taken;

static void *thread(void *arg)
{
	int op, got = 0;
	uint64_t id;

	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t new = vm_id_table_new(&table, &op, &id);

		id = atomic_exchange(&shared, new);
		if (vm_id_table_take(&table, id))
			got++;
		if (vm_id_table_take(&table, new))
			got++;
	}
	atomic_fetch_add(&taken, got);
	return NULL;
}

/* Numbers of 32 bits. */
static void test_short(void)
{
	int op;
	uint64_t id, again;
	uint32_t bits;

	vm_id_table_new(&table, &op, &id);
	bits = vm_id_table_short(id);
	ok(bits != 0, "there are 32 bits for a number");
	ok(vm_id_table_long(&table, bits) == id, "which lead to it");
	vm_id_table_take(&table, id);
	ok(vm_id_table_long(&table, bits) == 0, "while it is in use");
	vm_id_table_new(&table, &op, &again);
	ok((uint32_t)again == (uint32_t)id &&
		   vm_id_table_long(&table, bits) == 0,
	   "and not to the next one at its place");
	vm_id_table_take(&table, again);
	ok(vm_id_table_long(&table, 0) == 0, "0 leads to none");
	ok(vm_id_table_long(&table, 0xffffff) == 0, "nor does what never was");
	is_int((int)vm_id_table_short(UINT64_C(1) << 24), 0,
	       "a large number has none");
}

static void test_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread, NULL))
			bail("no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	is_int(taken, THREADS * ROUNDS, "of several that take one gets it");
}

int main(void)
{
	plan(22);
	vm_id_table_init(&table);
	test_one();
	test_many();
	test_short();
	test_threads();
	vm_id_table_fini(&table);
	return done_testing();
}
