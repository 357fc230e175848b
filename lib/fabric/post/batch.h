/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small packets of one connection that travel as one message of the network.
 *
 * A single packet is sent at once, and so are the first few in a row
 * (fabric_gather).  Those that follow without a poll in between are put
 * together in a batch, as are those that queue up behind one the network
 * refused.
 */
#ifndef FABRIC_POST_BATCH_H
#define FABRIC_POST_BATCH_H

#include "fabric/conn.h"

/*
 * A batch goes when it is full, when a control packet follows, at the next
 * poll, and after fabric_gather_us in any case: a thread of its own ensures
 * that, because a sender that now computes for a long time must not keep its
 * messages.
 */

/* Under lock: whether the next packet is to go into a batch. */
bool vm_batch_wanted(struct vm_conn *conn, const struct vm_send *send);

/* Under lock: a packet with room for one more of so many bytes at `last`, behind
 * the waiting ones; NULL: out of memory.  Its `end` is set next. */
struct vm_packet *vm_batch_room(struct vm_conn *conn, size_t bytes);

#endif
