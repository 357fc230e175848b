/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policies for 87-tune.t: one per value of MODE, each with a mistake of its
 * own, but for the first.  When one ends it makes the file that its argument
 * names.
 */
#include <vmpi_policy.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef MODE
#define MODE 0
#endif

static int ticks, limit;

#if MODE >= 8
static volatile int *volatile nowhere = (int *)8;

#if MODE == 8
__attribute__((constructor))
#endif
static void
crash(void)
{
	*nowhere = 1;
}
#endif

static int start(vmpi_tuner *tuner)
{
#if MODE == 9
	crash();
#endif
	limit = tuner->control_find(tuner, "core_eager_limit");
	if (!strcmp(tuner->argument, "x"))
		return -1;
	return limit < 0 ? limit : 0;
}

/* Says whether the time is that of the day, about. */
static void time_say(vmpi_tuner *tuner, uint64_t now_ns)
{
	uint64_t now_s = now_ns / 1000000000, day_s = (uint64_t)time(NULL);

	tuner->log(tuner, now_s + 3600 > day_s && now_s < day_s + 3600 ?
				  "it is the time of the day" :
				  "it is another time");
}

static int tick(vmpi_tuner *tuner, uint64_t now_ns)
{
	ticks++;
	if (ticks == 1)
		time_say(tuner, now_ns);
#if MODE == 1
	return ticks < 3 ? 0 : -13;
#elif MODE == 2
	tuner->write(tuner, limit, ticks % 2 ? 1024 : 4096, "to and fro");
	return 0;
#elif MODE == 10
	if (ticks == 3)
		crash();
	return 0;
#elif MODE == 3
	tuner->write(tuner, tuner->control_find(tuner, "fabric_packet_bytes"),
		     1024, "never");
	tuner->write(tuner, 9999, 1, "nothing");
	return ticks < 3 ? 0 : -2;
#else
	return tuner->write(tuner, limit, 12345, "because") < 0;
#endif
}

static void end(vmpi_tuner *tuner)
{
	FILE *file = tuner->argument[0] ? fopen(tuner->argument, "w") : NULL;

	if (file)
		fclose(file);
}

#if MODE == 4
int vmpi_policy_is_not_here;
#else
const struct vmpi_policy vmpi_policy = {
#if MODE == 5
	.abi = VMPI_POLICY_ABI + 1,
#else
	.abi = VMPI_POLICY_ABI,
#endif
#if MODE != 6
	.name = "mine",
#endif
	.description = "for a test",
	.start = start,
#if MODE != 7
	.tick = tick,
#endif
	.end = end,
};
#endif
