/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of a layer's control variables, in which some have values of their
 * own.
 *
 * A copy is a struct of the layer (struct core_cvars).  Variables that were
 * stored in it keep that value; all others follow the layer's own struct at
 * each write.  Its words are read as those of the layer's struct are: plainly,
 * by any thread, at any time.
 */
#ifndef INTROSPECT_VARS_CVAR_COPY_H
#define INTROSPECT_VARS_CVAR_COPY_H

#include <stdbool.h>
#include <stdint.h>

struct vm_cvar_copy;
struct vm_cvar_table;

/* Makes a copy.  Any thread for all of these functions; none switches.  NULL:
 * out of memory. */
struct vm_cvar_copy *vm_cvar_copy_new(const struct vm_cvar_table *table);
/* NULL is allowed. */
void vm_cvar_copy_free(struct vm_cvar_copy *copy);

/* The struct of the layer; valid until the copy is freed. */
const void *vm_cvar_copy_values(const struct vm_cvar_copy *copy);

/*
 * Gives variable `number` a value of its own in the copy;
 * vm_cvar_copy_follow(): makes it follow the layer again.  -VMPI_ENOENT: no
 * such number; -VMPI_EINVAL: not of this table or not RANK, or the value is out
 * of its range; nothing is logged.
 */
int vm_cvar_copy_store(struct vm_cvar_copy *copy, int number, int64_t value);
int vm_cvar_copy_follow(struct vm_cvar_copy *copy, int number);

/* For the registry, which holds its lock: passes on the new value of word `row`
 * of the table. */
void vm_cvar_copies_write(const struct vm_cvar_table *table, unsigned row,
			  int64_t value);

#endif
