/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bound on how long a batch is held back (fabric/batch.h): a timer, and a
 * thread that sleeps until it expires and then sends all packets that still
 * wait.
 */
#ifndef FABRIC_GATHER_H
#define FABRIC_GATHER_H

#include <pthread.h>
#include <stdbool.h>

struct vm_fabric;

/* Part of the fabric. */
struct vm_gather {
	int timer_fd;
	bool running;
	_Atomic bool armed; /* the thread will check */
	_Atomic bool stop;
	pthread_t thread;
};

/* Starts the thread; without it, which is logged, nothing is put together. */
void vm_gather_open(struct vm_fabric *fabric);
void vm_gather_close(struct vm_fabric *fabric);

/* Asks the thread to check in fabric_gather_us, because packets wait. */
void vm_gather_arm(struct vm_fabric *fabric);

#endif
