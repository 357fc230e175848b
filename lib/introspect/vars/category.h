/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Categories and levels of variables: the two columns that rows of control and
 * of performance variables have in common.
 *
 * Categories are one tree for both kinds; a variable is in one of them.  Levels
 * are those of the tool information interface of MPI.
 */
#ifndef INTROSPECT_VARS_CATEGORY_H
#define INTROSPECT_VARS_CATEGORY_H

#include <stdbool.h>

/* X(token, parent, text); `none` is the parent of the roots. */
#define VM_CATEGORIES(X)                                                  \
	X(launch, none, "Start of a job and resources of its ranks")      \
	X(p2p, none, "Point-to-point messages")                           \
	X(match, p2p, "Message matching and its queues")                  \
	X(rndv, p2p, "Rendezvous: long messages between processes")       \
	X(coll, none, "Collectives")                                      \
	X(io, none, "Files")                                              \
	X(sched, none, "Scheduling of ranks on workers")                  \
	X(balance, sched,                                                 \
	  "Load balancing: ranks that move to less busy workers")         \
	X(poll, none, "Polling of the network, and help between workers") \
	X(fabric, none, "Packets and transfers between processes")        \
	X(pool, fabric, "Memory of packets and buffered messages")        \
	X(credit, fabric, "Flow control: credits and credit queues")      \
	X(link, fabric, "Link model: simulation of a slower network")     \
	X(timer, none, "Time measurement")                                \
	X(overlap, timer, "Overlap of data transfers with computation")   \
	X(tune, none, "Policies that set control variables")              \
	X(live, none, "Monitoring of running jobs")                       \
	X(debug, none, "Checks and debugging aids")

enum vm_category {
#define VM_CATEGORY_ENUM_(token, parent, text) VM_CATEGORY_##token,
	VM_CATEGORIES(VM_CATEGORY_ENUM_)
#undef VM_CATEGORY_ENUM_
		VM_CATEGORY_end,
	VM_CATEGORY_none = -1
};

/* For which users, and in how much detail. */
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

/* The facts about a category.  The numbers are those of the enum, so they run
 * from 0 to VM_CATEGORY_end - 1. */
struct vm_category_view {
	const char *name;
	const char *text;
	enum vm_category parent; /* or VM_CATEGORY_none */
};

/* Fills the view; false: no such number. */
bool vm_category_info(int number, struct vm_category_view *view);

/* The number of the category with this name, or -1. */
int vm_category_find(const char *name);

/* Whether a category is `outer` or lies in it. */
bool vm_category_in(enum vm_category category, enum vm_category outer);

/* The name of a level: "tuner basic". */
const char *vm_level_name(enum vm_level level);

/* A number that changes whenever variables were added, and with them members of
 * categories.  Any thread. */
unsigned vm_vars_stamp(void);

#endif
