/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that is a rank: an ordinary executable, started by itself.
 *
 * Nothing loads its program and nobody started a runtime, so the first MPI call
 * that needs one starts it, with one rank.  That thread, and every other thread
 * that comes, acts for the rank (vmpi_attach) until it ends.  The runtime stays
 * until the process ends, as MPI can be asked things after MPI_Finalize.
 */
#ifndef CORE_PROCESS_H
#define CORE_PROCESS_H

struct vm_rank;

/*
 * Makes the calling thread act for the process's rank, which begins now if
 * there was none: 0, -VMPI_ENORANK if the ranks of this process have tasks of
 * their own, or why the runtime does not start.
 */
int vm_process_join(void);

/* The rank that this process is, or NULL. */
struct vm_rank *vm_process_rank(void);

#endif
