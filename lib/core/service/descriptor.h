/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks that wait for file descriptors, for any number of which the service
 * thread (core/service/thread.h) waits.
 *
 * While one does, the process is never quiet (core/runtime/quiet.h), since
 * somebody outside may do something.
 */
#ifndef CORE_SERVICE_DESCRIPTOR_H
#define CORE_SERVICE_DESCRIPTOR_H

#include <stdbool.h>

#include "core/local/req.h"

struct vm_node;

/* A wait, on the stack of who waits.  Guarded by the lock of all while the
 * request is not complete. */
struct vm_descriptor {
	struct vm_req req;
	int fd;		   /* as epoll knows it: the caller's, or a copy */
	int events, ready; /* of poll(2) */
	bool copied;
};

/*
 * Begins to wait for events of poll(2), as which POLLERR and POLLHUP count
 * always.  VM_DONE: they are there, in `ready`; VM_PENDING: the request
 * completes then, and vm_descriptor_leave() must follow.  -VMPI_EINVAL: not a
 * descriptor that is open; -VMPI_ELIMIT (logged): there are too many.
 */
int vm_descriptor_enter(struct vm_descriptor *wait, int fd, int events);

/* Whether they are there; if not the request never completes. */
bool vm_descriptor_leave(struct vm_descriptor *wait);

/* After the service has stopped. */
void vm_descriptors_fini(struct vm_node *node);

#endif
