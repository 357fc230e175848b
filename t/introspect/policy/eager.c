/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policy eager, in jobs that are replayed: what it finds, what it takes back,
 * and that it never swings, whatever is sent.
 */
#include "introspect/policy/policies.h"

#include <stdlib.h>

#include "introspect/vars/sizes.h"
#include "world.h"

#define TICK_NS UINT64_C(10000000)

static struct world world;
static struct vm_policies all;
static struct tune_node_pvars pvars;
static uint64_t now;

static void begin(void)
{
	struct vm_policy_vars vars;

	memset(&world, 0, sizeof(world));
	memset(&pvars, 0, sizeof(pvars));
	world_control(&world, "core_eager_limit", 8192, 0, 1048576, "bytes",
		      VMPI_POLICY_ANYTIME);
	world_control(&world, "core_eager_net", 8, 1, 1024, "times",
		      VMPI_POLICY_ANYTIME);
	world_control(&world, "core_eager_shared", 4, 1, 1024, "times",
		      VMPI_POLICY_ANYTIME);
	world_control(&world, "tune_memory", 67108864, 0, INT64_MAX, "bytes",
		      VMPI_POLICY_ANYTIME);
	world_control(&world, "tune_eager_max", 131072, 1024, 1048576, "bytes",
		      VMPI_POLICY_ANYTIME);
	world_control(&world, "tune_gain", 3, 1, 100, "percent",
		      VMPI_POLICY_ANYTIME);
	world_control(&world, "tune_interval_ms", 10, 1, 60000, "ms",
		      VMPI_POLICY_ANYTIME);
	world_control(&world, "fabric_packet_bytes", 16128, 512, 1048576,
		      "bytes", VMPI_POLICY_STARTUP);
	world_counter(&world, "core_sizes_remote", VM_SIZE_BINS);
	world_counter(&world, "core_receives", 1);
	world_counter(&world, "fabric_pool_bytes", 1);
	world_counter(&world, "fabric_posted", 1);
	world_counter(&world, "fabric_polls", 1);
	world_counter(&world, "fabric_polls_found", 1);
	world_counter(&world, "core_socket_peers", 1);
	world_counter(&world, "core_shared_peers", 1);
	vars = world_vars(&world);
	vm_policies_init(&all, &vars, &pvars);
	now = 1;
	if (vm_policies_add(&all, &vm_policy_eager, NULL, now))
		bail("%s", world.said);
}

static int64_t limit(void)
{
	return *world_value(&world, "core_eager_limit");
}

/* The longest message that is eager. */
static int64_t longest(void)
{
	uint64_t far = 0, near = 0;

	world_total(&world, world_counter_find(&world, "core_socket_peers"),
		    &far, 1);
	world_total(&world, world_counter_find(&world, "core_shared_peers"),
		    &near, 1);
	return limit() * (far ? 8 : near ? 4 : 1);
}

/* A program that sends messages of one size, faster when they are eager by so
 * many percent, and waits. */
static void run(int ticks, uint64_t bytes, int percent, int messages)
{
	for (int i = 0; i < ticks; i++) {
		int count = messages;

		if (longest() >= (int64_t)bytes)
			count += messages * percent / 100;
		world_add(&world, "core_sizes_remote", vm_size_bin(bytes),
			  (uint64_t)count);
		world_add(&world, "fabric_polls", 0, (uint64_t)count * 10);
		vm_policies_tick(&all, now += TICK_NS);
	}
}

static void end(void)
{
	vm_policies_fini(&all, now);
}

/* A program that computes and exchanges 16 messages in turn, which takes longer
 * than a tick, and less by so many percent if they are eager.  Returns the limit
 * after so many ticks. */
static int64_t bursts(int ticks, double percent)
{
	double burst = 1.26 * TICK_NS, next = (double)now + burst;

	for (int i = 0; i < ticks; i++) {
		double step = longest() < 32768 ? burst :
						  burst * (1 - percent / 100);

		now += TICK_NS;
		for (; next < (double)now; next += step)
			world_add(&world, "core_sizes_remote",
				  vm_size_bin(32768), 16);
		world_add(&world, "fabric_polls", 0, 1000);
		vm_policies_tick(&all, now);
	}
	return limit();
}

/* A window contains a burst more or less as it happens. */
static void test_bursts(void)
{
	static const double percent[] = { 5, 8, 12, 20 };

	for (unsigned i = 0; i < 4; i++) {
		begin();
		is_int(bursts(300, percent[i]), 32768,
		       "of bursts, too, %g %% less time is a gain", percent[i]);
		end();
		begin();
		bursts(250, -percent[i]);
		ok(strstr(world.last.reason, "no gain"), "and more is none: %s",
		   world.last.reason);
		end();
	}
	begin();
	bursts(250, 0);
	ok(strstr(world.last.reason, "no gain"), "nor is the same time: %s",
	   world.last.reason);
	end();
}

static void test_gain(void)
{
	begin();
	run(200, 4096, 0, 100);
	is_int(pvars.decisions, 0, "short messages need nothing");
	run(100, 32768, 20, 100);
	is_int(limit(), 32768, "longer ones that gain are sent eagerly");
	is_int(pvars.decisions, 1, "by one decision");
	run(2000, 32768, 20, 100);
	is_int(pvars.decisions, 1, "which stays");
	run(300, 4096, 0, 100);
	is_int(limit(), 8192, "until no messages need it any more");
	run(20, 32768, 20, 100);
	is_int(limit(), 32768, "what was worth it is taken at once next time");
	end();
	is_int(limit(), 8192, "at the end it is what it was");
}

static void test_no_gain(void)
{
	begin();
	run(100, 32768, 0, 100);
	is_int(limit(), 8192, "without a gain it goes back");
	is_int(pvars.reverted, 1, "which is counted");
	ok(strstr(world.last.reason, "no gain"), "with the reason: %s",
	   world.last.reason);
	run(10000, 32768, 0, 100);
	ok(pvars.decisions <= 14, "it is tried ever more seldom: %d times",
	   (int)pvars.decisions / 2);
	end();
	begin();
	run(1000, 32768, -50, 100);
	is_int(limit(), 8192, "a loss is no gain");
	end();
}

/* How many of 200 programs keep the higher limit after their first trial, whose
 * speed changes by up to 15 % each way by itself every fifth tick. */
static int unsteady(int percent)
{
	int kept = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint64_t state = seed * 7919;

		begin();
		while (!strstr(world.said, "kept") && !pvars.reverted)
			run(5, 32768, percent,
			    850 + (int)(world_random(&state) % 301));
		kept += !pvars.reverted;
		end();
	}
	return kept;
}

static void test_unsteady(void)
{
	int kept = unsteady(0);

	ok(kept <= 20, "what is no gain is seldom taken for one: %d of 200",
	   kept);
	kept = unsteady(40);
	ok(kept >= 195, "a large gain mostly is: %d of 200", kept);
	kept = unsteady(15);
	ok(kept >= 150, "a smaller one mostly is, too: %d of 200", kept);
}

static void test_sizes(void)
{
	begin();
	run(200, 18300, 20, 100);
	is_int(limit(), 24576, "the limit is not higher than is needed");
	end();
	begin();
	run(200, 200000, 20, 100);
	is_int(pvars.decisions, 0, "nor than tune_eager_max");
	*world_value(&world, "tune_eager_max") = 1048576;
	run(200, 200000, 20, 100);
	is_int(limit(), 262144, "which can be set while it runs");
	end();
	/* Few messages, and of those that no rank waits for. */
	begin();
	for (int i = 0; i < 500; i++) {
		run(1, 32768, 20, 1);
		run(1, 1024, 0, 1000);
	}
	is_int(pvars.decisions, 0, "a few long ones are not worth it");
	for (int i = 0; i < 500; i++) {
		world_add(&world, "core_sizes_remote",
			  vm_size_bin(i < 110 ? 1024 : 32768), 100);
		vm_policies_tick(&all, now += TICK_NS);
	}
	is_int(pvars.decisions, 0, "nor when nobody waits");
	end();
	begin();
	run(25, 32768, 20, 1);
	is_int(pvars.decisions, 0, "so few say nothing yet");
	run(1000, 32768, 100, 1);
	is_int(limit(), 32768, "with patience they do");
	run(1500, 32768, 20, 0);
	is_int(limit(), 8192, "silence ends it");
	end();
}

/* Over sockets core_eager_net times as long messages are eager. */
static void test_sockets(void)
{
	begin();
	world_add(&world, "core_socket_peers", 0, 3);
	run(200, 65536, 0, 100);
	is_int(pvars.decisions, 0, "over sockets more messages need nothing");
	run(200, 100000, 20, 100);
	is_int(limit(), 16384, "and the limit goes up by less");
	run(600, 65536, 0, 100);
	is_int(limit(), 8192, "until no messages need it any more");
	world_add(&world, "fabric_pool_bytes", 0, 70000000);
	run(1500, 65536, 20, 100);
	is_int(limit(), 128, "memory makes the same messages shorter");
	end();
	is_int(limit(), 8192, "at the end it is what it was");
}

/* And core_eager_shared times as long where processes share cores. */
static void test_shared(void)
{
	begin();
	world_add(&world, "core_shared_peers", 0, 3);
	run(200, 32768, 0, 100);
	is_int(pvars.decisions, 0, "on shared cores 32 KiB need nothing");
	run(200, 50000, 20, 100);
	is_int(limit(), 16384, "and the limit goes up by less");
	end();
	is_int(limit(), 8192, "at the end it is what it was again");
}

static void test_memory(void)
{
	begin();
	world_add(&world, "fabric_posted", 0, 10000);
	world_add(&world, "fabric_pool_bytes", 0, 161280000);
	run(200, 32768, 20, 100);
	is_int(limit(), 32768, "packets that are ready count for nothing");
	world_add(&world, "fabric_pool_bytes", 0, 70000000);
	run(1, 32768, 20, 100);
	is_int(limit(), 8192, "too much memory takes it back");
	ok(strstr(world.last.reason, "tune_memory"), "with the reason: %s",
	   world.last.reason);
	run(1000, 32768, 20, 100);
	is_int(limit(), 1024, "and down, step by step");
	world_add(&world, "fabric_pool_bytes", 0, (uint64_t)-70000000);
	run(400, 4096, 0, 100);
	is_int(limit(), 8192, "memory that is there again brings it back");
	end();
}

static void test_somebody(void)
{
	begin();
	run(100, 32768, 20, 100);
	*world_value(&world, "core_eager_limit") = 65536;
	run(1000, 32768, 20, 100);
	is_int(limit(), 65536, "what somebody else sets stays");
	end();
	is_int(limit(), 65536, "beyond the end, too");
}

/* Whatever is sent, with whatever gains, the limit has its bounds, and the
 * number of changes too. */
static void test_adversary(void)
{
	uint64_t seed = 7, ticks = 0, worst = 0;
	int outside = 0, many = 0, failed = 0, lost = 0;

	for (int job = 0; job < 400; job++) {
		uint64_t jobs_ticks = 0;

		begin();
		while (jobs_ticks < 5000) {
			int length = 1 + (int)(world_random(&seed) % 60);
			uint64_t bytes = UINT64_C(1)
					 << world_random(&seed) % 24;
			int gain = (int)(world_random(&seed) % 90) - 40;

			if (world_random(&seed) % 8 == 0)
				world.counters[2].words[0] =
					world_random(&seed) % 100000000;
			run(length, bytes + world_random(&seed) % bytes, gain,
			    (int)(world_random(&seed) % 200));
			jobs_ticks += (uint64_t)length;
			outside += limit() < 1024 || limit() > 131072;
		}
		ticks += jobs_ticks;
		/* Up for a token, of which there are 16 and one more in 50
		 * ticks; each time up one way down, and down for memory. */
		many += pvars.decisions >
			2 * (16 + jobs_ticks / 50) + 2 + jobs_ticks / 100;
		if (pvars.decisions > worst)
			worst = pvars.decisions;
		failed += pvars.failed > 0;
		end();
		lost += limit() != 8192;
	}
	is_int(outside, 0, "in %llu ticks the limit keeps its bounds",
	       (unsigned long long)ticks);
	is_int(many, 0, "changes are few, whatever is sent: at most %d",
	       (int)worst);
	is_int(failed, 0, "nobody is turned off");
	is_int(lost, 0, "and each time all is as before");
}

/* Phases of a program in turn, each of so many ticks: messages in a tick by the usual
 * limit, by the higher one, and received, all of one length. */
struct phase {
	int usual, higher, received;
};
/* All in thousandths of a message, each changed by up to so many percent every
 * fifth tick.  Returns the messages per thousand of those that the best limit of
 * each phase would have sent; in fixed[] those of either limit. */
static int turns(const struct phase phases[2], int ticks, int changes,
		 int percent, int fixed[2])
{
	double by[2] = { 0, 0 }, best = 0, sent = 0, part = 1, done = 0;
	double came = 0;
	uint64_t state = 3;

	begin();
	for (int tick = 0; tick < ticks * changes; tick++) {
		const struct phase *phase = &phases[tick / ticks % 2];
		int most = phase->higher > phase->usual ? phase->higher :
							  phase->usual;
		int now_sent = limit() > 8192 ? phase->higher : phase->usual;

		if (tick % 5 == 0)
			part = 1 +
			       ((double)(world_random(&state) % 2001) / 1000 -
				1) * percent /
				       100;
		by[0] += phase->usual * part;
		by[1] += phase->higher * part;
		best += most * part;
		sent += now_sent * part;
		done += now_sent * part / 1000;
		came += phase->received * part / 1000;
		world_add(&world, "core_sizes_remote", vm_size_bin(49152),
			  (uint64_t)done);
		world_add(&world, "core_receives", 0, (uint64_t)came);
		world_add(&world, "fabric_polls", 0, 1000);
		done -= (double)(uint64_t)done;
		came -= (double)(uint64_t)came;
		vm_policies_tick(&all, now += TICK_NS);
	}
	end();
	for (int i = 0; i < 2; i++)
		fixed[i] = (int)(by[i] * 1000 / best);
	return (int)(sent * 1000 / best);
}

/* Two that need different limits: tuning beats both. */
static void test_phases(void)
{
	/* In thousandths of a message. */
	static const struct phase many[2] = { { 640000, 1100000, 0 },
					      { 950000, 470000, 950000 } };
	static const struct phase same[2] = { { 150000, 210000, 150000 },
					      { 900000, 700000, 900000 } };
	static const struct phase few[2] = { { 250, 400, 0 },
					     { 330, 200, 330 } };
	static const struct {
		const struct phase *phases;
		const char *name;
		int ticks, changes, percent;
	} programs[] = {
		{ many, "long phases", 250, 20, 0 },
		{ many, "unsteady ones", 250, 20, 15 },
		{ many, "phases of a second", 100, 50, 0 },
		{ many, "unsteady ones", 100, 50, 15 },
		{ same, "phases that differ by their rate", 250, 20, 0 },
		{ few, "phases of few messages", 3000, 20, 0 },
	};

	for (unsigned i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		int fixed[2],
			tuned = turns(programs[i].phases, programs[i].ticks,
				      programs[i].changes, programs[i].percent,
				      fixed);

		ok(tuned > fixed[0] && tuned > fixed[1],
		   "%s: %d of what is best in each, by either limit %d and "
		   "%d (of 1000)",
		   programs[i].name, tuned, fixed[0], fixed[1]);
	}
}

/* What is kept is seen to be of no use any more, some day. */
static void test_again(void)
{
	begin();
	run(200, 32768, 20, 100);
	is_int(limit(), 32768, "a limit that gains is kept");
	run(4000, 32768, -10, 100);
	is_int(limit(), 8192, "until it is a loss: %s", world.last.reason);
	run(200, 32768, -10, 100);
	is_int(pvars.decisions, 2, "by one decision");
	end();
}

/* A machine that is busy but for the moment in which the limit was first tried: what
 * is slower since then is no other phase, and no reason to begin again and again. */
static void test_busy(void)
{
	int quick = 40; /* ticks with the limit */

	begin();
	for (int tick = 0; tick < 6000; tick++) {
		bool first = longest() >= 32768 && quick > 0;

		quick -= first;
		run(1, 32768, 0, first ? 500 : 100);
	}
	ok(pvars.decisions <= 20,
	   "a busy machine moves the limit %d times in 6000 ticks",
	   (int)pvars.decisions);
	end();
	begin();
	for (int tick = 0; tick < 6000; tick++)
		run(1, 32768, 0, tick / 20 % 3 ? 100 : 700);
	ok(pvars.decisions <= 20, "one that comes and goes %d times",
	   (int)pvars.decisions);
	end();
}

/* One that wants it to swing: the gain is there only during trials. */
static void test_mirage(void)
{
	begin();
	for (int i = 0; i < 20000; i++)
		run(1, 32768, i / 40 % 2 ? 30 : -30, 100);
	ok(pvars.decisions <= 2 * (16 + 20000 / 50),
	   "gains that come and go move it %d times in 20000 ticks",
	   (int)pvars.decisions);
	end();
}

static void test_start(void)
{
	struct vm_policy_vars vars;

	memset(&world, 0, sizeof(world));
	vars = world_vars(&world);
	vm_policies_init(&all, &vars, &pvars);
	is_int(vm_policies_add(&all, &vm_policy_eager, NULL, 0), -VMPI_EINVAL,
	       "without its variables it does not start");
	is_string(world.said, "eager: it does not start: no such name",
		  "which is said");
	vm_policies_fini(&all, 0);
}

int main(void)
{
	test_start();
	test_gain();
	test_bursts();
	test_no_gain();
	test_unsteady();
	test_sizes();
	test_sockets();
	test_shared();
	test_memory();
	test_somebody();
	test_phases();
	test_again();
	test_busy();
	test_mirage();
	test_adversary();
	return done_testing();
}
