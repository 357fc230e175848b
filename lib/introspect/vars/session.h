/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: performance variables as one tool sees them.
 *
 * A session has handles, one per variable that the tool wants.  Each handle has
 * its own beginning (reset) and may be stopped and started, without an effect
 * on others: counters are never reset, a handle keeps their values at its
 * beginning. The code that counts does not know of sessions and does nothing
 * for them.
 */
#ifndef INTROSPECT_VARS_SESSION_H
#define INTROSPECT_VARS_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "introspect/vars/pvar.h"

/*
 * A session sees the values of one rank, or those of the process: then the
 * values of ranks are added up, as vm_pvar_total() does.  Values of workers and
 * of the node are the same for all.
 *
 * Threads: any may call anything.  Reads take no lock and may come from signal
 * handlers; the caller ensures that a handle is not freed meanwhile.
 */

#define VM_VIEW_PROCESS (-1)

struct vm_session;
struct vm_handle;

/* Makes a session that sees the values of `rank`, counted as in the world, or
 * with VM_VIEW_PROCESS those of the process.  -VMPI_ENOMEM. */
int vm_session_new(struct vm_session **session, int rank);

/* Ends it and all its handles. */
void vm_session_free(struct vm_session *session);

/* The request for a handle. */
struct vm_handle_want {
	int number;    /* of the variable (introspect/vars/pvar.h) */
	bool total;    /* one value: all elements added up */
	bool absolute; /* the values themselves, without a beginning */
	/* A block of the variable's table that belongs to an object and
	 * lives longer than the handle; NULL: the blocks of ranks, workers
	 * or node. */
	const void *block;
	/* Brings it up to date before it is read, as vm_pvar_place; or NULL. */
	void (*refresh)(const void *block);
};

/*
 * Makes a handle that runs and begins now.  -VMPI_ENOENT: no such variable;
 * -VMPI_EINVAL: of a channel, and there is no block; -VMPI_ENOTSUP: the states
 * of several cannot be added up; -VMPI_ENOMEM.
 *
 * It has as many values as vm_handle_count() says: those of a block, of all
 * blocks one after the other if it is a variable of workers.  That does not
 * change later; values that are not there (no runtime, a rank of another
 * process) are 0.
 */
int vm_handle_new(struct vm_handle **handle, struct vm_session *session,
		  const struct vm_handle_want *want);
void vm_handle_free(struct vm_handle *handle);
unsigned vm_handle_count(const struct vm_handle *handle);

/*
 * Reads the values, `count` words.  Counters, timers and aggregates: the growth
 * since the beginning, while the handle ran.  Watermarks: the extreme since the
 * beginning, at which they were set to their level.  All others: the current
 * values. Of a stopped handle: the values when it stopped.
 */
void vm_handle_read(struct vm_handle *handle, uint64_t *values);

/*
 * A shorter way for the usual variable, one word of one block: in one line, which
 * belongs to whoever holds the handle, since a tool reads hundreds and has the
 * program's data in the cache displaced by each line.
 */
struct vm_shortcut {
	_Atomic uint64_t moves; /* vm_pvar_moves where it is right; or 0 */
	_Atomic(const uint64_t *) word;
	_Atomic uint64_t base;
};

/* Gives a handle one, all zeros, before anybody reads by either; it lives as long
 * as the handle.  Reads by the handle keep it right. */
void vm_handle_shorten(struct vm_handle *handle, struct vm_shortcut *shortcut);

/* A counter that is less than at the beginning belongs to a runtime that was
 * started since.  Bases of written values are negative. */
static inline uint64_t vm_since(uint64_t live, uint64_t base)
{
	return (int64_t)live < (int64_t)base ? live : live - base;
}

/* As vm_handle_read(); false: read by the handle. */
static inline bool vm_shortcut_read(struct vm_shortcut *shortcut,
				    uint64_t *value)
{
	const uint64_t *word;

	/* Pairs with the release store of shortcut_set() and the increment in
	 * vm_pvars_moved(). */
	if (VM_UNLIKELY(
		    atomic_load_explicit(&shortcut->moves,
					 memory_order_acquire) !=
		    atomic_load_explicit(&vm_pvar_moves, memory_order_acquire)))
		return false;
	word = atomic_load_explicit(&shortcut->word, memory_order_relaxed);
	*value = vm_since(vm_pvar_read(word, 0),
			  atomic_load_explicit(&shortcut->base,
					       memory_order_acquire));
	return true;
}

/* Whether the beginning can be moved: for counters, timers and aggregates; for
 * watermarks if they are of ranks, which have a second block (vm_pvar_place) to
 * keep the old values for all others.  Otherwise a watermark begins with the
 * process. Never for a handle that is absolute or a watermark of an object. */
bool vm_pvar_resets(int number);
bool vm_handle_resets(const struct vm_handle *handle);

/*
 * Moves the beginning to now; with _write the values are those given.
 * _readreset reads and resets in one step, nothing is counted twice or lost;
 * watermarks cannot do that.  -VMPI_ENOTSUP: not for this variable.
 */
int vm_handle_reset(struct vm_handle *handle);
int vm_handle_readreset(struct vm_handle *handle, uint64_t *values);
int vm_handle_write(struct vm_handle *handle, const uint64_t *values);

/* Stops or starts it.  If it was stopped (started) before, nothing happens. */
void vm_handle_stop(struct vm_handle *handle);
void vm_handle_start(struct vm_handle *handle);

/*
 * All handles of a session, in the order in which they were made: how many
 * words they have, and their values in one go.  No handle is freed meanwhile;
 * of those that are made meanwhile only as many are read as fit into `words`.
 * The result is the number of words written.
 */
unsigned vm_session_words(const struct vm_session *session);
unsigned vm_session_read(struct vm_session *session, uint64_t *values,
			 unsigned words);

/* Calls each for all handles, while none is made or freed: until it does not
 * return 0; returns its last result. */
int vm_session_each(struct vm_session *session,
		    int (*each)(struct vm_handle *handle, void *arg),
		    void *arg);

#endif
