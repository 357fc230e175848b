/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The source of ticks, and the length of a tick.
 *
 * The CPU's counter is trusted when the CPU says that it neither stops nor
 * changes its rate, the kernel keeps time with it, and the processors that we
 * may run on see the same value (clock_cores.c).  Its rate comes from two
 * readings of both clocks, one at the start and one at least 10 ms later; a
 * reading is good to some 10 ns.
 */
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock_cores.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define BASELINE_NS 10000000 /* between the two readings */
#define READINGS 16	     /* of which the best counts */

struct vm_clock vm_clock = { .tick_ns = 1.0 };

struct vm_clock_pair vm_clock_look(void)
{
	struct vm_clock_pair best = { 0, 0 };
	uint64_t best_took = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		uint64_t before = vm_clock_ticks(), ns = vm_clock_ns();
		uint64_t took = vm_clock_ticks() - before;

		if (took < best_took) {
			best_took = took;
			best.ticks = before + took / 2;
			best.ns = ns;
		}
	}
	return best;
}

#if defined(__x86_64__)
#define COUNTER "TSC"

/* Reads the counter not before the instructions that precede it in the
 * program. */
static uint64_t counter_in_order(void)
{
	__builtin_ia32_lfence();
	return vm_clock_counter();
}

static bool rate_is_fixed(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

/* The name of the kernel's clock source. */
static void kernel_clock(char *name, int bytes)
{
	FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/"
			   "current_clocksource",
			   "re");

	if (!file || !fgets(name, bytes, file))
		snprintf(name, (size_t)bytes, "unknown");
	if (file)
		fclose(file);
	name[strcspn(name, "\n")] = '\0';
}
#elif defined(__aarch64__)
#define COUNTER "generic timer"

static uint64_t counter_in_order(void)
{
	__asm__ volatile("isb" : : : "memory");
	return vm_clock_counter();
}

/* The architecture guarantees it. */
static bool rate_is_fixed(void)
{
	return true;
}

static void kernel_clock(char *name, int bytes)
{
	snprintf(name, (size_t)bytes, "arch_sys_counter");
}
#else
#define COUNTER "counter"

static uint64_t counter_in_order(void)
{
	return 0;
}

static bool rate_is_fixed(void)
{
	return false;
}

static void kernel_clock(char *name, int bytes)
{
	snprintf(name, (size_t)bytes, "unknown");
}
#endif

/* The kernel itself stops using a counter whose processors differ, but a guest
 * system may not know that of its host. */
static bool kernel_counts(const char *name)
{
	return strcmp(name, "tsc") == 0 || strcmp(name, "kvm-clock") == 0 ||
	       strcmp(name, "arch_sys_counter") == 0;
}

#define WHY(...) snprintf(vm_clock.why, sizeof(vm_clock.why), __VA_ARGS__)

/* Whether the counter can be trusted; writes the reason. */
static bool counter_usable(enum vm_clock_choice choice)
{
	char kernel[32];
	int agree;

	if (choice == VM_CLOCK_MONOTONIC) {
		WHY("asked for by sched_clock");
		return false;
	}
	if (!rate_is_fixed()) {
		WHY("this CPU has no counter of a fixed rate");
		return false;
	}
	kernel_clock(kernel, sizeof(kernel));
	if (choice == VM_CLOCK_COUNTER) {
		WHY("asked for by sched_clock, of a fixed rate");
		return true;
	}
	if (!kernel_counts(kernel)) {
		WHY("the kernel's clock is %s, not the " COUNTER, kernel);
		return false;
	}
	agree = vm_clock_cores_agree(counter_in_order);
	if (agree < 0) {
		WHY("the " COUNTER " differs from processor to processor");
		return false;
	}
	if (agree == 0 && strcmp(kernel, "kvm-clock") == 0) {
		WHY("no processor answered to say what its " COUNTER " is");
		return false;
	}
	if (agree == 0)
		WHY("of a fixed rate, the kernel's clock is %s, no processor "
		    "answered whether it agrees",
		    kernel);
	else
		WHY("of a fixed rate, the kernel's clock is %s, %d processor%s "
		    "agree%s",
		    kernel, agree, agree == 1 ? "" : "s",
		    agree == 1 ? "s" : "");
	return true;
}

/* Called under the lock. */
static void choose(enum vm_clock_choice choice)
{
	uint64_t now = vm_clock_ns();
	bool again = vm_clock.chosen;

	vm_clock.counter = counter_usable(choice);
	vm_clock.choice = choice;
	vm_clock.chosen = true;
	vm_clock.tick_ns = 1.0;
	vm_clock.first = vm_clock_look();
	if (!again)
		vm_clock.origin_ns = now;
	/* For the counter this is final when its rate is known. */
	vm_clock.tick0 = vm_clock.origin_ns;
	atomic_store_explicit(&vm_clock.ready, !vm_clock.counter,
			      memory_order_release);
}

void vm_clock_start(enum vm_clock_choice choice)
{
	vm_lock_take(&vm_clock.lock);
	if (!vm_clock.chosen || vm_clock.choice != choice)
		choose(choice);
	vm_lock_give(&vm_clock.lock);
}

void vm_clock_init(void)
{
	vm_lock_take(&vm_clock.lock);
	if (!vm_clock.chosen)
		choose(VM_CLOCK_AUTO);
	vm_lock_give(&vm_clock.lock);
}

/* Bypasses the node program, for which sleeping is a switch of tasks. */
static void thread_sleep(uint64_t ns)
{
	struct timespec left = { .tv_nsec = (long)ns };

	while (syscall(SYS_nanosleep, &left, &left) < 0 && errno == EINTR)
		;
}

/* Computes the rate of the counter since the first reading; under the lock. */
static void calibrate(void)
{
	const struct vm_clock_pair *first = &vm_clock.first;
	uint64_t passed = vm_clock_ns() - first->ns;
	struct vm_clock_pair last;

	if (passed < BASELINE_NS)
		thread_sleep(BASELINE_NS - passed);
	last = vm_clock_look();
	vm_clock.tick_ns = (double)(last.ns - first->ns) /
			   (double)(last.ticks - first->ticks);
	vm_clock.tick0 = first->ticks -
			 (uint64_t)((double)(first->ns - vm_clock.origin_ns) /
				    vm_clock.tick_ns);
	/* Pairs with the load in vm_clock_ready(). */
	atomic_store_explicit(&vm_clock.ready, true, memory_order_release);
}

void vm_clock_ready_slow(void)
{
	vm_clock_init();
	vm_lock_take(&vm_clock.lock);
	if (!atomic_load_explicit(&vm_clock.ready, memory_order_relaxed))
		calibrate();
	vm_lock_give(&vm_clock.lock);
}
