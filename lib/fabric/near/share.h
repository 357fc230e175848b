/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes that two processes of a host move at once, out of the memory of the one
 * into that of the other: each takes the next piece that nobody has, and has the
 * kernel move it.
 *
 * One begins, and asks the other one by a packet of the layer above.  If that one
 * comes late it has less to do, or nothing.
 */
#ifndef FABRIC_NEAR_SHARE_H
#define FABRIC_NEAR_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/fabric.h"

/* A side that has moved a load of its own so lately is about to move the next
 * one: half a load of either by each takes more calls of the kernel, and nobody
 * has time to spare.  A longer gap says that it waits. */
#define VM_SHARE_LATELY_NS 10000

struct vm_shm_share;
struct vm_shm_writer;

/* What one side knows of it. */
struct vm_share {
	struct vm_port *port;
	uint32_t process;
	struct vm_load load; /* its places are there until the end */
	bool write;	     /* to the other one's memory */
	bool both_ways;	     /* the other one may have begun loads as well */
	bool alone;	     /* set by who begins: do not ask the other one */
	bool given;	     /* ... or by both: it is the other one's alone */
	/* ---- The fabric's own. */
	struct vm_shm_share *words;
	struct vm_shm_writer *outlet; /* of who begins */
	uint32_t number;
	uint32_t done; /* words->done when others have moved their pieces */
	int error;
};

/* Begins, filled up to `alone`: takes the only one at a time to that port.  false:
 * there is one, or it is not worth it; nothing has begun.  One that goes both ways
 * is begun all the same, alone, and so is one to a side that moves loads of its
 * own. */
bool vm_share_begin(struct vm_share *share, uint32_t port);

/* Reads one that was not begun, alone and at once: 0, -VMPI_ENOTSUP: it has to go
 * another way, or another error. */
int vm_share_read(const struct vm_share *share);

/* Moves pieces until none is left that nobody has; whether all are there, maybe
 * after a moment. */
bool vm_share_move(struct vm_share *share);

/* Whether they are, after another moment. */
bool vm_share_wait(const struct vm_share *share);

/* Lets the other one say when it has moved its pieces, by a packet with that number,
 * which is not 0; whether it has. */
bool vm_share_await(const struct vm_share *share, uint64_t id);

/* All pieces are there: 0, -VMPI_ENOTSUP: they have to go another way, or another
 * error.  The next one may begin. */
int vm_share_end(struct vm_share *share);

/* The other one's, inside the handler of the packet with that number: moves pieces
 * as long as there are some.  The number that waits for that to be said; 0:
 * none. */
uint64_t vm_share_help(struct vm_share *share, uint32_t port, uint32_t number);

/*
 * Memory here that the other side is to fill, in its own time: begins, as
 * vm_share_begin(), a load of which only our place is needed.  It is filled when
 * vm_share_wait() says so; before that vm_share_take_back() tells whether nobody
 * has begun to, or will.  vm_share_end() follows.
 */
bool vm_share_give(struct vm_share *share, uint32_t port);
bool vm_share_take_back(struct vm_share *share);

/* The other one's, of the load as it sees it: 0, -VMPI_EAGAIN: it has been taken
 * back, -VMPI_ENOTSUP: it has to go another way, or another error. */
int vm_share_fill(struct vm_share *share, uint32_t port, uint32_t number);

#endif
