/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topology: what it says agrees with the kernel's view, and binding does what
 * was described.
 */
#include "sched/topo.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/err.h"
#include "tap.h"

/* The number of processors a fresh thread may use after it was bound as
 * worker. */
static void *bound(void *arg)
{
	static cpu_set_t sets[2];
	cpu_set_t *set = &sets[*(int *)arg];

	vm_topo_bind(*(int *)arg);
	CPU_ZERO(set);
	return sched_getaffinity(0, sizeof(*set), set) ? NULL : set;
}

static cpu_set_t *bind_thread(int index)
{
	pthread_t thread;
	void *set;

	if (pthread_create(&thread, NULL, bound, &index))
		bail("no thread");
	pthread_join(thread, &set);
	return set;
}

static void test_binding(void)
{
	cpu_set_t *first, *second, both;

	if (vm_topo_cores() < 2) {
		skip(3, "only one core");
		return;
	}
	vm_topo_plan(2);
	first = bind_thread(0);
	second = bind_thread(1);
	if (!first || !second)
		bail("the kernel does not say where a thread runs");
	ok(CPU_COUNT(first) < vm_topo_processors() || vm_topo_processors() < 2,
	   "a worker is bound to a part of the machine");
	CPU_AND(&both, first, second);
	is_int(CPU_COUNT(&both), 0, "two workers are on different ones");
	vm_topo_plan(vm_topo_processors() + 1);
	first = bind_thread(0);
	is_int(CPU_COUNT(first), vm_topo_processors(),
	       "with too many workers nobody is bound");
}

/* The cores of this process, divided among `shares`. */
static void test_shares(int shares)
{
	int all = vm_topo_cores();
	int processors = vm_topo_processors();
	int cores = 0, least = all, together = 0, shared = 0;

	for (int i = 0; i < shares; i++) {
		vm_topo_share(i, shares);
		cores += vm_topo_cores();
		together += vm_topo_processors();
		shared += vm_topo_shared();
		if (vm_topo_cores() < least)
			least = vm_topo_cores();
		vm_topo_fini();
		if (vm_topo_init())
			bail("no topology");
	}
	is_int(least, shares < all ? all / shares : 1,
	       "of %d shares each has its part of the cores", shares);
	is_int(cores, shares < all ? all : shares,
	       "which together are all, or one each");
	ok(shares > all || together == processors,
	   "and all processors are in one share");
	is_int(shared, shares > all ? shares * ((shares + all - 1) / all) : 0,
	       "and know how many use the same");
	is_int(vm_topo_cores(), all, "a new start has all again");
}

/* Where the worker of a share goes. */
static void place_of(char *text, size_t bytes, int share, int shares)
{
	vm_topo_share(share, shares);
	vm_topo_plan(1);
	vm_topo_describe(text, bytes, 0);
	vm_topo_fini();
	if (vm_topo_init())
		bail("no topology");
}

static void test_turns(void)
{
	int all = vm_topo_cores();
	char first[128], next[128], again[128];

	place_of(first, sizeof(first), 0, 2 * all);
	place_of(next, sizeof(next), 1, 2 * all);
	place_of(again, sizeof(again), all, 2 * all);
	is_string(again, first,
		  "shares that are too many get the cores in turn");
	ok(all < 2 || strcmp(first, next) != 0, "... from one to the next");
}

int main(void)
{
	char text[128] = "";
	cpu_set_t allowed;

	plan(38);
	is_int(vm_topo_cores(), 1, "before the start there is one core");
	is_int(vm_topo_init(), 0, "the machine can be read");
	is_int(vm_topo_init(), 0, "twice");
	ok(vm_topo_cores() >= 1 && vm_topo_processors() >= vm_topo_cores(),
	   "%d cores with %d processors", vm_topo_cores(),
	   vm_topo_processors());
	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	is_int(vm_topo_processors(), CPU_COUNT(&allowed),
	       "as many processors as the kernel allows us");
	vm_topo_plan(1);
	vm_topo_describe(text, sizeof(text), 0);
	ok(strstr(text, "processor"), "worker 0 of 1 is on %s", text);
	vm_topo_plan(1000000);
	vm_topo_describe(text, sizeof(text), 77);
	ok(strstr(text, "not bound"), "worker 77 of many is %s", text);
	test_binding();
	for (int shares = 1; shares <= 5; shares++)
		test_shares(shares);
	test_turns();
	vm_topo_fini();
	is_int(vm_topo_init(), 0, "it can be read again after the end");
	vm_topo_fini();
	return done_testing();
}
