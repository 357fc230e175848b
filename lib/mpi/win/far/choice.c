/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trials.
 */
#include "mpi/win/far/choice.h"

#include "mpi/win/object/win.h"

/* Accesses of a trial, each way. */
#define TRIES 4

/* Accesses before the first trial, also after a slow packet, and between two.  These
 * become rarer. */
#define PAUSE_FIRST 32
#define PAUSE_LEAST 64
#define PAUSE_MOST 4096

/* Packets that take so many times as long wait for a target that does something
 * else, or sleeps. */
#define SLOW 8

void vm_far_choice_init(struct vm_far_choice *choice, enum vm_far_way way)
{
	atomic_init(&choice->way, (uint8_t)way);
	atomic_init(&choice->step, 0);
	atomic_init(&choice->left, PAUSE_FIRST);
	atomic_init(&choice->pause, PAUSE_LEAST / 2);
	atomic_init(&choice->ticks[VM_FAR_PACKETS], UINT32_MAX);
	atomic_init(&choice->ticks[VM_FAR_KERNEL], UINT32_MAX);
}

/* Which way goes at a step of a trial. */
static enum vm_far_way way_at(const struct vm_far_choice *choice, uint8_t step)
{
	enum vm_far_way way = vm_win_load(choice->way);

	if (step <= TRIES)
		return way;
	return way == VM_FAR_KERNEL ? VM_FAR_PACKETS : VM_FAR_KERNEL;
}

enum vm_far_way vm_far_choice_next(struct vm_far_choice *choice, bool *timed)
{
	uint16_t left = vm_win_load(choice->left);
	uint8_t step = vm_win_load(choice->step);

	if (!step && left) {
		vm_win_store(choice->left, left - 1);
		*timed = vm_win_load(choice->way) == VM_FAR_PACKETS;
		return vm_win_load(choice->way);
	}
	if (!step) {
		step = 1;
		vm_win_store(choice->step, step);
		vm_win_store(choice->ticks[VM_FAR_PACKETS], UINT32_MAX);
		vm_win_store(choice->ticks[VM_FAR_KERNEL], UINT32_MAX);
	}
	*timed = true;
	return way_at(choice, step);
}

/* The end of a trial. */
static void choose(struct vm_far_choice *choice, enum vm_far_way way)
{
	uint16_t pause = vm_win_load(choice->pause);

	pause = pause < PAUSE_MOST / 2 ? pause * 2 : PAUSE_MOST;
	vm_win_store(choice->way, (uint8_t)way);
	vm_win_store(choice->pause, pause);
	vm_win_store(choice->left, pause);
	vm_win_store(choice->step, 0);
}

static bool is_slow(uint64_t ticks, uint32_t usual)
{
	return ticks / SLOW > usual;
}

void vm_far_choice_took(struct vm_far_choice *choice, uint64_t ticks)
{
	uint8_t step = vm_win_load(choice->step);
	enum vm_far_way way = vm_win_load(choice->way),
			tried = way_at(choice, step);
	uint32_t best = vm_win_load(choice->ticks[tried]);

	if (!step) {
		if (way == VM_FAR_PACKETS && is_slow(ticks, best)) {
			vm_win_store(choice->way, VM_FAR_KERNEL);
			vm_win_store(choice->left, PAUSE_FIRST);
		}
		return;
	}
	if (ticks < best) {
		best = (uint32_t)ticks;
		vm_win_store(choice->ticks[tried], best);
	}
	/* The first packet may have woken the target up. */
	if (step > TRIES + 1 && is_slow(ticks, vm_win_load(choice->ticks[way])))
		choose(choice, way);
	else if (step < 2 * TRIES)
		vm_win_store(choice->step, step + 1);
	else
		choose(choice,
		       best < vm_win_load(choice->ticks[way]) ? tried : way);
}
