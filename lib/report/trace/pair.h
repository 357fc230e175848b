/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events that wait for their other half, first in, first out by key: sends for
 * the receive that they meet, messages for their payload.
 */
#ifndef REPORT_TRACE_PAIR_H
#define REPORT_TRACE_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "introspect/measure/trace.h"

struct vm_trace_key {
	uint32_t word[4];
};

struct vm_trace_half {
	int64_t ns;
	uint64_t value;
	uint64_t flow; /* of a send: the number of its arrow */
	uint32_t rank;
	int32_t tag;
};

struct vm_trace_queue;

/* All zeros is an empty table. */
struct vm_trace_table {
	struct vm_trace_queue **buckets;
	size_t size, count; /* of queues */
};

/* The key that a send and its receive have in common. */
static inline struct vm_trace_key
vm_trace_key_of(const struct vm_trace_record *record)
{
	bool send = record->kind == VM_TRACE_SEND;

	return (struct vm_trace_key){ {
		record->context,
		(uint32_t)record->tag,
		send ? record->id : (uint32_t)record->peer,
		send ? (uint32_t)record->peer : record->rank,
	} };
}

/* 0 or -VMPI_ENOMEM. */
int vm_trace_put(struct vm_trace_table *table, const struct vm_trace_key *key,
		 const struct vm_trace_half *half);
/* Takes the oldest of this key out; false: there is none. */
bool vm_trace_take(struct vm_trace_table *table, const struct vm_trace_key *key,
		   struct vm_trace_half *half);
/* The oldest of this key; NULL: there is none. */
struct vm_trace_half *vm_trace_look(const struct vm_trace_table *table,
				    const struct vm_trace_key *key);
void vm_trace_table_fini(struct vm_trace_table *table);

#endif
