/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One end of a pair of processes that use libfabric directly: an endpoint, one
 * buffer with all registered, and a socket to agree on what is measured.
 */
#ifndef BENCH_RAW_END_H
#define BENCH_RAW_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/ofi/fi.h"
#include "fabric/ofi/select.h"

#define BYTES_MAX ((size_t)4 << 20)
#define NOTE_BYTES 8
#define NOTES 65 /* the first goes out, into the others they come in */
#define CONTEXTS 128

struct end {
	int socket;
	bool far, wait;
	char *memory, *notes;
	struct vm_select select;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	void *desc;
	fi_addr_t peer;
	uint64_t address, key; /* of the other one's memory */
	uint64_t received, sent;
	uint64_t posted, started; /* receives, and what they count up to */
	struct fi_context2 in[CONTEXTS], out[CONTEXTS];
};
extern struct end end;

_Noreturn void die(const char *what, int error);

/* By the socket, whole. */
void give(const void *bytes, size_t count);
void take(void *bytes, size_t count);

/* Takes the provider that vmpi would, and learns where the other one is.  The
 * socket is there. */
void end_open(void);

/* Counts what has come and what has gone. */
void poll_once(void);
void sent_wait(uint64_t until);

void receive(char *to, size_t bytes);

/* A message that is not waited for; number: which of those under way. */
void post_send(char *from, size_t bytes, uint64_t number);

/* A read or write of the other one's memory: 0, or an error of libfabric. */
ssize_t post_rma(size_t at, size_t bytes, bool write, uint64_t number);

#endif
