/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service thread: one OS thread per process for periodic work and for
 * requests from outside, like policies and the control socket.
 */
#ifndef CORE_SERVICE_THREAD_H
#define CORE_SERVICE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * It exists only once there is a handler for it, and ends when the runtime
 * stops; the search for deadlocks (core/runtime/deadlock.h) has one, unless it
 * is turned off.  It sleeps between its handlers, runs no code of ranks and is
 * no rank: vmpi_rank() and the like refuse it.  It may read every performance
 * variable (introspect/vars/pvar.h) and set control variables, while everything
 * that it reads is there.
 *
 * Handlers run one after the other and should be short, since each waits for
 * the others. All functions may be called by any thread and task, and none
 * switches; from a handler too, except vm_service_stop().
 */

struct vm_node;

#define VM_SERVICE_HANDLERS_MAX 64

/* A handler that is called periodically; now is CLOCK_MONOTONIC. */
typedef void vm_service_tick(void *arg, uint64_t now_ns);

/* A handler that is called when poll(2) reports an event of a descriptor. */
typedef void vm_service_ready(void *arg, int fd, short revents);

struct vm_service_handler {
	int id; /* positive; 0: this place is free */
	int fd; /* -1: a tick */
	short events;
	uint64_t period_ns, due_ns;
	vm_service_tick *tick;
	vm_service_ready *ready;
	void *arg;
};

/* vm_node->service; all under the lock. */
struct vm_service {
	pthread_mutex_t lock;
	pthread_cond_t rested; /* `busy` has changed */
	bool running, stopping;
	pthread_t thread;
	int wake_fd;
	int last_id;
	int busy; /* the handler that is under way, or 0 */
	struct vm_service_handler handlers[VM_SERVICE_HANDLERS_MAX];
};

/* 0 or -VMPI_ENOMEM. */
int vm_service_init(struct vm_node *node);

/* Ends the thread when the running handler is done; no more are accepted.  Does
 * nothing if called again.  Call before anything that handlers use is freed. */
void vm_service_stop(struct vm_node *node);
void vm_service_fini(struct vm_node *node);

/*
 * Adds a handler to this process: returns its id, or -VMPI_ESTATE (the runtime
 * does not run, or stops), -VMPI_ELIMIT (there are too many, or no thread or
 * descriptor is left; logged), -VMPI_EINVAL (a period of 0).
 *
 * The first tick comes after one period.  A late one delays all that follow;
 * none is made up for.  A descriptor belongs to the caller, who drops the
 * handler before closing it; events as of poll(2), whose POLLERR, POLLHUP and
 * POLLNVAL always come.
 */
int vm_service_every(uint64_t period_ns, vm_service_tick *tick, void *arg);
int vm_service_fd(int fd, short events, vm_service_ready *ready, void *arg);

/* Another period, counted from now; other events.  -VMPI_ENOENT: no such
 * handler, or one of the other kind. */
int vm_service_period(int id, uint64_t period_ns);
int vm_service_events(int id, short events);

/*
 * Takes a handler back.  After the return it does not run and never will; if it
 * is under way that is waited for, unless it is the caller itself.
 * -VMPI_ENOENT.
 */
int vm_service_drop(int id);

#endif
