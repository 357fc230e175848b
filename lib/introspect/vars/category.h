/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where variables belong and for whom they are: the two columns that rows of
 * control and of performance variables have in common.
 *
 * Categories are one tree for both kinds; a variable is in one of them.  Levels
 * are those of the tool information interface of MPI.
 */
#ifndef INTROSPECT_VARS_CATEGORY_H
#define INTROSPECT_VARS_CATEGORY_H

#include <stdbool.h>

/* X(token, parent, text); `none` is the parent of the roots. */
#define VM_CATEGORIES(X)                                                    \
	X(launch, none, "How a job starts, and what each rank is given")    \
	X(p2p, none, "Messages from one rank to another")                   \
	X(match, p2p, "Which message meets which receive, and what waits")  \
	X(rndv, p2p, "Long messages, which their receivers fetch")          \
	X(coll, none, "Collectives")                                        \
	X(sched, none, "How ranks share the workers")                       \
	X(balance, sched, "Ranks that move to workers with less to do")     \
	X(poll, none, "Looks at the network, and who helps whom with them") \
	X(fabric, none, "What goes between processes")                      \
	X(pool, fabric, "Memory of packets and of buffered messages")       \
	X(credit, fabric, "How much senders may have under way")            \
	X(link, fabric, "The link model, which makes a network slower")     \
	X(timer, none, "Where time goes, and how it is measured")           \
	X(overlap, timer, "How much of transfers overlaps with computing")  \
	X(tune, none, "Policies that set control variables")                \
	X(live, none, "What is shown of a job while it runs")               \
	X(debug, none, "Checks and aids for finding mistakes")

enum vm_category {
#define VM_CATEGORY_ENUM_(token, parent, text) VM_CATEGORY_##token,
	VM_CATEGORIES(VM_CATEGORY_ENUM_)
#undef VM_CATEGORY_ENUM_
		VM_CATEGORY_end,
	VM_CATEGORY_none = -1
};

/* For whom, and how much of it. */
#define VM_LEVELS(X)            \
	X(UB, "user basic")     \
	X(UD, "user detail")    \
	X(UA, "user all")       \
	X(TB, "tuner basic")    \
	X(TD, "tuner detail")   \
	X(TA, "tuner all")      \
	X(DB, "develop basic")  \
	X(DD, "develop detail") \
	X(DA, "develop all")

enum vm_level {
#define VM_LEVEL_ENUM_(token, text) VM_LEVEL_##token,
	VM_LEVELS(VM_LEVEL_ENUM_)
#undef VM_LEVEL_ENUM_
};

/* What there is to say about a category.  The numbers are those of the enum,
 * so they run from 0 to VM_CATEGORY_end - 1. */
struct vm_category_view {
	const char *name;
	const char *text;
	enum vm_category parent; /* or VM_CATEGORY_none */
};

/* False: no such number. */
bool vm_category_info(int number, struct vm_category_view *view);

/* The number of a name, or -1. */
int vm_category_find(const char *name);

/* Whether a category is `outer` or lies in it. */
bool vm_category_in(enum vm_category category, enum vm_category outer);

/* "tuner basic" */
const char *vm_level_name(enum vm_level level);

/* Moves whenever variables were added, and with them members of categories.
 * Any thread. */
unsigned vm_vars_stamp(void);

#endif
