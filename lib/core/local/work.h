/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work sharing: parts of a worker's work that idle workers do.
 *
 * A worker with much to do cuts its work into parts and offers them here; it
 * does them itself, one chunk after the other, and idle workers take chunks
 * too. No worker is interrupted, and the owner waits only for those that have
 * begun a chunk.
 */
#ifndef CORE_LOCAL_WORK_H
#define CORE_LOCAL_WORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct vm_worker;

#define VM_WORK_CHUNKS 64 /* at most; bits of vm_work.free */

/* A kind of work. */
struct vm_work_kind {
	/* Does parts first to last - 1; on any worker, on whatever stack it
	 * runs, so it must neither switch nor depend on the calling task. */
	void (*part)(void *arg, size_t first, size_t last);
	/* The worker whose core had best do this part. */
	int (*home)(void *arg, size_t part);
};

/* A worker's offer: one piece of work at a time.  With a few workers it is one
 * cache line. */
struct vm_work {
	_Atomic uint64_t free;	  /* a bit per chunk that is not taken */
	_Atomic uint32_t helpers; /* workers that may be at a chunk */
	/* Written by the worker while nothing is free and no one helps. */
	uint32_t chunks;
	const struct vm_work_kind *kind;
	void *arg;
	size_t parts;
	uint16_t homes[VM_WORK_CHUNKS];
} VM_ALIGNED(VM_CACHELINE);

/* Does parts 0 to parts - 1, perhaps with others' help; returns when all are
 * done.  Does not switch. */
void vm_work_run(const struct vm_work_kind *kind, void *arg, size_t parts);

/* Takes some of what other workers offer, if anything; whether there was. */
bool vm_work_help(struct vm_worker *worker);

#endif
