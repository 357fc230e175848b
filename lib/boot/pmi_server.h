/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PMI-1 server: lets the processes of one job, which vmpirun has started on
 * this host, find each other.
 */
#ifndef BOOT_PMI_SERVER_H
#define BOOT_PMI_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "boot/kvs.h"

/*
 * One socket per process; the owner polls them and calls _ready() for those
 * that are.  No function blocks.  A client can end its own connection by what
 * it sends, never the server: answers are queued until they are taken, and a
 * client that does not take them is not read any more; the amount that a client
 * may store is limited.  A fence is of the living: one that a process has not
 * reached ends all the same, with rc=-1.
 */

struct vm_pmi_client;

/* May be read directly. */
struct vm_pmi_server {
	int count;
	struct vm_pmi_client *clients; /* [count] */
	struct vm_kvs kvs;
	int abort_process; /* the first that called abort, or -1 */
	int abort_code;	   /* 1 to 255 */
};

/* Result: 0 or -VMPI_ENOMEM (logged). */
int vm_pmi_server_init(struct vm_pmi_server *server, int count);

/* Closes the sockets. */
void vm_pmi_server_fini(struct vm_pmi_server *server);

/* Hands fd, a stream socket of process, over to the server, which closes it. */
void vm_pmi_server_attach(struct vm_pmi_server *server, int process, int fd);

/* The events to poll process's socket for: *fd, or -1 when it is closed. */
short vm_pmi_server_events(const struct vm_pmi_server *server, int *fd,
			   int process);

/* Reads and answers requests, and writes waiting answers.  Logs what no client
 * may send and then closes that client's socket. */
void vm_pmi_server_ready(struct vm_pmi_server *server, int process);

/*
 * Notes that the process has ended with status (exit code or 128 + signal).
 * What it sent before is still read.  The others are told, if it had not left
 * properly.
 */
void vm_pmi_server_ended(struct vm_pmi_server *server, int process, int status);

/* Whether process has joined (sent init); whether it has left (finalize). */
bool vm_pmi_server_joined(const struct vm_pmi_server *server, int process);
bool vm_pmi_server_left(const struct vm_pmi_server *server, int process);

/* Whether process has called abort, first or not: it has printed why it
 * ends. */
bool vm_pmi_server_aborted(const struct vm_pmi_server *server, int process);

#endif
