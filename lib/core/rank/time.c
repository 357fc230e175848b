/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Of several simultaneous readers the one with the later time shows it.
 */
#include "core/rank/time.h"

#include "core/rank/rank.h"
#include "sched/clocks.h"
#include "sched/vars.h"

/* 0 until ticks have a length: then no time has been asked for. */
static uint64_t run_ns(const struct vm_ult *task)
{
	if (!atomic_load_explicit(&vm_clock.ready, memory_order_acquire))
		return 0;
	return vm_clock_span_ns(vm_clocks_of(task));
}

void vm_rank_time_refresh(struct vm_rank *rank)
{
	struct vm_rank_time *time = &rank->time;
	const struct vm_ult *task =
		atomic_load_explicit(&time->task, memory_order_acquire);
	uint64_t run, wall;

	if (!VM_PVARS_COUNTED || !task)
		return;
	run = time->run_before_ns + run_ns(task);
	wall = vm_clock_ns() - time->began_ns;
	/* If the task has ended meanwhile its time may be anything; and it has
	 * shown what it was. */
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&time->task, memory_order_relaxed) != task)
		return;
	vm_pvar_raise(&time->pvars.wall_ns, false, wall);
	vm_pvar_raise(&time->pvars.run_ns, false, run);
	if (sched_cvar.rank_time && wall > run)
		vm_pvar_raise(&time->pvars.wait_ns, false, wall - run);
}

/* A rank that is run again goes on from what it was. */
void vm_rank_time_begin(struct vm_rank *rank)
{
	struct vm_rank_time *time = &rank->time;

	time->began_ns = vm_clock_ns() - vm_pvar_read(&time->pvars.wall_ns, 0);
	time->run_before_ns = vm_pvar_read(&time->pvars.run_ns, 0);
	/* Pairs with the load in vm_rank_time_refresh(). */
	atomic_store_explicit(&time->task, vm_self, memory_order_release);
}

void vm_rank_time_end(struct vm_rank *rank)
{
	vm_rank_time_refresh(rank);
	atomic_store_explicit(&rank->time.task, NULL, memory_order_release);
}
