/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of performance variables that are read in one go.
 *
 * Names and patterns are looked up once; the result is runs of variables that
 * follow each other in a table, so that reading is copying.
 */
#ifndef INTROSPECT_VARS_BULK_H
#define INTROSPECT_VARS_BULK_H

#include <stdbool.h>
#include <stdint.h>

#include "introspect/vars/pvar.h"

#define VM_BULK_TOTAL (-1)

struct vm_bulk_run {
	int number;	/* of the first variable */
	unsigned count; /* of variables */
	unsigned words;
	enum vm_pvar_of of;
};

struct vm_bulk {
	struct vm_bulk_run *runs;
	unsigned run_count;
	int *numbers; /* by word */
	unsigned words;
};

/* Whether a variable is wanted; NULL: all are. */
typedef bool vm_bulk_wanted(const struct vm_pvar *row);

/*
 * Makes the list of n names, in their order, each of a variable or a pattern
 * with * and ?; a variable occurs once, and a pattern selects only wanted ones.
 * n == 0: all wanted ones.  Never variables of channels.  0; -VMPI_ENOENT: *bad
 * fits none; -VMPI_EINVAL: *bad is not wanted; -VMPI_ENOMEM.  Nothing is
 * logged.
 */
int vm_bulk_init(struct vm_bulk *bulk, const char *const *names, unsigned n,
		 vm_bulk_wanted *wanted, const char **bad);
void vm_bulk_fini(struct vm_bulk *bulk);

/*
 * Reads the values, bulk->words of them: of ranks' variables those of `rank`,
 * counted as in the world, or with VM_BULK_TOTAL totals; of all others totals;
 * 0 where nothing is counted (yet).  -VMPI_ERANK: no such rank in this process.
 * Any thread; async-signal-safe.
 */
int vm_bulk_read(const struct vm_bulk *bulk, uint64_t *values, int rank);

/* Whether the differences of two values are meaningful: of counters, timers and
 * aggregates. */
bool vm_pvar_grows(const struct vm_pvar *row);

#endif
