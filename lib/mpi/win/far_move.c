/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By the kernel, or not.
 */
#include "mpi/win/far_move.h"

#include "base/clock.h"
#include "core/rank/rank.h"
#include "core/window/haul.h"
#include "core/window/wait.h"
#include "core/window/wire.h"
#include "mpi/win/far.h"
#include "mpi/win/far_ask.h"

/* From so many bytes on a system call is shorter than packets in a row. */
#define MOVE_MIN (8 << 10)

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
	struct vm_window_far *far = vm_far_of(win, rank);
	bool alone = ++win->row == 1 && win->alone;

	if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC || !win->places[rank].base)
		return false;
	if (bytes >= MOVE_MIN)
		return true;
	/* It would pass packets. */
	if (far->dirty || far->asked)
		return false;
	if (VM_UNLIKELY(far->away))
		return vm_far_is_away(win, rank);
	return alone && bytes >= win->alone_min;
}

/* From so many bytes on a load is shared with the target's process, in pieces of
 * at most so many.  At a time so many are shared at most, as the other side does
 * nothing else meanwhile. */
#define SHARED_MIN (32 << 10)
#define PIECE_MOST (64 << 10)
#define SHARED_MOST (2 << 20)

/* Loads that are not shared behind one of which a member has taken nothing. */
#define LEFT_ALONE 15

/* Two pieces at least, of whole pages. */
static uint32_t piece_of(size_t bytes)
{
	const size_t page = 4096;
	size_t half = (bytes / 2 + page - 1) / page * page;

	return (uint32_t)(half < PIECE_MOST ? half : PIECE_MOST);
}

static int load_move(struct vm_win *win, int rank,
		     const struct vm_window_load *load, uint64_t at,
		     uint64_t bytes)
{
	return vm_window_move(win->comm.ranks[rank]->to, load->there + at,
			      (void *)(uintptr_t)(load->here + at), bytes,
			      load->write);
}

/* Moves pieces until none is left; *others is how many others have taken. */
static int pieces_move(struct vm_win *win, int rank,
		       struct vm_window_haul *haul,
		       const struct vm_window_load *load, uint32_t *others)
{
	uint64_t at, bytes;
	int rc = 0;

	*others = (uint32_t)((load->bytes + load->piece - 1) / load->piece);
	while (vm_window_haul_take(haul, load, &at, &bytes)) {
		--*others;
		if (rc == 0)
			rc = load_move(win, rank, load, at, bytes);
	}
	return rc;
}

/* Waits for the pieces that others have taken. */
static int others_wait(struct vm_win *win, int rank,
		       const struct vm_window_haul *haul,
		       const struct vm_window_load *load, uint32_t done)
{
	int rc = 0;

	if (!vm_window_watch(&haul->done, done))
		rc = vm_far_ask_long(win, rank);
	if (rc != 0 ||
	    atomic_load_explicit(&haul->failed, memory_order_relaxed) !=
		    load->number)
		return rc;
	vm_far_of(win, rank)->left_alone = UINT8_MAX;
	return load_move(win, rank, load, 0, load->bytes);
}

/* Moves a load together with the target's process. */
static int load_share(struct vm_win *win, int rank, struct vm_window_load *load)
{
	struct vm_window_haul *haul = win->places[win->comm.rank].haul;
	struct vm_window_head head = { .what = VM_FAR_haul };
	uint32_t done = atomic_load_explicit(&haul->done, memory_order_relaxed),
		 others;
	int told, rc;

	head.sequence = load->number = ++win->hauls;
	vm_window_haul_begin(haul, load);
	told = vm_far_send(win, rank, &head, NULL, 0);
	rc = pieces_move(win, rank, haul, load, &others);
	if (others) {
		int end = others_wait(win, rank, haul, load, done + others);

		return rc ? rc : end;
	}
	vm_far_of(win, rank)->left_alone = LEFT_ALONE;
	return rc ? rc : told;
}

static int loads_share(struct vm_win *win, int rank, char *here, char *there,
		       size_t bytes, bool write)
{
	int rc = 0;

	for (size_t at = 0; rc == 0 && at < bytes; at += SHARED_MOST) {
		size_t n = bytes - at < SHARED_MOST ? bytes - at : SHARED_MOST;
		struct vm_window_load load = {
			.here = (uintptr_t)here + at,
			.there = (uintptr_t)there + at,
			.bytes = n,
			.piece = piece_of(n),
			.write = write,
		};

		rc = load_share(win, rank, &load);
	}
	return rc;
}

/* Whether a load is shared with the target's process: not while another thread
 * does so, nor for a while with one that has taken nothing. */
static bool is_shared(struct vm_win *win, int rank, size_t bytes)
{
	struct vm_window_far *far = vm_far_of(win, rank);

	if (bytes < SHARED_MIN || !vm_far_told(win, rank))
		return false;
	if (far->left_alone) {
		far->left_alone--;
		return false;
	}
	return !atomic_flag_test_and_set_explicit(&win->hauling,
						  memory_order_acquire);
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
	if (!is_shared(win, rank, bytes))
		return vm_window_move(win->comm.ranks[rank]->to,
				      (uintptr_t)there, here, bytes, write);
	rc = loads_share(win, rank, here, there, bytes, write);
	/* Pairs with the acquire in is_shared(). */
	atomic_flag_clear_explicit(&win->hauling, memory_order_release);
	return rc;
}
