/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h: time and counters.
 */
#include "core/instrument/times.h"

#include "core/runtime/process.h"
#include "sched/clocks.h"
#include "sched/counter.h"

/* The caller as a ULT, for which a thread of an ordinary executable joins its
 * rank; NULL: vmpi does not know it. */
static struct vm_ult *self_find(void)
{
	if (!vm_self && vm_process_rank())
		vm_process_join(); /* without memory it stays unknown */
	return vm_self;
}

uint64_t vm_times_rank(void)
{
	struct vm_ult *self = self_find();

	if (self)
		return vm_clocks_self(self);
	vm_clock_ready();
	vm_clocks_start();
	return vm_clock_ticks() - vm_clock.tick0;
}

uint64_t vm_times_core(void)
{
	struct vm_ult *self = self_find();

	return self ? vm_clocks_core(self) : 0;
}

uint64_t vmpi_rank_time_ns(void)
{
	return vm_clock_span_ns(vm_times_rank());
}

uint64_t vmpi_core_time_ns(void)
{
	return vm_clock_span_ns(vm_times_core());
}

int vmpi_core_timer_start(void)
{
	struct vm_ult *self = self_find();

	if (!self)
		return -VMPI_ENORANK;
	vm_clocks_enter(self);
	return 0;
}

int vmpi_core_timer_stop(void)
{
	struct vm_ult *self = self_find();

	if (!self)
		return -VMPI_ENORANK;
	return vm_clocks_leave(self) ? 0 : -VMPI_ESTATE;
}

int vmpi_counter_open(vmpi_counter **counter, int kind)
{
	if (!counter || kind < 0 || kind >= VMPI_COUNTER_KINDS)
		return -VMPI_EINVAL;
	if (!self_find())
		return -VMPI_ENORANK;
	return vm_counter_open(counter, kind);
}

int vmpi_counter_close(vmpi_counter **counter)
{
	if (!counter || !*counter)
		return -VMPI_EINVAL;
	vm_counter_close(*counter);
	*counter = NULL;
	return 0;
}

int vmpi_counter_rank(const vmpi_counter *counter, uint64_t *value)
{
	if (!counter || !value)
		return -VMPI_EINVAL;
	return self_find() ? vm_counter_rank(counter, value) : -VMPI_ENORANK;
}

int vmpi_counter_core(const vmpi_counter *counter, uint64_t *value)
{
	if (!counter || !value)
		return -VMPI_EINVAL;
	return self_find() ? vm_counter_core(counter, value) : -VMPI_ENORANK;
}

static const struct {
	const char *name, *unit;
} counter_kinds[] = {
#define KIND(name_, unit_, text) { #name_, unit_ },
	VMPI_COUNTERS(KIND)
#undef KIND
};

const char *vmpi_counter_name(int kind)
{
	return kind >= 0 && kind < VMPI_COUNTER_KINDS ?
		       counter_kinds[kind].name :
		       NULL;
}

const char *vmpi_counter_unit(int kind)
{
	return kind >= 0 && kind < VMPI_COUNTER_KINDS ?
		       counter_kinds[kind].unit :
		       NULL;
}

const char *vmpi_counter_source(const vmpi_counter *counter)
{
	static const char *const names[] = {
		[VM_COUNTER_PERF] = "perf_event",
		[VM_COUNTER_USAGE] = "getrusage",
		[VM_COUNTER_CLOCK] = "clock_gettime",
	};

	return counter ? names[counter->source] : NULL;
}
