/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By the kernel, or not.
 */
#include "mpi/win/far_move.h"

#include "base/clock.h"
#include "core/rank/rank.h"
#include "core/window/wire.h"
#include "mpi/win/far.h"
#include "mpi/win/far_ask.h"

/* From so many bytes on a system call is shorter than packets in a row. */
#define MOVE_MIN (12 << 10)

/* A put of a few bytes alone and its flush take about so long as packets, and
 * a third of a nanosecond for each byte more. */
#define PACKET_NS 400
#define PACKET_BYTES_NS 3
#define ALONE_MIN 256

/* How often a system call is timed. */
#define TRIES 4

/* The shortest time of a system call that moves 8 bytes; UINT64_MAX: there is
 * no memory of another process that can be moved. */
static uint64_t call_ns(const struct vm_win *win)
{
	uint64_t least = UINT64_MAX, begin, ns, word;

	for (int i = 0; i < win->size && least == UINT64_MAX; i++) {
		const struct vm_window_place *place = &win->places[i];

		if (!place->told || place->window ||
		    place->bytes < sizeof(word))
			continue;
		for (int k = 0; k < TRIES; k++) {
			begin = vm_clock_ns();
			if (vm_window_move(win->comm.ranks[i]->to,
					   (uintptr_t)place->base, &word,
					   sizeof(word), false) != 0)
				break;
			ns = vm_clock_ns() - begin;
			if (ns < least)
				least = ns;
		}
	}
	return least;
}

void vm_far_moves_open(struct vm_win *win)
{
	uint64_t ns = win->tells ? call_ns(win) : UINT64_MAX;

	win->alone = true;
	win->alone_min = MOVE_MIN;
	if (ns < PACKET_NS + MOVE_MIN / PACKET_BYTES_NS)
		win->alone_min = ns < PACKET_NS ? 0 :
						  (size_t)(ns - PACKET_NS) *
							  PACKET_BYTES_NS;
	if (win->alone_min < ALONE_MIN)
		win->alone_min = ALONE_MIN;
}

/* Of a dynamic window only the target knows what is attached. */
bool vm_far_move_wanted(struct vm_win *win, int rank, size_t bytes)
{
	const struct vm_window_far *far = vm_far_of(win, rank);
	bool alone = ++win->row == 1 && win->alone;

	if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC || !win->places[rank].base)
		return false;
	if (bytes >= MOVE_MIN)
		return true;
	/* It would pass packets. */
	return alone && bytes >= win->alone_min && !far->dirty && !far->asked;
}

int vm_far_move(struct vm_call *call, struct vm_win *win, int rank, void *here,
		char *there, size_t bytes, bool write)
{
	int rc;

	if (VM_UNLIKELY(vm_far_of(win, rank)->ended)) {
		rc = vm_far_flush(call, win, rank);
		if (rc != 0)
			return rc;
	}
	return vm_window_move(win->comm.ranks[rank]->to, (uintptr_t)there, here,
			      bytes, write);
}
