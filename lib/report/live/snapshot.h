/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stacks of a process's ranks as of one moment.
 *
 * All threads of the process are stopped (ptrace), the registers of its ranks
 * and the used parts of their stacks are copied, and the threads go on: this
 * takes milliseconds, and the process is asked for nothing, so that it may
 * hang.
 */
#ifndef REPORT_LIVE_SNAPSHOT_H
#define REPORT_LIVE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define VM_SNAPSHOT_REGISTERS 33 /* by their numbers in DWARF */

struct vm_snapshot_rank {
	int index;	  /* in the job */
	long system_call; /* that its thread is in; -1: none, or unknown */
	bool known;   /* false: it has ended, or runs where it was not seen */
	uint32_t set; /* bits: which registers are known, */
	uint64_t registers[VM_SNAPSHOT_REGISTERS];
	uint64_t pc, from, bytes; /* the part of the stack */
	char *stack;
};

struct vm_snapshot {
	pid_t pid;
	struct vm_snapshot_rank *ranks;
	unsigned count;
	int sp_number;
};

#define VM_SNAPSHOT_WHY_MAX 200

/*
 * Takes it of the process; debug is the address of its vmpi_debug
 * (core/runtime/debug.h).  0, or -VMPI_E... and the reason in why.
 */
int vm_snapshot_take(struct vm_snapshot *snapshot, pid_t pid, uint64_t debug,
		     char why[VM_SNAPSHOT_WHY_MAX]);
void vm_snapshot_free(struct vm_snapshot *snapshot);

/* Reads bytes of another process's memory; false: not all are there. */
bool vm_snapshot_read(pid_t pid, void *to, uint64_t address, size_t bytes);

/* Reads as many of the bytes as there are before the first that is not there;
 * returns how many. */
size_t vm_snapshot_read_most(pid_t pid, void *to, uint64_t address,
			     size_t bytes);

/* The word at an address, as it was, if it is on the stack of the rank; else
 * as it is now.  false: there is none. */
bool vm_snapshot_word(const struct vm_snapshot *snapshot,
		      const struct vm_snapshot_rank *rank, uint64_t address,
		      uint64_t *word);

#endif
