/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outlets: standard output and error as several writers share them.
 *
 * A line that has begun belongs to its writer, a rank.  Any other writer has to
 * end it before it writes something; to keep the line whole it gives the writer
 * some time first, from the last piece on.  Node processes of one host share
 * this state by a descriptor that vmpirun makes; a process without one has its
 * own.
 */
#ifndef REPORT_OUTLET_H
#define REPORT_OUTLET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How long a line waits for that of another writer, and the beginning of a
 * line with a label for its end. */
#define VM_OUTLET_PATIENCE_NS UINT64_C(50000000) /* core_output_wait */
/* How often those who wait look again. */
#define VM_OUTLET_TICK_NS UINT64_C(5000000)

/* A line without an end, the last thing written to a stream. */
struct vm_outlet_line {
	int32_t writer;	   /* its number plus 1; 0: there is no such line */
	uint64_t since_ns; /* of its last piece */
};

/* All zero: nothing has begun. */
struct vm_outlet {
	_Atomic uint32_t lock; /* the process that has it, and a bit */
	/* Guarded by the lock, where processes share this. */
	struct vm_outlet_line begun[2]; /* of standard output and error */
};

/* Makes the descriptor of an outlet that processes share, closed on exec; -1:
 * failed. */
int vm_outlet_new(void);

/* The outlet of a descriptor; NULL: it is none. */
struct vm_outlet *vm_outlet_open(int fd);

/* Takes and gives back the lock, for the process `pid`; that of a process which
 * has died is free.  False: it was not free within the time. */
bool vm_outlet_lock(struct vm_outlet *outlet, pid_t pid, uint64_t ns_max);
void vm_outlet_unlock(struct vm_outlet *outlet);

/* The clock of `since_ns`, which is that of all processes. */
uint64_t vm_outlet_now(void);

/* Whether another writer's line has begun. */
static inline bool vm_outlet_foreign(const struct vm_outlet_line *begun,
				     int writer)
{
	return begun->writer && begun->writer != writer + 1;
}

/* Notes what the writer has written last; `ended`: a whole line. */
static inline void vm_outlet_note(struct vm_outlet_line *begun, int writer,
				  bool ended)
{
	begun->writer = ended ? 0 : writer + 1;
	if (!ended)
		begun->since_ns = vm_outlet_now();
}

#endif
