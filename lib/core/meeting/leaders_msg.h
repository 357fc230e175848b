/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One message between two leaders.  It goes from and to the first members of
 * their processes, whichever member is the leader.
 */
#ifndef CORE_MEETING_LEADERS_MSG_H
#define CORE_MEETING_LEADERS_MSG_H

#include <stdbool.h>
#include <stddef.h>

struct vm_data;
struct vm_meet;
struct vmpi_req;

/* Notes that a process of the channel is gone: every later exchange fails, and
 * says so to the other leaders. */
void vm_leaders_lose(const struct vm_meet *meet);

/* 0 with *req set, or an error. */
int vm_leaders_msg_send(const struct vm_meet *meet, int process,
			const struct vm_data *data, struct vmpi_req **req);
int vm_leaders_msg_recv(const struct vm_meet *meet, int process,
			const struct vm_data *data, struct vmpi_req **req);

/* The same of plain bytes. */
int vm_leaders_part_recv(const struct vm_meet *meet, int process, void *buf,
			 size_t bytes, struct vmpi_req **req);
int vm_leaders_part_send(const struct vm_meet *meet, int process,
			 const void *buf, size_t bytes, struct vmpi_req **req);

/* The same without a request, where that needs nothing more: a short message to
 * a process of this host, the meeting's only one if `alone`, and one of *bytes that
 * comes within a moment if it waits, or has.  false: not this way; nothing is done. */
bool vm_leaders_msg_tell(const struct vm_meet *meet, int process,
			 const void *buf, size_t bytes, bool alone);
bool vm_leaders_msg_hear(const struct vm_meet *meet, int process, void *buf,
			 size_t *bytes, bool waits);

/* Whether one has come that is to be received in another way. */
bool vm_leaders_msg_is_here(const struct vm_meet *meet, int process);

/* Sends as if another process did.  0 or an error.  May switch. */
int vm_leaders_msg_say_for(const struct vm_meet *meet, int to, int process,
			   const void *buf, size_t bytes);

/* Waits for one of them, unless *req is NULL, and makes it NULL; *bytes, if not
 * NULL, gets how many came.  Both kinds end with -VMPI_EPEER when a process of
 * the channel dies, whichever.  May switch. */
int vm_leaders_msg_wait(const struct vm_meet *meet, struct vmpi_req **req,
			size_t *bytes);

#endif
