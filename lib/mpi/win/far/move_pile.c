/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Piles of accesses.
 */
#include <stdlib.h>

#include "core/window/wait.h"
#include "mpi/call/errh.h"
#include "mpi/win/far/far.h"
#include "mpi/win/far/ask.h"
#include "mpi/win/far/move.h"

/* A pile of so many bytes is moved. */
#define PILE_BYTES (256 << 10)

/* Room for copies, of puts of at most so many bytes each. */
#define COPIES_BYTES (64 << 10)
#define COPY_MOST (4 << 10)

/* Under the window's lock, unless it is busy: a thread moves it. */
struct vm_far_pile {
	bool busy, write;
	int rank;
	size_t here_count, there_count;
	_Atomic size_t bytes; /* 0: there is none */
	size_t copied;
	char *copies; /* or NULL */
	struct iovec here[VM_LOAD_PLACES], there[VM_LOAD_PLACES];
};

static size_t bytes_of(const struct vm_far_pile *pile)
{
	/* Pairs with the store of a thread that has moved it for others. */
	return atomic_load_explicit(&pile->bytes, memory_order_acquire);
}

bool vm_far_pile_any(const struct vm_far_pile *pile)
{
	return pile && bytes_of(pile);
}

bool vm_far_pile_open(struct vm_win *win)
{
	win->pile = calloc(1, sizeof(*win->pile));
	return win->pile != NULL;
}

void vm_far_pile_close(struct vm_win *win)
{
	if (win->pile)
		free(win->pile->copies);
	free(win->pile);
}

/* Sends it as packets. */
static int pile_send(struct vm_win *win, const struct vm_far_pile *pile)
{
	const struct iovec *here = pile->here, *there = pile->there;
	size_t at_here = 0, at_there = 0;
	int rc = 0;

	for (size_t left = bytes_of(pile), n; rc == 0 && left; left -= n) {
		n = here->iov_len - at_here;
		if (n > there->iov_len - at_there)
			n = there->iov_len - at_there;
		rc = vm_far_bytes(win, pile->rank,
				  (char *)here->iov_base + at_here,
				  (char *)there->iov_base + at_there, n,
				  !pile->write);
		at_here += n;
		at_there += n;
		if (at_here == here->iov_len) {
			here++;
			at_here = 0;
		}
		if (at_there == there->iov_len) {
			there++;
			at_there = 0;
		}
	}
	return rc;
}

/* Moves a pile that is busy.  Whoever does that may have added nothing to it: the
 * flush of its member tells what has failed. */
static void pile_move(struct vm_win *win, struct vm_far_pile *pile)
{
	struct vm_load load = { pile->here, pile->there, pile->here_count,
				pile->there_count, bytes_of(pile) };
	/* A short one is done before the target's process has heard of it. */
	int rc = vm_far_load(win, pile->rank, &load, pile->write,
			     load.bytes >= PILE_BYTES);

	if (rc == -VMPI_ENOTSUP)
		rc = pile_send(win, pile);
	vm_far_fault(vm_far_of(win, pile->rank),
		     rc == -VMPI_EINVAL ? MPI_ERR_RMA_RANGE :
					  (uint32_t)vm_mpi_error(rc));
	vm_lock_take(&win->window->lock);
	pile->here_count = pile->there_count = pile->copied = 0;
	atomic_store_explicit(&pile->bytes, 0, memory_order_release);
	pile->busy = false;
	vm_window_wake(win->window);
}

static bool is_moved(void *arg)
{
	const struct vm_far_pile *pile = arg;

	return !pile->busy;
}

int vm_far_pile_end(struct vm_win *win, int rank)
{
	struct vm_far_pile *pile = win->pile;
	bool any, busy;

	if (!vm_far_pile_any(pile))
		return 0;
	vm_lock_take(&win->window->lock);
	any = bytes_of(pile) && (rank < 0 || pile->rank == rank);
	busy = pile->busy;
	if (any)
		pile->busy = true;
	vm_lock_give(&win->window->lock);
	if (!any)
		return 0;
	if (busy)
		return vm_window_wait(win->window, is_moved, pile);
	pile_move(win, pile);
	return 0;
}

/* Copies what is put, or NULL. */
static void *copy_of(struct vm_far_pile *pile, const void *from, size_t bytes)
{
	char *copy;

	if (bytes > COPY_MOST || pile->copied + bytes > COPIES_BYTES)
		return NULL;
	if (!pile->copies)
		pile->copies = malloc(COPIES_BYTES);
	if (!pile->copies)
		return NULL;
	copy = pile->copies + pile->copied;
	memcpy(copy, from, bytes);
	pile->copied += bytes;
	return copy;
}

/* Adds an access, if it fits: as part of *place. */
static bool add(struct vm_win *win, int rank, struct iovec *here,
		const struct iovec *there, bool write, bool copy)
{
	struct vm_far_pile *pile = win->pile;
	bool fits;

	vm_lock_take(&win->window->lock);
	fits = !pile->busy && pile->here_count < VM_LOAD_PLACES &&
	       pile->there_count < VM_LOAD_PLACES &&
	       (!bytes_of(pile) ||
		(pile->rank == rank && pile->write == write));
	if (fits && copy) {
		here->iov_base = copy_of(pile, here->iov_base, here->iov_len);
		fits = here->iov_base != NULL;
	}
	if (fits) {
		pile->rank = rank;
		pile->write = write;
		vm_load_add(pile->here, &pile->here_count, here);
		vm_load_add(pile->there, &pile->there_count, there);
		atomic_store_explicit(&pile->bytes,
				      bytes_of(pile) + there->iov_len,
				      memory_order_relaxed);
	}
	vm_lock_give(&win->window->lock);
	return fits;
}

int vm_far_pile_add(struct vm_win *win, int rank, char *here, char *there,
		    size_t bytes, bool write, bool copy)
{
	struct iovec own = { here, bytes }, other = { there, bytes };
	int rc;

	if (!win->pile || !bytes)
		return -VMPI_EAGAIN;
	if (!add(win, rank, &own, &other, write, copy)) {
		rc = vm_far_pile_end(win, -1);
		if (rc != 0)
			return rc;
		own.iov_base = here;
		if (!add(win, rank, &own, &other, write, copy))
			return -VMPI_EAGAIN;
	}
	return bytes_of(win->pile) < PILE_BYTES ? 0 :
						  vm_far_pile_end(win, rank);
}
