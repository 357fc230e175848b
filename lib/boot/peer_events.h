/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports of processes that have died: from any thread that learns of them to a
 * callback on a thread of its own.
 */
#ifndef BOOT_PEER_EVENTS_H
#define BOOT_PEER_EVENTS_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "boot/boot.h"

/* Called on the thread when its fd is readable; may call _add(). */
typedef void (*vm_peer_events_pump_fn)(void *arg);

/* A descriptor that is readable when the process has ended. */
struct vm_peer_end {
	int process;
	uint64_t due_ns; /* when its end is reported; UINT64_MAX: never */
};

/* Written under the lock, but for what is set before the thread starts. */
struct vm_peer_events {
	pthread_mutex_t lock;
	int count;   /* of processes */
	int *status; /* [count + 1], the last one is the launcher's */
	char *state; /* [count + 1], of enum state in peer_events.c */
	int wake_fd; /* eventfd: the thread has something to do */
	int pump_fd; /* or -1 */
	vm_peer_events_pump_fn pump;
	void *pump_arg;
	int end_count;
	struct vm_peer_end *ends; /* [end_count]; of the thread, once it runs */
	struct pollfd *fds;	  /* [2 + end_count]; the same */
	vm_boot_peer_event_fn fn;
	void *arg;
	bool running, stopping;
	pthread_t thread;
};

/* Result: 0, -VMPI_ENOMEM, -VMPI_ELIMIT (no descriptor); logged. */
int vm_peer_events_init(struct vm_peer_events *events);

/* Ends the thread; no more callbacks and pumps are called. */
void vm_peer_events_stop(struct vm_peer_events *events);

/* Frees it; after vm_peer_events_stop(), when no thread adds any more. */
void vm_peer_events_fini(struct vm_peer_events *events);

/* Sets the number of processes; once, before all that follows. */
int vm_peer_events_count(struct vm_peer_events *events, int processes);

/* Makes the thread poll fd too; before vm_peer_events_watch(). */
void vm_peer_events_pump(struct vm_peer_events *events, int fd,
			 vm_peer_events_pump_fn pump, void *arg);

/* Reports VM_BOOT_ENDED for the process when the descriptor is readable, unless
 * something else is reported soon.  Closes it, at once without memory.  Before
 * vm_peer_events_watch(), after vm_peer_events_count(). */
void vm_peer_events_end_fd(struct vm_peer_events *events, int process, int fd);

/* Reports that a process, or -1 for the launcher, has died.  Any thread; the
 * first time counts, and invalid numbers are ignored. */
void vm_peer_events_add(struct vm_peer_events *events, int process, int status);

/* Starts the thread.  Result: 0 or -VMPI_ELIMIT (logged). */
int vm_peer_events_watch(struct vm_peer_events *events,
			 vm_boot_peer_event_fn fn, void *arg);

#endif
