/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote reads and writes, from inside: chunks, their ends, their failure.
 * A chunk that is lost with its connection is begun again, with all behind it.
 *
 * An operation gets its `carrier` when it begins: the packet that takes its end
 * through the list of ended operations (and the heap of the link model), so
 * that ending needs no memory.  All under the port's lock.
 */
#ifndef FABRIC_RMA_H
#define FABRIC_RMA_H

#include "fabric/port.h"

struct vm_conn;

/* Posts chunks of the waiting operations, as far as the network takes them. */
void vm_rma_push(struct vm_port *port);

/* Handles the end of a chunk; error: 0 or -VMPI_E... */
void vm_rma_chunk_end(struct vm_port *port, struct vm_packet *chunk, int error);

/* Begins chunks again that the network has, and has lost. */
void vm_rma_lost(struct vm_conn *conn);

/* Moves bytes of a load at once between our memory and that of another process
 * of this host: 0, -VMPI_ENOTSUP, or another error. */
int vm_rma_near(struct vm_port *port, uint32_t process,
		const struct vm_load *load, size_t at, size_t bytes,
		bool write);

/* Fails all operations with that process. */
void vm_rma_fail(struct vm_port *port, uint32_t process);

#endif
