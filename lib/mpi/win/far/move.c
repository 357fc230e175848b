/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By the kernel, or not.
 */
#include "mpi/win/far/move.h"

#include <stdlib.h>

#include "base/clock.h"
#include "core/rank/rank.h"
#include "core/window/haul.h"
#include "core/window/wait.h"
#include "mpi/win/far/far.h"
#include "mpi/win/far/ask.h"
#include "mpi/win/far/choice.h"
#include "mpi/win/far/rmw.h"

/* From so many bytes on a system call for each is shorter than packets in a row;
 * and one for many, if it does not take longer than that. */
#define MOVE_MIN (8 << 10)
#define PILED_MIN (1 << 10)
#define PILED_CALL_NS 1500

/* A put of a few bytes alone and its flush take about so long as packets, and
 * a third of a nanosecond for each byte more. */
#define PACKET_NS 400
#define PACKET_BYTES_NS 3
#define ALONE_MIN 256

/* Shorter updates go in packets. */
#define RMW_MIN (2 << 10)

/* Sizes of lone accesses, from ALONE_MIN on: each is twice the one before, the last
 * one has no end. */
#define SIZES 15

/* The choices of a window, and an access that is timed. */
struct vm_far_choices {
	struct vm_far_choice of[VM_FAR_MOVED_KINDS][SIZES];
	_Atomic(struct vm_far_choice *) timed; /* or NULL */
	_Atomic uint64_t begin;		       /* ticks */
};

/* How often a system call is timed. */
#define TRIES 4

/* The shortest time of a system call that moves 8 bytes; UINT64_MAX: there is
 * no memory of another process that can be moved. */
static uint64_t call_ns(const struct vm_win *win)
{
	uint64_t least = UINT64_MAX, begin, ns, word;
	struct iovec here = { &word, sizeof(word) }, there = here;
	struct vm_load load = vm_load_one(&here, &there);

	for (int i = 0; i < win->size && least == UINT64_MAX; i++) {
		const struct vm_window_place *place = &win->places[i];

		if (!place->told || place->window ||
		    place->bytes < sizeof(word))
			continue;
		for (int k = 0; k < TRIES; k++) {
			begin = vm_clock_ns();
			there.iov_base = place->base;
			if (vm_window_move(win->comm.ranks[i]->to, &load,
					   false) != 0)
				break;
			ns = vm_clock_ns() - begin;
			if (ns < least)
				least = ns;
		}
	}
	return least;
}

static struct vm_far_choices *choices_new(size_t alone_min)
{
	struct vm_far_choices *choices = calloc(1, sizeof(*choices));

	for (int kind = 0; choices && kind < VM_FAR_MOVED_KINDS; kind++)
		for (int i = 0; i < SIZES; i++)
			vm_far_choice_init(
				&choices->of[kind][i],
				kind < VM_FAR_MOVED_UPDATE &&
						(size_t)ALONE_MIN << i >=
							alone_min ?
					VM_FAR_KERNEL :
					VM_FAR_PACKETS);
	return choices;
}

void vm_far_moves_open(struct vm_win *win)
{
	uint64_t ns = win->tells ? call_ns(win) : UINT64_MAX;

	vm_win_store(win->alone, true);
	win->alone_min = win->row_min = MOVE_MIN;
	if (ns != UINT64_MAX && vm_far_pile_open(win) && ns < PILED_CALL_NS)
		win->row_min = PILED_MIN;
	if (ns < PACKET_NS + MOVE_MIN / PACKET_BYTES_NS)
		win->alone_min = ns < PACKET_NS ? 0 :
						  (size_t)(ns - PACKET_NS) *
							  PACKET_BYTES_NS;
	if (win->alone_min < ALONE_MIN)
		win->alone_min = ALONE_MIN;
	if (ns != UINT64_MAX)
		win->choices = choices_new(win->alone_min);
}

/* Whether a lone access of at least ALONE_MIN goes by the kernel. */
static bool is_kernels(struct vm_far_choices *choices, enum vm_far_moved kind,
		       size_t bytes)
{
	size_t size = (size_t)__builtin_ctzl(ALONE_MIN);
	struct vm_far_choice *choice;
	enum vm_far_way way;
	bool timed;

	size = 8 * sizeof(long) - 1 - (size_t)__builtin_clzl(bytes) - size;
	choice = &choices->of[kind][size < SIZES ? size : SIZES - 1];
	way = vm_far_choice_next(choice, &timed);
	if (VM_UNLIKELY(timed)) {
		vm_win_store(choices->timed, choice);
		vm_win_store(choices->begin, vm_clock_ticks());
	}
	return way == VM_FAR_KERNEL;
}

void vm_far_timed_end(struct vm_far_choices *choices, bool done)
{
	struct vm_far_choice *timed = vm_win_load(choices->timed);

	if (VM_LIKELY(!timed))
		return;
	vm_win_store(choices->timed, NULL);
	if (done)
		vm_far_choice_took(timed, vm_clock_ticks() -
						  vm_win_load(choices->begin));
}

/* Of a dynamic window only the target knows what is attached. */
bool vm_far_move_wanted(struct vm_win *win, int rank, size_t bytes, bool gets,
			bool asked)
{
	struct vm_window_far *far = vm_far_of(win, rank);
	int row = vm_win_load(win->row) + 1;
	bool alone = row == 1 && vm_win_load(win->alone);

	vm_win_store(win->row, row);
	if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC || !win->places[rank].base)
		return false;
	if (bytes >= MOVE_MIN)
		return true;
	/* It would pass packets. */
	if (vm_far_dirty(far))
		return false;
	if (VM_UNLIKELY(vm_win_load(far->away)))
		return vm_far_is_away(win, rank);
	if (alone && !asked && win->choices && bytes >= ALONE_MIN)
		return is_kernels(win->choices,
				  gets ? VM_FAR_MOVED_GET : VM_FAR_MOVED_PUT,
				  bytes);
	return bytes >= (alone ? win->alone_min : win->row_min);
}

bool vm_far_rmw_wanted(struct vm_win *win, int rank, size_t bytes, bool gets)
{
	int row = vm_win_load(win->row) + 1;

	if (bytes < RMW_MIN || !win->choices || !vm_far_rmw_is(win, rank))
		return false;
	vm_win_store(win->row, row);
	/* It would pass packets. */
	if (row > 1 || !vm_win_load(win->alone) || !vm_far_is_still(win, rank))
		return false;
	return is_kernels(win->choices,
			  gets ? VM_FAR_MOVED_FETCH : VM_FAR_MOVED_UPDATE,
			  bytes);
}

/* From so many bytes on a load is shared with the target's process.  At a time so
 * many are at most, as the other side does nothing else meanwhile. */
#define SHARED_MIN (32 << 10)
#define SHARED_MOST (2 << 20)

/* What is longer, about a pile of its own, gains nothing by being put off. */
#define PILED_MOST (256 << 10)

/* Tells the target's process of a load. */
static int haul_tell(struct vm_win *win, int rank, const struct vm_share *share)
{
	const struct vm_load *load = &share->load;
	struct vm_far_run runs[2 * VM_LOAD_PLACES], *run = runs;
	struct vm_window_head head = {
		.what = VM_FAR_haul,
		.flag = share->write ? VM_FAR_WRITES : 0,
		.sequence = share->number,
		.runs = (uint32_t)load->there_count,
	};

	for (size_t i = 0; i < load->there_count; i++)
		*run++ =
			(struct vm_far_run){ (uintptr_t)load->there[i].iov_base,
					     load->there[i].iov_len };
	for (size_t i = 0; i < load->here_count; i++)
		*run++ = (struct vm_far_run){ (uintptr_t)load->here[i].iov_base,
					      load->here[i].iov_len };
	return vm_far_send(win, rank, &head, runs,
			   (size_t)(run - runs) * sizeof(*run));
}

/* Moves a load together with the target's process, unless that has loads of its
 * own. */
static int haul(struct vm_win *win, int rank, struct vm_share *share)
{
	int rc = share->alone ? 0 : haul_tell(win, rank, share), end;

	if (!vm_window_haul_move(share)) {
		int gone = vm_far_ask_long(win, rank);

		rc = rc ? rc : gone;
	}
	end = vm_window_haul_end(share);
	return rc ? rc : end;
}

int vm_far_load(struct vm_win *win, int rank, const struct vm_load *load,
		bool write, bool shares)
{
	struct vm_to to = win->comm.ranks[rank]->to;
	struct vm_share share;

	if (shares && vm_far_told(win, rank) &&
	    vm_window_haul_begin(&share, win->window->owner->port, to, load,
				 write))
		return haul(win, rank, &share);
	return vm_window_move(to, load, write);
}

int vm_far_transfer(const struct vm_win *win, int rank, void *here, void *there,
		    size_t bytes, bool write)
{
	struct iovec local = { here, bytes }, remote = { there, bytes };
	struct vm_load load = vm_load_one(&local, &remote);

	return vm_window_move(win->comm.ranks[rank]->to, &load, write);
}

/* Moves bytes that lie behind each other now. */
static int bytes_move(struct vm_win *win, int rank, char *here, char *there,
		      size_t bytes, bool write)
{
	int rc = 0;

	if (bytes < SHARED_MIN)
		return vm_far_transfer(win, rank, here, there, bytes, write);
	for (size_t at = 0; rc == 0 && at < bytes; at += SHARED_MOST) {
		size_t n = bytes - at < SHARED_MOST ? bytes - at : SHARED_MOST;
		struct iovec local = { here + at, n },
			     remote = { there + at, n };
		struct vm_load load = vm_load_one(&local, &remote);

		rc = vm_far_load(win, rank, &load, write, n >= SHARED_MIN);
	}
	return rc;
}

int vm_far_move(struct vm_call *call, struct vm_win *win, int rank, void *here,
		char *there, size_t bytes, bool write, bool asked)
{
	bool alone = vm_win_load(win->row) == 1 && vm_win_load(win->alone);
	/* Few bytes are copied in no time, as they are to packets. */
	bool copied = write && (asked || bytes < PILED_MIN);
	int rc;

	if (VM_UNLIKELY(vm_win_load(vm_far_of(win, rank)->ended))) {
		rc = vm_far_flush(call, win, rank);
		if (rc != 0)
			return rc;
	}
	if (!alone && bytes < PILED_MOST && (write || !asked)) {
		rc = vm_far_pile_add(win, rank, here, there, bytes, write,
				     copied);
		if (rc != -VMPI_EAGAIN)
			return rc;
	}
	return bytes_move(win, rank, here, there, bytes, write);
}
