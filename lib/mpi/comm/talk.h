/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Talks: two leaders of different jobs exchange bytes, by a socket, or by
 * messages if they can reach each other already.
 */
#ifndef MPI_COMM_TALK_H
#define MPI_COMM_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rank/match.h"

struct vm_rank;

/* Bytes that grow; a failure of memory stays in it. */
struct vm_blob {
	char *data;
	size_t bytes, room;
	bool failed;
};

void vm_blob_put(struct vm_blob *blob, const void *data, size_t bytes);
void vm_blob_free(struct vm_blob *blob);

/* Takes bytes from *at on; false: there are not so many. */
bool vm_blob_get(const struct vm_blob *blob, size_t *at, void *data,
		 size_t bytes);

/* Sends a blob to a rank, or receives one: 0 or a negative code of core.  May
 * switch. */
int vm_blob_send(struct vm_rank *to, struct vm_env env,
		 const struct vm_blob *blob);
int vm_blob_recv(struct vm_env env, struct vm_blob *blob);

struct vm_talk {
	bool first; /* of the two, at exactly one of the leaders */
	int fd;	    /* the socket; -1: messages, */
	struct vm_rank *other;
	struct vm_env to, from; /* with these keys */
};

/* Exchanges a blob for one of the other leader: 0, -VMPI_EPEER: he is gone, or
 * -VMPI_ENOMEM.  May switch. */
int vm_talk(const struct vm_talk *talk, const struct vm_blob *mine,
	    struct vm_blob *theirs);

/* Lets others run between two looks, at first for no time; *ns is 0 before the
 * first. */
void vm_look_wait(unsigned looks, uint64_t *ns);

/* Sends or receives all of some bytes by a socket: false: the other end is
 * closed, or it is not a socket, or the time has come.  May switch. */
bool vm_fd_pass(int fd, void *data, size_t bytes, bool out, uint64_t until_ns);

#endif
