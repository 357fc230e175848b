/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes in chunks.
 *
 * A read is done when the data are here.  A write asks for delivery complete
 * with every chunk: a plain completion only says that a socket took the bytes.
 */
#include "fabric/rma.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "fabric/conn.h"
#include "fabric/mr.h"
#include "fabric/near.h"
#include "fabric/notice.h"
#include "fabric/state.h"

static void local_close(struct vm_port *port, struct vm_rma *rma)
{
	if (rma->handle)
		port->fi->close(&((struct fid_mr *)rma->handle)->fid);
	rma->handle = NULL;
}

/* Ends the operation; its owner will be told. */
static void rma_end(struct vm_port *port, struct vm_rma *rma)
{
	struct vm_packet *carrier = rma->carrier;

	VM_ASSERT(rma->inflight == 0 && !rma->listed);
	local_close(port, rma);
	carrier->error = rma->error;
	if (rma->due && !rma->error && rma->due > vm_clock_ns())
		vm_port_hold(port, &carrier->due, rma->due);
	else
		vm_list_append(&port->ended, &carrier->link);
}

static void rma_unlist(struct vm_rma *rma)
{
	if (rma->listed)
		vm_list_remove(&rma->link);
	rma->listed = false;
}

/* Posts one chunk.  0, -VMPI_EAGAIN: not now, -VMPI_ENOMEM, -VMPI_EIO. */
static int chunk_post(struct vm_port *port, struct vm_conn *conn,
		      struct vm_rma *rma)
{
	size_t left = rma->bytes - rma->posted;
	size_t most = (size_t)fabric_cvar.rma_chunk;
	size_t bytes = left < most ? left : most;
	struct iovec iov = { (char *)rma->local + rma->posted, bytes };
	struct fi_rma_iov remote = { rma->remote.address + rma->posted, bytes,
				     rma->remote.key };
	struct fi_msg_rma msg = { .msg_iov = &iov,
				  .desc = &rma->desc,
				  .iov_count = 1,
				  .addr = conn->address,
				  .rma_iov = &remote,
				  .rma_iov_count = 1 };
	uint64_t flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
	struct vm_packet *chunk;
	ssize_t rc;

	chunk = vm_packet_get(&port->pkts, 0);
	if (!chunk)
		return -VMPI_ENOMEM;
	chunk->use = VM_PKT_CHUNK;
	chunk->op = rma;
	chunk->conn = conn;
	chunk->orphan = false;
	chunk->from = rma->posted;
	chunk->data_bytes = (uint32_t)bytes;
	msg.context = &chunk->context;
	if (rma->write && rma->notice && bytes == left) {
		msg.data = vm_notice_data(port, rma);
		flags |= FI_REMOTE_CQ_DATA;
	}
	rc = rma->write ? port->fi->writemsg(port->ep, &msg, flags) :
			  port->fi->readmsg(port->ep, &msg, FI_COMPLETION);
	if (rc) {
		vm_packet_put(&port->pkts, chunk);
		if (rc == -FI_EAGAIN || vm_fi_lost((int)-rc)) {
			vm_pvar_add(port->pvars.again, 1);
			return -VMPI_EAGAIN;
		}
		vm_pvar_add(port->pvars.errors, 1);
		vm_log(VM_ERROR, "remote %s of process %u: %s",
		       rma->write ? "write" : "read", conn->process,
		       vm_fi_text((int)-rc));
		return -VMPI_EIO;
	}
	vm_list_append(&port->inflight, &chunk->link);
	vm_port_inflight_add(port);
	vm_resend_chunk_begin(conn);
	rma->posted += bytes;
	rma->inflight++;
	vm_pvar_add(port->pvars.chunks, 1);
	vm_pvar_add(port->pvars.rma_bytes, bytes);
	return 0;
}

static struct vm_conn *conn_of(struct vm_port *port, const struct vm_rma *rma)
{
	return &port->contacts[rma->to.process]->conns[rma->to.port];
}

#define TRIES_MAX 100 /* of an operation of which no chunk goes through */

/* Goes back to what was lost, once the network has none of the operation, and
 * has taken an ASK.  0, -VMPI_ELIMIT: not yet, -VMPI_EIO. */
static int rma_resume(const struct vm_conn *conn, struct vm_rma *rma)
{
	if (VM_LIKELY(rma->lost == rma->bytes))
		return 0;
	if (rma->inflight || conn->resend.failed)
		return -VMPI_ELIMIT;
	rma->posted = rma->lost;
	rma->lost = rma->bytes;
	return ++rma->tries <= TRIES_MAX ? 0 : -VMPI_EIO;
}

/* Posts as many chunks of one operation as may be under way. */
static void rma_post(struct vm_port *port, struct vm_rma *rma)
{
	struct vm_conn *conn = conn_of(port, rma);
	int rc = rma_resume(conn, rma);

	while (rc == 0 && rma->posted < rma->bytes &&
	       rma->inflight < (unsigned)fabric_cvar.rma_inflight &&
	       vm_port_room(port)) {
		rc = chunk_post(port, conn, rma);
		if (rc == 0)
			conn->rma_since = 0;
	}
	if (rc == -VMPI_EAGAIN && rma->inflight == 0)
		vm_conn_refused(conn, &conn->rma_since);
	if (rc == -VMPI_ELIMIT)
		return;
	if (rc < 0 && rc != -VMPI_EAGAIN) {
		rma->error = rc;
		rma->posted = rma->bytes;
	}
	if (rma->posted < rma->bytes)
		return;
	rma_unlist(rma);
	if (rma->inflight == 0)
		rma_end(port, rma);
}

void vm_rma_push(struct vm_port *port)
{
	struct vm_list *link = port->rma.next;

	while (link != &port->rma) {
		struct vm_rma *rma = vm_container_of(link, struct vm_rma, link);

		link = link->next;
		rma_post(port, rma);
	}
}

/* Takes in that the operation has one chunk less under way.  -VMPI_EAGAIN: it
 * is to be begun again. */
static void chunk_ended(struct vm_port *port, struct vm_rma *rma, size_t from,
			int error)
{
	rma->inflight--;
	if (error == -VMPI_EAGAIN && rma->write && rma->notice)
		error = -VMPI_ENOTSUP;
	if (error == -VMPI_EAGAIN && !rma->error) {
		vm_pvar_add(port->pvars.chunks_again, 1);
		if (from < rma->lost)
			rma->lost = from;
		if (!rma->listed)
			vm_list_append(&port->rma, &rma->link);
		rma->listed = true;
		vm_port_owe(port);
		return;
	}
	if (error && error != -VMPI_EAGAIN && !rma->error) {
		rma->error = error;
		rma->posted = rma->lost = rma->bytes;
		rma_unlist(rma);
	}
	if (!error)
		rma->tries = 0;
	if (rma->inflight == 0 && rma->posted == rma->bytes &&
	    rma->lost == rma->bytes)
		rma_end(port, rma);
}

void vm_rma_chunk_end(struct vm_port *port, struct vm_packet *chunk, int error)
{
	struct vm_rma *rma = chunk->op;
	size_t from = chunk->from;

	vm_resend_chunk_end(chunk->conn, !error);
	vm_list_remove(&chunk->link);
	vm_packet_put(&port->pkts, chunk);
	if (error) { /* used again last: a second report of it is noticed */
		vm_list_remove(&chunk->link);
		vm_list_append(&chunk->slab->free, &chunk->link);
	}
	chunk_ended(port, rma, from, error);
}

/* Detaches chunks that the network still has from their operation: those of a
 * process, or of one connection. */
static void chunks_orphan(struct vm_port *port, uint32_t process,
			  const struct vm_conn *conn, int error)
{
	struct vm_list *link = port->inflight.next;

	while (link != &port->inflight) {
		struct vm_packet *chunk =
			vm_container_of(link, struct vm_packet, link);
		struct vm_rma *rma = chunk->op;

		link = link->next;
		if (chunk->use != VM_PKT_CHUNK ||
		    chunk->conn->process != process ||
		    (conn && chunk->conn != conn))
			continue;
		vm_resend_chunk_end(chunk->conn, false);
		vm_port_orphan(port, chunk);
		chunk->op = NULL;
		chunk_ended(port, rma, chunk->from, error);
	}
}

void vm_rma_lost(struct vm_conn *conn)
{
	chunks_orphan(conn->port, conn->process, conn, -VMPI_EAGAIN);
}

void vm_rma_fail(struct vm_port *port, uint32_t process)
{
	struct vm_list *link;

	chunks_orphan(port, process, NULL, -VMPI_EPEER);
	for (link = port->rma.next; link != &port->rma;) {
		struct vm_rma *rma = vm_container_of(link, struct vm_rma, link);

		link = link->next;
		if (rma->to.process != process)
			continue;
		rma->error = -VMPI_EPEER;
		rma_unlist(rma);
		rma_end(port, rma);
	}
}

/* Copies memory of this process, by the loop. */
static void loop_copy(struct vm_port *port, struct vm_rma *rma)
{
	unsigned access = rma->write ? VM_MR_WRITE : VM_MR_READ;
	char *there = vm_mr_find(port->fabric, rma->remote, rma->bytes, access);

	if (!there)
		rma->error = -VMPI_EINVAL;
	else if (rma->write)
		memcpy(there, rma->local, rma->bytes);
	else
		memcpy(rma->local, there, rma->bytes);
}

int vm_fabric_near_move(struct vm_fabric *fabric, uint32_t process,
			const struct vm_load *load, bool write)
{
	struct vm_shm *shm = fabric->shm;

	/* The model's time would have to be waited for. */
	if (vm_link_active() || !vm_shm_moves_near(shm, process))
		return -VMPI_ENOTSUP;
	return vm_shm_move(shm, process, load, 0, load->bytes, write);
}

int vm_rma_near(struct vm_port *port, uint32_t process,
		const struct vm_load *load, size_t at, size_t bytes, bool write)
{
	struct vm_shm *shm = port->fabric->shm;
	int rc;

	if (!vm_shm_moves_near(shm, process))
		return -VMPI_ENOTSUP;
	rc = vm_shm_move(shm, process, load, at, bytes, write);
	/* If that memory is gone, we are the first to know. */
	if (rc == -VMPI_EPEER)
		vm_peer_fail(port->fabric, process, rc, "its memory is gone");
	return rc;
}

/* Moves it at once: 0, or -VMPI_ENOTSUP. */
static int near_move(struct vm_port *port, struct vm_rma *rma)
{
	struct iovec here = { rma->local, rma->bytes };
	struct iovec there = { (void *)(uintptr_t)rma->remote.address,
			       rma->bytes };
	struct vm_load load = vm_load_one(&here, &there);
	int rc = vm_rma_near(port, rma->to.process, &load, 0, rma->bytes,
			     rma->write);

	if (rc == -VMPI_ENOTSUP)
		return rc;
	rma->error = rc;
	return 0;
}

/* Registers the local side, where the provider wants that. */
static int local_open(struct vm_port *port, struct vm_rma *rma)
{
	struct fid_mr *mr;
	int rc;

	if (!port->fi || !rma->bytes ||
	    !(port->fabric->select.info->domain_attr->mr_mode & FI_MR_LOCAL))
		return 0;
	rc = vm_mr_local(port, &mr, rma->local, rma->bytes,
			 rma->write ? FI_WRITE : FI_READ);
	if (rc < 0)
		return rc;
	rma->handle = mr;
	rma->desc = port->fi->mr_desc(mr);
	return 0;
}

/* Under lock: begins the operation. */
static int rma_begin(struct vm_port *port, struct vm_rma *rma, bool moved,
		     bool told)
{
	struct vm_conn *conn;
	struct vm_packet *carrier;
	int rc = vm_conn_get(&conn, port, rma->to);

	if (rc < 0)
		return rc;
	if (!moved && !port->fabric->limits.rma)
		return -VMPI_ENOTSUP;
	carrier = vm_packet_get(&port->pkts, 0);
	if (!carrier)
		return -VMPI_ENOMEM;
	rma->desc = rma->handle = NULL;
	rc = moved ? 0 : local_open(port, rma);
	carrier->use = VM_PKT_CARRIER;
	if (rc < 0) {
		vm_packet_put(&port->pkts, carrier);
		return rc;
	}
	carrier->op = rma;
	carrier->conn = conn;
	carrier->orphan = false;
	rma->carrier = carrier;
	rma->due = 0;
	if (vm_link_active())
		rma->due = vm_link_rma(&conn->peer->link,
				       told	  ? VM_LINK_PUT :
				       rma->write ? VM_LINK_WRITE :
						    VM_LINK_READ,
				       vm_clock_ns(), rma->bytes);
	if (rma->write)
		vm_pvar_add(port->pvars.writes, 1);
	else
		vm_pvar_add(port->pvars.reads, 1);
	if (moved && rma->to.process != port->fabric->config.process &&
	    !rma->error)
		vm_pvar_add(port->pvars.shm_moved_bytes, rma->bytes);
	return 0;
}

static int rma_start(struct vm_port *port, struct vm_rma *rma, bool write)
{
	const struct vm_fabric_config *config = &port->fabric->config;
	bool loop = rma->to.process == config->process;
	/* Which processes there are, rma_begin() checks. */
	bool near = !loop && rma->to.process < config->processes &&
		    vm_shm_near(port->fabric->shm, rma->to.process);
	bool moved = loop || near;
	bool at_once = moved || rma->bytes == 0, there;
	int rc = 0;

	rma->write = write;
	rma->error = 0;
	rma->inflight = rma->tries = 0;
	rma->posted = 0;
	rma->lost = rma->bytes;
	rma->listed = false;
	if (loop)
		loop_copy(port, rma);
	else if (near)
		rc = near_move(port, rma);
	if (rc < 0)
		return rc;
	there = moved && write && rma->there && !rma->error;
	vm_port_lock(port);
	rc = rma_begin(port, rma, moved, there);
	if (rc == 0 && at_once) {
		if (there) {
			vm_port_unlock(port);
			rma->there(rma);
			vm_port_lock(port);
		}
		rma_end(port, rma);
	} else if (rc == 0) {
		rma->listed = true;
		vm_list_append(&port->rma, &rma->link);
		rma_post(port, rma);
		/* The operation may have ended by now. */
		if (!vm_list_empty(&port->rma))
			vm_port_owe(port);
	}
	vm_port_unlock(port);
	/* The operation may have ended and be gone by now.  Sleepers do not see
	 * operations that end without the network. */
	if (rc == 0 && at_once)
		vm_fabric_kick(port->fabric);
	return rc < 0 ? rc : VM_PENDING;
}

int vm_rma_read(struct vm_port *port, struct vm_rma *rma)
{
	return rma_start(port, rma, false);
}

int vm_rma_write(struct vm_port *port, struct vm_rma *rma)
{
	return rma_start(port, rma, true);
}
