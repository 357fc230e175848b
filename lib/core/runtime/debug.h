/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A map of the runtime's memory for debuggers, which find it by its name,
 * vmpi_debug, also in programs without debug information and in core files.
 *
 * It leads to the ranks of the process and to the saved registers of those that
 * do not run.  Offsets are in bytes.  Read by vmpi-node-gdb.py and by
 * report/live/snapshot.c.
 */
#ifndef CORE_RUNTIME_DEBUG_H
#define CORE_RUNTIME_DEBUG_H

#include <stdint.h>

#include "sched/ctx.h"
#include "vmpi.h"

#define VM_DEBUG_VERSION 1

struct vm_node;

struct vm_debug {
	uint32_t version, bytes;     /* of this struct */
	const char *library;	     /* its version */
	const char *states;	     /* words for the states of ranks */
	struct vm_node *const *node; /* NULL while the runtime does not run */
	/* In the node: an array of pointers to ranks, and how many. */
	uint32_t node_own, node_ranks;
	/* In a rank: its number in the job, its state (8 bytes), and its main
	 * task; NULL: it has ended. */
	uint32_t rank_index, rank_state, rank_main;
	/* In a task: the saved stack pointer, and its stack; without one it is
	 * an OS thread. */
	uint32_t task_sp, task_base, task_bytes;
	struct vm_ctx_layout context; /* what lies at the stack pointer */
};

extern VMPI_API const struct vm_debug vmpi_debug;

#endif
