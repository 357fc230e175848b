/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"
/*
 * The TSC is trusted when the CPU says that it neither stops nor changes its
 * rate and the kernel itself keeps time with it.  Its rate comes from a short
 * calibration (200 us), good for about one part in ten thousand.
 */

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct vm_clock vm_clock = { .tick_ns = 1.0 };

#if defined(__x86_64__)
static bool kernel_uses_tsc(void)
{
	static const char path[] = "/sys/devices/system/clocksource/"
				   "clocksource0/current_clocksource";
	char name[32] = "";
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return strncmp(name, "tsc", 3) == 0 ||
	       strncmp(name, "kvm-clock", 9) == 0;
}

static bool counter_usable(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & (1u << 8)))
		return false;
	return kernel_uses_tsc();
}

/* Ticks against CLOCK_MONOTONIC over 200 us. */
static double counter_tick_ns(void)
{
	uint64_t ns = vm_clock_ns(), ticks = __builtin_ia32_rdtsc();
	uint64_t end = ns, end_ticks = ticks;

	while (end - ns < 200000) {
		end = vm_clock_ns();
		end_ticks = __builtin_ia32_rdtsc();
	}
	return (double)(end - ns) / (double)(end_ticks - ticks);
}
#elif defined(__aarch64__)
static bool counter_usable(void)
{
	return true;
}

static double counter_tick_ns(void)
{
	uint64_t hz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return 1e9 / (double)hz;
}
#else
static bool counter_usable(void)
{
	return false;
}

static double counter_tick_ns(void)
{
	return 1.0;
}
#endif

void vm_clock_init(void)
{
	if (vm_clock.ns0)
		return;
	if (counter_usable()) {
		vm_clock.tick_ns = counter_tick_ns();
		vm_clock.counter = true;
	}
	vm_clock.tick0 = vm_clock_ticks();
	vm_clock.ns0 = vm_clock_ns();
}
