/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doors: sockets at which leaders of other jobs of the user, on this host, find
 * the leader of a port, and how the two greet each other.
 *
 * A door has a name that no file has, so nothing of it is left when its process
 * has died.
 */
#ifndef MPI_DYNAMIC_DOOR_H
#define MPI_DYNAMIC_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/runtime/process.h"

/* Who stands at an end of a socket. */
struct vm_greeting {
	char magic[8];
	int32_t rank;	 /* in its job */
	uint32_t number; /* of a meeting, which it has given */
	char job[VM_PROCESS_JOB_BYTES + 7];
};

void vm_greeting_fill(struct vm_greeting *greeting);

/* Whether it is one; whether it is of this job. */
bool vm_greeting_fits(const struct vm_greeting *greeting);
bool vm_greeting_is_own(const struct vm_greeting *greeting);

/* Opens the door of a port: 0, or -VMPI_EIO: see errno. */
int vm_door_open(int *door, const char *port);

/* Lets in the next one who stands there, if his greeting comes: its socket, or
 * -1.  May switch. */
int vm_door_answer(int door, struct vm_greeting *mine,
		   struct vm_greeting *theirs);

/*
 * Knocks at the door of a port and waits until it is answered, or the time
 * `until_ns` has come (0: never).  The socket, or -VMPI_ENOENT: there is no such
 * door, or it was closed; -VMPI_EAGAIN: it is too late; -VMPI_EIO: see errno.
 * May switch.
 */
int vm_door_knock(const char *port, struct vm_greeting *mine,
		  struct vm_greeting *theirs, uint64_t until_ns);

#endif
