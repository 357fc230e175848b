/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of waiting for company (fabric/batch.h): a timer, and a thread that
 * sleeps until it runs out and then sends what still waits.
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
	_Atomic bool armed; /* the thread will look */
	_Atomic bool stop;
	pthread_t thread;
};

/* Without the thread, which is logged, nothing is put together. */
void vm_gather_open(struct vm_fabric *fabric);
void vm_gather_close(struct vm_fabric *fabric);

/* Something waits: the thread will look in fabric_gather_us. */
void vm_gather_arm(struct vm_fabric *fabric);

#endif
