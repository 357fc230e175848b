/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the packets of windows mean: one row is all there is to a kind.
 */
#ifndef MPI_WIN_FAR_WIRE_H
#define MPI_WIN_FAR_WIRE_H

#include "core/window/reply.h"
#include "core/window/wire.h"
#include "mpi/type/rows.h"
#include "mpi/win/object/win.h"

/* Kind, text.  take_<kind> in take.c handles it. */
#define VM_FARS(X)                                                        \
	X(put, "rows of bytes, to be stored")                             \
	X(get, "rows of bytes, to be answered")                           \
	X(update, "rows of elements, to be combined with data")           \
	X(fetch, "the same, and what they were is to be answered")        \
	X(swap, "an element, a new value and one to compare with")        \
	X(answer, "to the last three: data, or the error in the flag")    \
	X(ask, "whether all is done that came before")                    \
	X(done, "it is; the flag is the error of the first that was not") \
	X(lock, "a claim to a lock, exclusive if flagged")                \
	X(unlock, "the lock is given back")                               \
	X(grant, "it is already, and others wait for it")                 \
	X(post, "the sender's memory may be reached by the receiver")     \
	X(complete, "the sender is done with the receiver's memory")      \
	X(wake, "a word that the receiver waits for has changed")         \
	X(haul, "the sender moves what is here: the receiver takes part")

enum vm_far_kind {
#define VM_FAR_ENUM_(kind, text) VM_FAR_##kind,
	VM_FARS(VM_FAR_ENUM_)
#undef VM_FAR_ENUM_
		VM_FAR_KINDS
};

/* Where a row is in the target's memory, and how many elements it has.  The
 * place is counted from the beginning of the target's (vm_far_origin()), which
 * has other addresses in other processes; of a dynamic window from 0. */
struct vm_far_run {
	uint64_t at, count;
};

/*
 * One run alone is in the header, so that a few bytes behind it still fit into
 * one line of the cache: the packet has the flag VM_FAR_ONE, `from` is the place,
 * `runs` the count, and the sender's end is the team's for `member`.
 */
#define VM_FAR_ONE 1
/* A flag of accesses and of `ask`: the answer is stored where the sender looks
 * (core/window/reply.h): data in the place with the number `sequence`, and that
 * a put, an update or what was asked for is done in the row of words. */
#define VM_FAR_TELL 2

/* Packets have so much at most: runs first. */
#define VM_FAR_RUNS 16
#define VM_FAR_RUN_BYTES (VM_FAR_RUNS * sizeof(struct vm_far_run))

/* Of `haul`: the sender writes to the receiver's memory.  The first `runs` are
 * the receiver's places, by address and bytes; those behind are the sender's. */
#define VM_FAR_WRITES 4

/*
 * What one member knows of another: as origin how often it has asked to be told,
 * or by a packet, and was answered.  Under the lock, as is the sending of the
 * questions: they come in the order of their numbers.  Threads of the member use
 * what is atomic at a time.
 */
struct vm_window_far {
	uint32_t asks, acks;
	_Atomic uint32_t tells;
	/* The number of the last question that somebody waits for, and up to
	 * which somebody has waited. */
	_Atomic uint32_t asked, waited;
	_Atomic size_t unasked; /* bytes sent since */
	/* There were accesses since. */
	_Atomic bool dirty;
	_Atomic bool ended;    /* an epoch with such accesses has ended */
	_Atomic uint8_t error; /* of MPI: what was refused, or failed */
	uint8_t refused;       /* as target: changes packet by packet */
	/* It has not answered for long: so many more accesses are the kernel's,
	 * if they can be, until it is asked whether it is back: when, or 0, and
	 * the number of that; and how many the last time. */
	_Atomic uint16_t away, absence;
	_Atomic uint32_t asked_tell;
	_Atomic uint64_t asked_ns;
};

/* Whether accesses are not done yet, as far as is known; and whether nobody has
 * asked about some of them. */
static inline bool vm_far_unasked(const struct vm_window_far *far)
{
	/* Pairs with the store of who asks. */
	return atomic_load_explicit(&far->dirty, memory_order_acquire);
}

static inline bool vm_far_dirty(const struct vm_window_far *far)
{
	return vm_far_unasked(far) ||
	       vm_win_load(far->asked) != vm_win_load(far->waited);
}

/* The first fault is told. */
static inline void vm_far_fault(struct vm_window_far *far, uint32_t error)
{
	if (VM_UNLIKELY(error) && !vm_win_load(far->error))
		vm_win_store(far->error, (uint8_t)error);
}

/* A question whose answers a task waits for, on its stack, or will wait for.
 * Under the lock once it is listed. */
struct vm_far_question {
	struct vm_list link;
	uint32_t sequence;
	bool later;	      /* it is part of a struct later (ask.c) */
	uint32_t left;	      /* answers */
	int error;	      /* MPI_ERR_..., of the first that has one */
	struct vm_rows *into; /* where data go; or NULL */
};

static inline uintptr_t vm_far_origin(const struct vm_window_team *team,
				      size_t member)
{
	return (uintptr_t)team->places[member].base;
}

/* The end's packets come here. */
void vm_far_take(const struct vm_window_packet *packet);

#endif
