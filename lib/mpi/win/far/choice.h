/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which way a lone access goes to a process of this host: by the kernel, or in
 * packets, which are quicker where cores are near each other and the target polls.
 *
 * That is tried now and then: a few accesses of a kind and a size go each way and
 * are timed, and all go the quicker one until the next trial.  Threads of a member
 * use a choice at a time; what they spoil is put right by the next trial.
 */
#ifndef MPI_WIN_FAR_CHOICE_H
#define MPI_WIN_FAR_CHOICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum vm_far_way { VM_FAR_PACKETS, VM_FAR_KERNEL };

struct vm_far_choice {
	_Atomic uint8_t way;	/* enum vm_far_way */
	_Atomic uint8_t step;	/* of a trial, from 1 on; 0: there is none */
	_Atomic uint16_t left;	/* accesses until the next trial */
	_Atomic uint16_t pause; /* how many there were before this one */
	/* The quickest of the last trial, each way. */
	_Atomic uint32_t ticks[2];
};

void vm_far_choice_init(struct vm_far_choice *choice, enum vm_far_way way);

/* The way of the next access; *timed: vm_far_choice_took() is to hear of it. */
enum vm_far_way vm_far_choice_next(struct vm_far_choice *choice, bool *timed);
void vm_far_choice_took(struct vm_far_choice *choice, uint64_t ticks);

#endif
