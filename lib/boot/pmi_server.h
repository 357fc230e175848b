/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PMI-1 server: lets the processes of one job, which vmpirun has started on
 * this host, find each other.
 *
 * One socket per process; the owner polls them and calls _ready() for those
 * that are.  Nothing here blocks.  What a client sends can end its own
 * connection, never the server: answers are queued until they are taken, and
 * who does not take them is not read any more; what a client may store is
 * limited.  A fence is of the living: one that a process has not come to ends
 * all the same, with rc=-1.
 */
#ifndef BOOT_PMI_SERVER_H
#define BOOT_PMI_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "boot/kvs.h"

struct vm_pmi_client;

/* Read as you like. */
struct vm_pmi_server {
	int count;
	struct vm_pmi_client *clients; /* [count] */
	struct vm_kvs kvs;
	int abort_process; /* who called abort first, or -1 */
	int abort_code;	   /* 1 to 255 */
};

/* Result: 0 or -VMPI_ENOMEM (logged). */
int vm_pmi_server_init(struct vm_pmi_server *server, int count);

/* Closes the sockets. */
void vm_pmi_server_fini(struct vm_pmi_server *server);

/* From now on fd, a stream socket, is process's, and the server's to close. */
void vm_pmi_server_attach(struct vm_pmi_server *server, int process, int fd);

/* What to poll process's socket for: *fd, or -1 when it is closed. */
short vm_pmi_server_events(const struct vm_pmi_server *server, int *fd,
			   int process);

/* Reads and answers what has come, and writes what waits.  Logs what no client
 * may send and then closes that client's socket. */
void vm_pmi_server_ready(struct vm_pmi_server *server, int process);

/*
 * The process has ended with status (exit code or 128 + signal).  What it sent
 * before is still read.  The others are told, if it had not left properly.
 */
void vm_pmi_server_ended(struct vm_pmi_server *server, int process, int status);

/* Whether process has joined (sent init); whether it has left (finalize). */
bool vm_pmi_server_joined(const struct vm_pmi_server *server, int process);
bool vm_pmi_server_left(const struct vm_pmi_server *server, int process);

/* Whether process has called abort, first or not: it has said why it ends. */
bool vm_pmi_server_aborted(const struct vm_pmi_server *server, int process);

#endif
