/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers for operations, by which other processes name them.
 *
 * A number is an index into a table and the count of how often that entry was
 * used: a number that is over, or was never given, finds nothing.  Numbers are
 * not 0.  Any thread.
 */
#ifndef BASE_ID_TABLE_H
#define BASE_ID_TABLE_H

#include <stdint.h>

#include "base/lock.h"

struct vm_id_table_entry {
	void *op; /* NULL: free */
	uint32_t uses;
	uint32_t next; /* free: the next free one, 0: none */
};

struct vm_id_table {
	struct vm_lock lock; /* guards all */
	struct vm_id_table_entry *entries;
	uint32_t count, free; /* entry 0 is not used */
};

void vm_id_table_init(struct vm_id_table *table);
void vm_id_table_fini(struct vm_id_table *table);

/* A number for op, or 0 when out of memory.  *id gets it before anybody can
 * find op by it; afterwards op belongs to whoever takes it. */
uint64_t vm_id_table_new(struct vm_id_table *table, void *op, uint64_t *id);
/* What the number was given for, or NULL. */
void *vm_id_table_find(struct vm_id_table *table, uint64_t id);
/* The same, and the number is over: of several callers one gets it. */
void *vm_id_table_take(struct vm_id_table *table, uint64_t id);

/* 32 bits for a number, or 0 where they are too few; and the number that is in
 * use and has them, or 0. */
uint32_t vm_id_table_short(uint64_t id);
uint64_t vm_id_table_long(struct vm_id_table *table, uint32_t bits);

/* Calls each for every operation until it does not return 0; the lock is held:
 * each only looks.  Its last result. */
uint64_t vm_id_table_each(struct vm_id_table *table,
			  uint64_t (*each)(uint64_t id, void *op, void *arg),
			  void *arg);

#endif
