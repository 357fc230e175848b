/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policy pool, in jobs that are replayed: what is unused goes, what is needed
 * comes back, and it never swings.
 */
#include "introspect/policy/policies.h"

#include <stdlib.h>

#include "world.h"

#define TICK_NS UINT64_C(1500000000)
#define LOOK 1 /* ticks */

static struct world world;
static struct vm_policies all;
static struct tune_node_pvars pvars;
static uint64_t now;

static void begin(void)
{
	struct vm_policy_vars vars;

	memset(&world, 0, sizeof(world));
	memset(&pvars, 0, sizeof(pvars));
	world_control(&world, "fabric_pool_keep", 1, 0, 1000000, "slabs",
		      VMPI_POLICY_ANYTIME);
	world_control(&world, "fabric_packet_bytes", 16128, 512, 1048576,
		      "bytes", VMPI_POLICY_STARTUP);
	world_control(&world, "tune_memory", 67108864, 0, INT64_MAX, "bytes",
		      VMPI_POLICY_ANYTIME);
	world_counter(&world, "fabric_pool_packets", 9);
	world_counter(&world, "fabric_pool_peak", 9);
	world_counter(&world, "fabric_pool_grows", 1);
	world_counter(&world, "fabric_pool_shrinks", 1);
	world_counter(&world, "fabric_pool_bytes", 1);
	world_counter(&world, "fabric_posted", 1);
	vars = world_vars(&world);
	vm_policies_init(&all, &vars, &pvars);
	now = 1;
	if (vm_policies_add(&all, &vm_policy_pool, NULL, now))
		bail("%s", world.said);
}

static void run(int ticks)
{
	for (int i = 0; i < ticks; i++)
		vm_policies_tick(&all, now += TICK_NS);
}

static void set(const char *name, unsigned word, uint64_t value)
{
	int number = world_counter_find(&world, name);

	if (number < 0)
		bail("there is no counter %s", name);
	world.counters[number].words[word] = value;
}

static int64_t keep(void)
{
	return *world_value(&world, "fabric_pool_keep");
}

/* Slabs allocated and returned between any two checks. */
static void churn(int looks, unsigned slabs)
{
	for (int i = 0; i < looks; i++) {
		world_add(&world, "fabric_pool_grows", 0, slabs);
		world_add(&world, "fabric_pool_shrinks", 0, slabs);
		run(LOOK);
	}
}

static void end(void)
{
	vm_policies_fini(&all, now);
}

static void test_unused(void)
{
	begin();
	set("fabric_pool_packets", 2, 100);
	set("fabric_pool_peak", 2, 90);
	run(LOOK * 10);
	is_int(pvars.decisions, 0, "memory that is used stays");
	set("fabric_pool_packets", 4, 10);
	run(LOOK * 10);
	is_int(keep(), 0, "what nobody uses is not kept");
	ok(strstr(world.last.reason, "bytes of packets were not used"),
	   "for a reason: %s", world.last.reason);
	is_int(pvars.decisions, 1, "by one decision");
	churn(1, 20);
	is_int(keep(), 1, "who needs memory again keeps it again");
	is_int(pvars.reverted, 1, "as before");
	end();
	is_int(keep(), 1, "the end is as the beginning");
}

static void test_churn(void)
{
	begin();
	set("fabric_pool_packets", 2, 100);
	set("fabric_pool_peak", 2, 100);
	run(LOOK * 2);
	world_add(&world, "fabric_pool_grows", 0, 1000);
	run(LOOK * 5);
	is_int(keep(), 1, "memory that grows is no reason");
	churn(10, 20);
	is_int(keep(), 16,
	       "what is got and given back again and again is kept");
	ok(strstr(world.last.reason, "memory was allocated 20 times"),
	   "for a reason: %s", world.last.reason);
	set("fabric_pool_peak", 2, 10);
	run(LOOK * 3);
	is_int(keep(), 1, "until nobody needs it");
	end();
	begin();
	set("fabric_pool_packets", 2, 100);
	set("fabric_pool_peak", 2, 100);
	set("fabric_pool_bytes", 0, 70000000);
	churn(10, 20);
	is_int(keep(), 1, "but not beyond tune_memory");
	set("fabric_posted", 0, 1000);
	churn(10, 20);
	is_int(keep(), 16, "for which what is ready does not count");
	end();
}

/* Unused at one look, needed at the next. */
static void test_to_and_fro(void)
{
	uint64_t first;

	begin();
	set("fabric_pool_packets", 4, 100);
	for (int i = 0; i < 100; i++) {
		churn(1, 20);
		run(LOOK * 3);
	}
	first = pvars.decisions;
	ok(first < 30, "it becomes more careful: %d decisions", (int)first);
	for (int i = 0; i < 100; i++) {
		churn(1, 20);
		run(LOOK * 3);
	}
	ok(pvars.decisions - first < 10, "and more: %d decisions",
	   (int)(pvars.decisions - first));
	end();
}

static void test_random(void)
{
	uint64_t seed = 3, worst = 0;
	int outside = 0, many = 0, failed = 0, lost = 0;

	for (int job = 0; job < 200; job++) {
		begin();
		for (int look = 0; look < 400; look++) {
			unsigned class = (unsigned)(world_random(&seed) % 9);

			set("fabric_pool_packets", class,
			    world_random(&seed) % 1000);
			set("fabric_pool_peak", class,
			    world_random(&seed) % 1000);
			set("fabric_pool_bytes", 0,
			    world_random(&seed) % 100000000);
			churn(1, (unsigned)(world_random(&seed) % 20));
			outside += keep() < 0 || keep() > 16;
		}
		many += pvars.decisions > 130;
		if (pvars.decisions > worst)
			worst = pvars.decisions;
		failed += pvars.failed > 0;
		end();
		lost += keep() != 1;
	}
	is_int(outside, 0, "whatever happens, it keeps its bounds");
	is_int(many, 0, "and decides seldom: %d times in 400 looks",
	       (int)worst);
	is_int(failed, 0, "it is not turned off");
	is_int(lost, 0, "and leaves all as it was");
}

int main(void)
{
	test_unused();
	test_churn();
	test_to_and_fro();
	test_random();
	return done_testing();
}
