/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows: one-sided communication.  Begin here; then read epoch.h, access.h
 * and atomic.h.
 *
 * Each member has an object of its own, with a channel for what all members do
 * together and an end in core (core/window/window.h), through which others
 * reach it.  Memory in this process is simply read and written; other processes
 * get packets (far/far.h).
 */
#ifndef MPI_WIN_OBJECT_WIN_H
#define MPI_WIN_OBJECT_WIN_H

#include "base/bias.h"
#include "core/window/window.h"
#include "mpi/call/call.h"
#include "mpi/call/handle.h"
#include "mpi/win/object/hints.h"

struct vm_attrs;
struct vm_errh;
struct vm_far_choices;
struct vm_far_pile;
struct vm_far_slots;

/* What a member may do now: the kinds of access epochs. */
enum vm_win_epoch {
	VM_WIN_CLOSED,
	VM_WIN_FENCE,
	VM_WIN_START,
	VM_WIN_LOCK,
	VM_WIN_LOCK_ALL,
};

/* How one member is reached in an epoch that is not open to all. */
enum vm_win_way {
	VM_WIN_NO_WAY,
	VM_WIN_LOCKING, /* a thread waits for the lock */
	VM_WIN_STARTED,
	VM_WIN_SHARED,
	VM_WIN_EXCLUSIVE,
	VM_WIN_UNLOCKED, /* locked with MPI_MODE_NOCHECK */
};

/* Words that several threads of a member use at a time, in any order. */
#define vm_win_load(word) atomic_load_explicit(&(word), memory_order_relaxed)
#define vm_win_store(word, value) \
	atomic_store_explicit(&(word), value, memory_order_relaxed)

struct vm_win {
	struct vm_object object;
	/* What each access looks at. */
	int size;
	_Atomic bool open;     /* all members are reached */
	_Atomic bool used;     /* there were accesses since the last fence */
	_Atomic bool alone;    /* the last row (far/move.h) was one access */
	_Atomic uint8_t epoch; /* enum vm_win_epoch */
	_Atomic int row;       /* accesses since what was begun last was done */
	_Atomic uint8_t *access; /* by member, enum vm_win_way */
	/* Answers to wait for (far/), changed under window->lock; under it
	 * memory for one more. */
	_Atomic int laters;
	void *spare;
	struct vm_far_slots *slots;	/* far/slot.h; or NULL */
	struct vm_far_pile *pile;	/* far/move.h; or NULL */
	struct vm_far_choices *choices; /* likewise */
	struct vm_window_place *places; /* the team's */
	struct vm_window *window;
	/* Epochs. */
	struct vm_bias locks; /* of threads that lock members, or unlock them */
	int locked;	      /* LOCK: so many members */
	bool nocheck;	      /* LOCK_ALL: with MPI_MODE_NOCHECK */
	bool posted;	      /* an exposure epoch that MPI_Win_post began */
	int *targets;	      /* START: the members, */
	int *origins;	      /* posted: the members, */
	int target_count, origin_count; /* and how many */
	/* Constant. */
	bool far; /* there are several processes: it is in progress.lasting */
	bool few; /* each member is alone in its process, of several */
	/* Bytes of a lone access that the kernel moves, and of one in a row. */
	size_t alone_min, row_min;
	bool tells; /* all of a host reach each other's memory for answers */
	struct vm_comm comm; /* of the members, not the user's */
	int flavor, model;   /* MPI_WIN_FLAVOR_..., MPI_WIN_... */
	int unit;	     /* what attributes point to */
	MPI_Aint bytes;
	void *base;
	/* What the user may change. */
	struct vm_errh *errh; /* holds a reference */
	struct vm_attrs *attrs;
	struct vm_win_hints hints;
	char *name;
};

/* Returns the window of a handle, or NULL. */
static inline struct vm_win *vm_win_get(MPI_Win handle)
{
	return vm_object_of(handle, VM_MAGIC_WIN);
}

/* Checks a window's handle; sets *win on success. */
int vm_check_win(struct vm_call *call, MPI_Win handle, struct vm_win **win);

/* Checks the number of a member. */
int vm_check_win_rank(struct vm_call *call, const struct vm_win *win, int rank,
		      const char *name);

/* The slow path of vm_win_exit(). */
int vm_win_fail(struct vm_call *call, MPI_Win handle, int rc);

/* Returns the result of an entry: as vm_call_exit(), with the window's error
 * handler. */
static inline int vm_win_exit(struct vm_call *call, MPI_Win handle, int rc)
{
	if (VM_LIKELY(rc == MPI_SUCCESS))
		return MPI_SUCCESS;
	return vm_win_fail(call, handle, rc);
}

#endif
