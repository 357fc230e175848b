/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that is a rank: an ordinary executable, started by itself or, as
 * one of several processes, by vmpirun or another launcher.
 */
#ifndef CORE_RUNTIME_PROCESS_H
#define CORE_RUNTIME_PROCESS_H

/*
 * No loader loads its program and no runtime is started before, so the first
 * MPI call that needs one joins the job and starts it, with one rank.  That
 * thread, and every other thread that calls, acts for the rank (vmpi_attach)
 * until it ends. The process leaves the job in MPI_Finalize, because the others
 * need not know what it does afterwards, and how long.  The runtime stays until
 * the process ends, as some MPI functions may be called after that.
 */

#include <stdbool.h>
#include <stdint.h>

struct vm_rank;

/*
 * Makes the calling thread act for the process's rank, which begins now if
 * there was none: 0, -VMPI_ENORANK if the ranks of this process have tasks of
 * their own, or why the runtime does not start.
 */
int vm_process_join(void);

/*
 * Says goodbye to the other processes and leaves the job, for the last time;
 * the caller acts for the process's rank.  Does nothing where ranks share
 * processes.
 */
void vm_process_leave(void);

/* Has vm_process_leave() called when the process exits, if over() says then that
 * its rank has done its part. */
void vm_process_leave_at_exit(bool (*over)(void));

/* Whether the rank can communicate: its process has not left the job. */
bool vm_process_is_in_job(void);

/* Whether a rank is on this host. */
bool vm_process_near(const struct vm_rank *rank);

/* A number that is the same for ranks that can share memory: those of one
 * host. */
int vm_process_domain(void);

/* A number that is the same in all processes of the job, and differs from those
 * of other jobs; and the same as a word. */
uint64_t vm_process_job_number(void);
#define VM_PROCESS_JOB_BYTES 17
void vm_process_job(char job[VM_PROCESS_JOB_BYTES]);

/* The rank that this process is, or NULL. */
struct vm_rank *vm_process_rank(void);

#endif
