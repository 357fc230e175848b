/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks do the same: the same state, call, message and place, and the same
 * partner, or one that follows from the rank in the same way ("rank - 1").
 */
#ifndef REPORT_LIVE_STATES_FOLD_H
#define REPORT_LIVE_STATES_FOLD_H

#include "report/live/states.h"

/* How the partner follows from the rank, and with which number `by`. */
enum vm_fold_relation {
	VM_FOLD_SAME,	/* it is by, for all */
	VM_FOLD_PLUS,	/* rank + by, round the end */
	VM_FOLD_XOR,	/* rank ^ by */
	VM_FOLD_HALF,	/* rank / 2: the parent in a tree from 1 */
	VM_FOLD_LESS,	/* (rank - 1) / 2: in one from 0 */
	VM_FOLD_LOWEST, /* rank & (rank - 1): in a binomial one */
	VM_FOLD_SEVERAL /* any of several */
};

/* The values from which the words for a rank follow: ranks with the same key
 * share a line. */
struct vm_states_key {
	int state; /* -1: unknown */
	uint32_t call, context, flags;
	int relation;
	int32_t by, tag;
	uint64_t bytes;
	const char *place, *does; /* of the stack; "": unknown */
	unsigned rank;
	unsigned count; /* of the first of a group: its size */
	bool named;	/* one of them is in the circle */
	bool told;	/* its relation is found */
};

/* How much may differ among ranks of one line. */
enum vm_fold_level {
	VM_FOLD_NOTHING,
	VM_FOLD_PARTNERS, /* they have a relation */
	VM_FOLD_BYTES,	  /* and the lengths of messages may differ */
	VM_FOLD_ALL,	  /* partners and tags may, too */
	VM_FOLD_LEVELS
};

/* Makes the keys of all ranks, in an order where the same are together; buffer
 * has room for as many numbers. */
void vm_states_fold(const struct vm_states *states, struct vm_states_key *keys,
		    int32_t *buffer, enum vm_fold_level level);
/* Compares all but the rank. */
int vm_states_alike(const struct vm_states_key *a,
		    const struct vm_states_key *b);

/* "rank - 1 (mod 8)": the partner of a group of keys of a relation that is
 * neither SAME nor SEVERAL. */
void vm_fold_partner(char *text, size_t bytes, const struct vm_states *states,
		     const struct vm_states_key *group);

#endif
