/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks that can never go on wait for, in words: for reports of deadlocks.
 * For a thread of the runtime, while all ranks wait.
 */
#ifndef CORE_RUNTIME_NEAR_H
#define CORE_RUNTIME_NEAR_H

#define VM_NEAR_TEXT_MAX 320
#define VM_NEAR_LINES_MAX 16 /* of a process */

typedef void (*vm_near_line)(const char *text, void *arg);

/* Messages that have come and were not received, although they nearly match
 * what their rank waits for: "rank 3 waits for tag 7 of rank 1, whose message
 * of 4 bytes has tag 8".  At most VM_NEAR_LINES_MAX. */
void vm_near_say(vm_near_line line, void *arg);

/* The operations of ranks that wait for some of several (MPI_Waitany), as many
 * lines: "rank 3 waits for one of several: MPI_Ibarrier of communicator 0". */
void vm_near_several_say(vm_near_line line, void *arg);

/* The waits of the ranks here, as many: "rank 3 is in MPI_Recv: rank 1, tag
 * 7". */
void vm_near_waits_say(vm_near_line line, void *arg);

#endif
