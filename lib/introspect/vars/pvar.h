/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance variables (PVARs): what one can ask.
 *
 * A variable is one row of an X-macro list per kind of owner; its values are
 * words in a block that each owner (a rank, a worker, the node) embeds in its
 * own struct and writes plainly.  Anybody may read them at any time; there are
 * no atomics on the message path.  This module knows rows, not owners.
 */
#ifndef INTROSPECT_VARS_PVAR_H
#define INTROSPECT_VARS_PVAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "introspect/vars/category.h"

/*
 * Row:  X(class, field, unit, of, level, category, text)
 *	class	of enum vm_pvar_class, without its VM_PVAR_
 *	field	with [n] behind it for an array of n words
 *	unit	of a STATE its words in order, "auto|read|write"
 *	of	RANK WORKER NODE, CHAN (of a rank on a channel): whose block
 *	level, category		tokens of introspect/vars/category.h
 *
 * In vars.h of a layer, one list per kind of owner:
 *	struct sched_worker_pvars { SCHED_WORKER_PVARS(VM_PVAR_FIELD) };
 *	extern const struct vm_pvar_table sched_worker_pvar_table;
 * In its vars.c; the layer is what stands before the first underscore:
 *	VM_PVARS_DEFINE(sched_worker, SCHED_WORKER_PVARS)
 */

enum vm_pvar_class {
	VM_PVAR_COUNTER,       /* only grows */
	VM_PVAR_LEVEL,	       /* how much of something is in use now */
	VM_PVAR_HIGHWATERMARK, /* the most a level has been */
	VM_PVAR_LOWWATERMARK,  /* the least, its opposite: see below */
	VM_PVAR_SIZE,	       /* how much there is of something fixed */
	VM_PVAR_PERCENTAGE,    /* used part of something, in millionths */
	VM_PVAR_TIMER,	       /* time spent, only grows */
	VM_PVAR_AGGREGATE,     /* a sum of amounts, such as bytes */
	VM_PVAR_STATE,	       /* one of a list of states */
	VM_PVAR_GENERIC,       /* something else; text says what */
};

/*
 * A low-water mark is VM_PVAR_NONE until there was a level: its owner writes
 * that at the start (vm_pvars_clear()).
 */
#define VM_PVAR_NONE UINT64_MAX

/* A channel's blocks have no place: they are known to those that hold one. */
enum vm_pvar_of { VM_PVAR_RANK, VM_PVAR_WORKER, VM_PVAR_NODE, VM_PVAR_CHAN };

/* One row. */
struct vm_pvar {
	const char *field; /* as written: "sizes[32]" */
	enum vm_pvar_class class_;
	enum vm_pvar_of of;
	unsigned words;
	enum vm_level level;
	enum vm_category category;
	const char *unit;
	const char *text;
};

/* The rows of one kind of block, whose words lie one after the other. */
struct vm_pvar_table {
	const char *prefix; /* "sched_worker": layer and owner */
	const struct vm_pvar *rows;
	unsigned count;
};

#define VM_PVAR_FIELD(class, field, unit, of, level, category, text) \
	uint64_t field;

/* The words of a field, which may be an array. */
#define VM_PVAR_WORDS_(field) \
	(sizeof(struct { uint64_t field; }) / sizeof(uint64_t))
#define VM_PVAR_AND_WORDS(class, field, unit, of, level, category, text) \
	+VM_PVAR_WORDS_(field)

#define VM_PVAR_ROW(class__, field_, unit_, of_, level_, category_, text_) \
	{ .field = #field_,                                                \
	  .class_ = VM_PVAR_##class__,                                     \
	  .of = VM_PVAR_##of_,                                             \
	  .words = VM_PVAR_WORDS_(field_),                                 \
	  .level = VM_LEVEL_##level_,                                      \
	  .category = VM_CATEGORY_##category_,                             \
	  .unit = (unit_),                                                 \
	  .text = (text_) },

#define VM_PVARS_DEFINE(prefix_, LIST)                                        \
	static const struct vm_pvar prefix_##_pvar_rows[] = { LIST(           \
		VM_PVAR_ROW) };                                               \
	_Static_assert(sizeof(struct prefix_##_pvars) / sizeof(uint64_t) ==   \
			       0 LIST(VM_PVAR_AND_WORDS),                     \
		       "a block has the words of its rows");                  \
	const struct vm_pvar_table prefix_##_pvar_table = {                   \
		.prefix = #prefix_,                                           \
		.rows = prefix_##_pvar_rows,                                  \
		.count = sizeof(prefix_##_pvar_rows) / sizeof(struct vm_pvar) \
	};

/*
 * Adds a table; its variables' index is their order of arrival.  Does nothing
 * for the same table again.  -VMPI_ELIMIT beyond VM_PVAR_TABLES_MAX tables or
 * VM_PVARS_MAX variables.  Names must be new, arrays no longer than
 * VM_PVAR_WORDS_MAX (asserted).  Any thread.
 */
#define VM_PVAR_TABLES_MAX 24
#define VM_PVARS_MAX 512
#define VM_PVAR_WORDS_MAX 256
int vm_pvars_add(const struct vm_pvar_table *table);

/*
 * Reads word `word` of a block, whichever thread writes it: a relaxed load, so
 * a reader never sees half a word.
 */
static inline uint64_t vm_pvar_read(const void *block, unsigned word)
{
	return __atomic_load_n((const uint64_t *)block + word,
			       __ATOMIC_RELAXED);
}

/*
 * Writers: the owner of a block, one thread at a time.  A relaxed store of the
 * whole word, no atomic addition.
 *
 * A build with -Dcounters=disabled counts nothing, to measure the cost of
 * counting.  vm_pvar_set() and vm_pvar_keep(), which is vm_pvar_add()
 * otherwise, are for values that the code itself reads: they exist in every
 * build.
 */
#define vm_pvar_set(word, value) \
	__atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
/* In one instruction. */
#define vm_pvar_keep(word, amount) \
	__asm__("addq %1, %0" : "+m"(word) : "er"((uint64_t)(amount)) : "cc")
#else
#define vm_pvar_keep(word, amount) \
	vm_pvar_set(word, __atomic_load_n(&(word), __ATOMIC_RELAXED) + (amount))
#endif
#ifdef VM_NO_COUNTERS
#define VM_PVARS_COUNTED 0
#define vm_pvar_add(word, amount) ((void)sizeof((word) + (amount)))
#define vm_pvar_max(word, level) ((void)sizeof((word) + (level)))
#else
#define VM_PVARS_COUNTED 1
#define vm_pvar_add(word, amount) vm_pvar_keep(word, amount)
#define vm_pvar_max(word, level)                                          \
	do {                                                              \
		if ((level) > __atomic_load_n(&(word), __ATOMIC_RELAXED)) \
			vm_pvar_set(word, level);                         \
	} while (0)
#endif

/* Resets a block to its state before anything was counted. */
void vm_pvars_clear(const struct vm_pvar_table *table, void *block);

/*
 * Adds a block to a total of the same kind: high-water marks, states,
 * percentages and generic ones by the greater value, low-water marks by the
 * smaller one, all others by sum; arrays word by word.  total must belong to
 * the caller, who has cleared it; where there are no low-water marks, zeros
 * will do.
 */
void vm_pvars_fold(const struct vm_pvar_table *table, void *total,
		   const void *block);

/* Raises a watermark that several threads write to mark (low: lowers it). */
void vm_pvar_raise(uint64_t *word, bool low, uint64_t mark);

/* Copies `now` to block, for readers at any time; watermarks, which others may
 * raise meanwhile (introspect/vars/session.h), are only raised (low ones
 * lowered). */
void vm_pvars_show(const struct vm_pvar_table *table, void *block,
		   const void *now);

/*
 * The place of the blocks of a table.  Ranks are counted as in the world,
 * workers and ports from 0; the node has one block.  The value of a variable is
 * that of its block and, where there is one, of a second block that lies `also`
 * bytes behind it; sessions put the old values of watermarks there that they
 * reset.
 */
struct vm_pvar_place {
	const char *base;
	size_t stride; /* from one block to the next */
	size_t also;   /* 0: there is no second one */
	/* So far behind a block lies an _Atomic bool, false until there is
	 * something in the second one or to be brought up to date; 0: no such
	 * flag, there may always be.  Who sets it calls vm_pvars_moved(). */
	size_t used;
	unsigned count;
	/* Whether block i is of this process; NULL: all are. */
	bool (*here)(unsigned i);
	/* Brings block i up to date, before it is read from inside the process;
	 * any thread, also in a signal handler; or NULL. */
	void (*refresh)(unsigned i);
};

/*
 * Sets the place of the blocks of the table, which must live until it is set to
 * NULL when they are gone.  The table has been added.
 */
void vm_pvars_place(const struct vm_pvar_table *table,
		    const struct vm_pvar_place *place);

/* How often values have come to be elsewhere than before: places were set, or
 * flags of second blocks.  Never 0. */
extern _Atomic uint64_t vm_pvar_moves;
void vm_pvars_moved(void);

/*
 * Variables by number, in the order of vm_pvar_each(): how many there are, the
 * number of a name or -1, the facts about one (false: no such number; the name
 * is written to name[VM_NAME_MAX]).
 */
int vm_pvar_count(void);
int vm_pvar_find(const char *name);
struct vm_pvar_view;
bool vm_pvar_info(int number, struct vm_pvar_view *view, char *name);

/*
 * The value of variable `number` in block i of its table, as many words as its
 * row says: 0; -VMPI_ENOENT: no such variable; -VMPI_ERANK: no such block in
 * this process now.  Any thread; async-signal-safe.  vm_pvar_blocks(): how many
 * blocks there are, some of which may be of other processes. vm_pvar_total():
 * of all blocks of this process, as vm_pvars_fold() adds them up; -VMPI_ESTATE
 * when there is none.
 */
unsigned vm_pvar_blocks(int number);
/* The kind of owner of a variable's blocks; -VMPI_ENOENT. */
int vm_pvar_owner(enum vm_pvar_of *of, int number);
int vm_pvar_value(uint64_t *value, int number, unsigned i);
int vm_pvar_total(uint64_t *value, int number);

/*
 * The place of a variable, for frequent readers: its place is in *place, NULL
 * while there are no blocks, its value in the row's words from `word` on.
 * False: no such number.
 */
struct vm_pvar_spot {
	const struct vm_pvar_table *table;
	const struct vm_pvar *row;
	unsigned word;
	const _Atomic(const struct vm_pvar_place *) *place;
};
bool vm_pvar_spot(struct vm_pvar_spot *spot, int number);

/* Adds one word of a variable of that class to *sum, as vm_pvars_fold()
 * does. */
void vm_pvar_fold(uint64_t *sum, enum vm_pvar_class class_, uint64_t value);

/*
 * As vm_pvar_value() of `count` variables from `number` on, one after the
 * other, which are all of one table; nothing is written on failure.
 */
int vm_pvar_values(uint64_t *values, int number, unsigned count, unsigned i);

/* The facts about a variable; valid during the visit. */
struct vm_pvar_view {
	const struct vm_pvar *row;
	const struct vm_pvar_table *table;
	const char *name; /* sched_switches; an array's without its [n] */
	unsigned index;
	unsigned word; /* the first one of its value in the block */
};

/* As vm_cvar_each(). */
int vm_pvar_each(int (*visit)(const struct vm_pvar_view *view, void *arg),
		 void *arg);

/* Words for people: "counter", "worker". */
const char *vm_pvar_class_name(enum vm_pvar_class class_);
const char *vm_pvar_of_name(enum vm_pvar_of of);
#endif
