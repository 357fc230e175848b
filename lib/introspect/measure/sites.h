/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where in its program a rank waits, and when it runs: per place of a call the
 * time in it, that of it in which its core had nothing to run, and for which rank
 * most of that was; and the run time of the rank moment by moment.
 *
 * Written by the rank; time and values come as arguments.
 */
#ifndef INTROSPECT_MEASURE_SITES_H
#define INTROSPECT_MEASURE_SITES_H

#include <stdbool.h>
#include <stdint.h>

#define VM_SITES_MAX 128
#define VM_SITES_SLICES 16
#define VM_SITES_WIDTH 1000000 /* ticks of a slice at first */
#define VM_SITES_NOBODY (-1)

struct vm_site {
	const void *from; /* where the call returns to; NULL: all that had no
			     room */
	uint32_t call;
	uint64_t count, time, idle;
	uint64_t idle_sends; /* of idle: it waited for a receiver */
	/* Of idle: for the rank that it waited for most, if that was more than
	 * half of it; less the rest. */
	int32_t peer;
	uint64_t idle_peer;
};

struct vm_sites {
	struct vm_site list[VM_SITES_MAX];
	unsigned count;
	struct vm_site *open; /* of the call that the rank is in, or NULL */
	uint64_t time, idle;  /* when it began */
	/* Run time in slices of `width` from `begin` on. */
	uint64_t begin, width, last, had;
	uint64_t slices[VM_SITES_SLICES];
};

/* All zeros before; begin: the same for all ranks. */
void vm_sites_init(struct vm_sites *sites, uint64_t begin);

/* A call begins, or ends after a wait for `peer`, or for nobody that is known;
 * idle: the idle time of its core; had: the run time of the rank. */
void vm_sites_enter(struct vm_sites *sites, uint64_t now, uint64_t idle,
		    uint64_t had, uint32_t call, const void *from);
void vm_sites_exit(struct vm_sites *sites, uint64_t now, uint64_t idle,
		   uint64_t had, int32_t peer, bool sends);

/* Makes slices at least that wide. */
void vm_sites_widen(struct vm_sites *sites, uint64_t width);

#endif
