/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounds on how much of its messages' transfers a rank, and the core it runs
 * on, overlapped with computation.
 */
#ifndef INTROSPECT_MEASURE_OVERLAP_H
#define INTROSPECT_MEASURE_OVERLAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/lock.h"
#include "introspect/measure/vars.h"
#include "introspect/measure/xfer_table.h"

/*
 * Events come in with their times: the rank enters and leaves the library
 * (CALL_ENTER, CALL_EXIT), a transfer begins and ends (XFER_BEGIN, XFER_END).
 * Two running sums say how long the rank, and its core, have computed until any
 * moment; their growth from begin to end and the time that the transfer takes
 * by the table give both bounds.  vmpi-overlap(7) defines all this and has the
 * proof.  Times are in one unit, that of the table; no clock is read here.
 *
 * The rank's main task writes the parts of calls and sections; any thread may
 * report a transfer, and only those take the lock.
 */

#define VM_OVERLAP_SECTIONS 32
#define VM_OVERLAP_DEPTH 32 /* of nested sections */
#define VM_OVERLAP_RING 64
#define VM_OVERLAP_CALLS 800 /* numbers of calls (mpi/call/call.c) */
#define VM_SECTION_NAME_MAX 48

enum vm_side { VM_SIDE_SEND, VM_SIDE_RECEIVE, VM_SIDES };

/* The setup that all ranks of a process share; constant while they run. */
struct vm_overlap_setup {
	unsigned bins;
	uint64_t edge[VM_OVERLAP_BINS]; /* largest size; the last: no limit */
	struct vm_xfer_table table;
};

/*
 * Reads "1K,16K,1M": the largest sizes of all bins but the last one.  0, or
 * -VMPI_EINVAL and in why what is wrong.
 */
int vm_overlap_bins_parse(struct vm_overlap_setup *setup, const char *text,
			  char *why, size_t bytes);
unsigned vm_overlap_bin(const struct vm_overlap_setup *setup, uint64_t bytes);

/*
 * A sum of times that grows while it is switched on, in one word: (sum << 1)
 * when off, ((time - sum) << 1 | 1) when on.  One writer, any readers.
 */
struct vm_overlap_sum {
	_Atomic uint64_t word;
};

static inline uint64_t vm_overlap_sum_at(const struct vm_overlap_sum *sum,
					 uint64_t now)
{
	uint64_t word = atomic_load_explicit(&sum->word, memory_order_relaxed);

	if (!(word & 1))
		return word >> 1;
	/* The writer may have updated the sum after the reader read the
	 * clock. */
	return now > word >> 1 ? now - (word >> 1) : 0;
}

static inline void vm_overlap_sum_on(struct vm_overlap_sum *sum, uint64_t now)
{
	uint64_t word = atomic_load_explicit(&sum->word, memory_order_relaxed);

	if (!(word & 1))
		atomic_store_explicit(&sum->word,
				      ((now - (word >> 1)) << 1) | 1,
				      memory_order_relaxed);
}

static inline void vm_overlap_sum_off(struct vm_overlap_sum *sum, uint64_t now)
{
	atomic_store_explicit(&sum->word, vm_overlap_sum_at(sum, now) << 1,
			      memory_order_relaxed);
}

static inline bool vm_overlap_sum_is_on(const struct vm_overlap_sum *sum)
{
	return atomic_load_explicit(&sum->word, memory_order_relaxed) & 1;
}

/* A core: how long it has run user code of any rank.  Its worker writes. */
struct vm_overlap_core {
	struct vm_overlap_sum user;
} VM_ALIGNED(VM_CACHELINE);

/* The sums over the transfers of one size bin, side and section. */
#define VM_OVERLAP_ROW(X)                                         \
	X(transfers, "data transfers")                            \
	X(bytes, "payload bytes")                                 \
	X(data, "data transfer time")                             \
	X(min, "minimum overlapped by the rank")                  \
	X(max, "maximum overlapped by the rank")                  \
	X(core_min, "minimum overlapped by the core")             \
	X(core_max, "maximum overlapped by the core")             \
	X(same_call, "transfers within one call (case 1)")        \
	X(half, "transfers of which one end is known (case 3)")   \
	X(capped, "transfers that took less than the table says") \
	X(open, "transfers begun and not ended")                  \
	X(open_bytes, "their bytes")                              \
	X(open_data, "their data transfer time")

struct vm_overlap_row {
#define VM_OVERLAP_FIELD_(name, text) uint64_t name;
	VM_OVERLAP_ROW(VM_OVERLAP_FIELD_)
#undef VM_OVERLAP_FIELD_
};

struct vm_overlap_section {
	char name[VM_SECTION_NAME_MAX];
	int32_t parent;	     /* -1: of section 0, the whole program */
	uint32_t entered;    /* times */
	uint64_t user, call; /* computing, in calls: while it was innermost */
	/* The function that has most of the time of calls, if one has more than
	 * half of it; lead: its margin, as when votes are counted. */
	uint64_t lead;
	uint32_t leader;
};

struct vm_overlap_call {
	uint64_t count, time;
};

/* Kinds of entries of the ring. */
enum vm_overlap_kind {
	VM_XFER_OPEN,  /* begun, not ended */
	VM_XFER_BOTH,  /* begun and ended */
	VM_XFER_BEGUN, /* begun; its end will not be known */
	VM_XFER_HALF,  /* only one of its ends is known */
	VM_XFER_EXACT, /* instantaneous: all of it or nothing overlapped */
	VM_XFER_NONE,  /* begun; is to be forgotten */
};

struct vm_overlap_entry {
	uint64_t bytes, span, user, core; /* user, core: computed in the span */
	uint8_t kind, side, path;
	uint8_t same_call; /* 0 or 1 */
	uint16_t section;
	uint16_t more; /* EXACT: further ones like it */
};

/*
 * One rank.  It may lie in a file that others read after this process has died:
 * everything except the pointers is meaningful there.
 */
struct vm_overlap {
	int32_t rank, worker; /* which it is; -1: no worker of ours */
	/* Written by the rank's main task. */
	struct vm_overlap_sum user; /* readable by all */
	uint64_t since;		    /* of this state in this section */
	uint64_t entered;	    /* the call */
	uint64_t shown;		    /* when its measures were shown last */
	_Atomic uint32_t calls;	    /* number of the last one */
	uint32_t call;		    /* which function it is */
	_Atomic uint32_t section;   /* innermost */
	_Atomic bool on;
	unsigned depth, sections;
	uint32_t sections_lost; /* begun beyond the limits */
	uint16_t outer[VM_OVERLAP_DEPTH];
	/* The core: written by the thread that moves the rank, while it is
	 * suspended. */
	_Atomic uint32_t move; /* odd: being written */
	_Atomic(struct vm_overlap_core *) core;
	_Atomic uint64_t core_base;
	const struct vm_overlap_setup *setup;
	struct vm_overlap_core own; /* of one without a worker */
	/* Guarded by the lock. */
	struct vm_lock lock;
	unsigned used;
	unsigned last[VM_SIDES]; /* EXACT: where the last one is, if anywhere */
	uint64_t folds;
	struct vm_overlap_entry ring[VM_OVERLAP_RING];
	struct vm_overlap_section list[VM_OVERLAP_SECTIONS];
	struct vm_overlap_call by_call[VM_OVERLAP_CALLS];
	struct vm_overlap_row rows[VM_OVERLAP_SECTIONS][VM_SIDES]
				  [VM_OVERLAP_BINS];
};

/* A transfer that has begun; embedded by its owner.  overlap == NULL: it is not
 * observed. */
struct vm_overlap_xfer {
	struct vm_overlap *overlap;
	uint64_t time, user, core, bytes;
	uint32_t call; /* number of the call it began in; 0: in none */
	uint16_t section;
	uint8_t side, path;
	bool known; /* its begin is: overlap was on */
	bool parts; /* only parts of it end */
};

/* Initializes overlap, which is all zeros.  The rank is inside the library. */
void vm_overlap_init(struct vm_overlap *overlap,
		     const struct vm_overlap_setup *setup,
		     struct vm_overlap_core *core, uint64_t now, bool on);

/* The rank's task is about to start for the first time (afterwards this has no
 * effect): what passed before, when only transfers could be reported, was not
 * its time. */
void vm_overlap_start(struct vm_overlap *overlap, uint64_t now);

static inline struct vm_overlap_section *
vm_overlap_innermost(struct vm_overlap *overlap)
{
	return &overlap->list[atomic_load_explicit(&overlap->section,
						   memory_order_relaxed)];
}

/* Charges the time since the last event to the innermost section; the rank
 * computed in it or not. */
static inline void vm_overlap_charge(struct vm_overlap *overlap, uint64_t now,
				     bool user)
{
	struct vm_overlap_section *section = vm_overlap_innermost(overlap);
	uint64_t span = now > overlap->since ? now - overlap->since : 0;

	overlap->since = now;
	if (!atomic_load_explicit(&overlap->on, memory_order_relaxed))
		return;
	if (user)
		section->user += span;
	else
		section->call += span;
}

/* CALL_ENTER and CALL_EXIT, of the rank's main task, in turn. */
static inline void vm_overlap_enter(struct vm_overlap *overlap, uint64_t now,
				    uint32_t call)
{
	uint32_t calls =
		atomic_load_explicit(&overlap->calls, memory_order_relaxed);

	vm_overlap_charge(overlap, now, vm_overlap_sum_is_on(&overlap->user));
	overlap->entered = now;
	overlap->call = call < VM_OVERLAP_CALLS ? call : 0;
	atomic_store_explicit(&overlap->calls, calls + 1 ? calls + 1 : 1,
			      memory_order_relaxed);
	vm_overlap_sum_off(&overlap->user, now);
}

/* Boyer and Moore's vote: a function with more than half of the time leads in
 * the end, and no table by section and function is needed. */
static inline void vm_overlap_vote(struct vm_overlap_section *section,
				   uint32_t call, uint64_t time)
{
	if (section->leader == call) {
		section->lead += time;
	} else if (section->lead >= time) {
		section->lead -= time;
	} else {
		section->leader = call;
		section->lead = time - section->lead;
	}
}

static inline void vm_overlap_exit(struct vm_overlap *overlap, uint64_t now)
{
	struct vm_overlap_call *call = &overlap->by_call[overlap->call];
	uint64_t time = now > overlap->entered ? now - overlap->entered : 0;

	vm_overlap_charge(overlap, now, vm_overlap_sum_is_on(&overlap->user));
	if (atomic_load_explicit(&overlap->on, memory_order_relaxed)) {
		call->count++;
		call->time += time;
		vm_overlap_vote(vm_overlap_innermost(overlap), overlap->call,
				time);
	}
	vm_overlap_sum_on(&overlap->user, now);
}

/*
 * XFER_BEGIN and XFER_END.  After an end, or vm_overlap_forget(), the transfer
 * is not observed any more.  half: for a transfer of which only one end will be
 * known.
 */
void vm_overlap_begin(struct vm_overlap *overlap, struct vm_overlap_xfer *xfer,
		      uint64_t now, enum vm_side side, enum vm_path path,
		      uint64_t bytes);
void vm_overlap_end(struct vm_overlap_xfer *xfer, uint64_t now);
void vm_overlap_half(struct vm_overlap *overlap, enum vm_side side,
		     enum vm_path path, uint64_t bytes);
/* Forgets a transfer: it was none after all. */
void vm_overlap_forget(struct vm_overlap_xfer *xfer);
/* Notes a moment from which parts of a message may come, and one such part. */
void vm_overlap_mark(struct vm_overlap *overlap, struct vm_overlap_xfer *xfer,
		     uint64_t now, enum vm_side side, enum vm_path path);
void vm_overlap_part(const struct vm_overlap_xfer *xfer, uint64_t now,
		     uint64_t bytes);
/* Notes a copy in memory, too short to be timed: both ends at once. */
void vm_overlap_copied(struct vm_overlap *overlap, enum vm_side side,
		       enum vm_path path, uint64_t bytes);

/* Sections, innermost first out; by the main task.  end: 0, or -VMPI_EINVAL:
 * `name` is not the innermost (NULL: whichever it is). */
void vm_overlap_section_begin(struct vm_overlap *overlap, uint64_t now,
			      const char *name);
int vm_overlap_section_end(struct vm_overlap *overlap, uint64_t now,
			   const char *name);

/* Switches overlap on or off; by the main task. */
void vm_overlap_switch(struct vm_overlap *overlap, uint64_t now, bool on);

/* Moves the rank, which does not run, to another core. */
void vm_overlap_move(struct vm_overlap *overlap, struct vm_overlap_core *to,
		     uint64_t now);

/* Brings the rows up to date. */
void vm_overlap_fold(struct vm_overlap *overlap);
/* As vm_overlap_fold(), for a copy that a dead process may have left locked. */
void vm_overlap_fold_dead(struct vm_overlap *overlap);

/* Adds a row to a sum; an open transfer counts as one whose end is not
 * known. */
void vm_overlap_row_add(struct vm_overlap_row *sum,
			const struct vm_overlap_row *row);

/* The path of a section, "outer/inner"; "" of the whole program. */
void vm_overlap_section_path(const struct vm_overlap *overlap, unsigned section,
			     char *path, size_t bytes);
#endif
