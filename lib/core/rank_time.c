/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who looks at the same time as others shows the later time.
 */
#include "core/rank_time.h"

#include "core/rank.h"
#include "sched/clocks.h"
#include "sched/vars.h"

/* 0 until ticks have a length: then nobody has asked for any time. */
static uint64_t run_ns(const struct vm_rank *rank)
{
	const struct vm_ult *ult = rank->ult;

	if (!ult ||
	    !atomic_load_explicit(&vm_clock.ready, memory_order_acquire))
		return 0;
	return vm_clock_span_ns(vm_clocks_of(ult));
}

static void times_show(struct vm_rank *rank)
{
	struct core_time_pvars *pvars = &rank->time.pvars;
	uint64_t run = run_ns(rank);
	uint64_t wall = vm_clock_ns() - rank->time.began_ns;

	if (!VM_PVARS_COUNTED)
		return;
	vm_pvar_raise(&pvars->wall_ns, false, wall);
	vm_pvar_raise(&pvars->run_ns, false, run);
	if (sched_cvar.rank_time && wall > run)
		vm_pvar_raise(&pvars->wait_ns, false, wall - run);
}

void vm_rank_time_begin(struct vm_rank *rank)
{
	vm_pvars_clear(&core_time_pvar_table, &rank->time.pvars);
	__atomic_store_n(&rank->time.began_ns, vm_clock_ns(), __ATOMIC_RELAXED);
	atomic_store_explicit(&rank->time.ended, false, memory_order_release);
}

void vm_rank_time_end(struct vm_rank *rank)
{
	times_show(rank);
	atomic_store_explicit(&rank->time.ended, true, memory_order_release);
}

void vm_rank_time_refresh(struct vm_rank *rank)
{
	if (__atomic_load_n(&rank->time.began_ns, __ATOMIC_RELAXED) &&
	    !atomic_load_explicit(&rank->time.ended, memory_order_acquire))
		times_show(rank);
}
