/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bound on how long a batch is held back (fabric/post/batch.h): a timer, and a
 * thread that sleeps until it expires and then has all packets sent that still
 * wait.
 */
#ifndef FABRIC_PACKET_GATHER_H
#define FABRIC_PACKET_GATHER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Part of the fabric. */
struct vm_gather {
	int timer_fd;
	bool running;
	_Atomic bool armed; /* the thread will check */
	_Atomic bool stop;
	pthread_t thread;
	void (*late)(void *arg); /* sends what waits */
	void *arg;
};

/* Starts the thread; without it, which is logged, nothing is put together. */
void vm_gather_open(struct vm_gather *gather, void (*late)(void *arg),
		    void *arg);
void vm_gather_close(struct vm_gather *gather);

/* Asks the thread to check in fabric_gather_us, because packets wait. */
void vm_gather_arm(struct vm_gather *gather);

#endif
