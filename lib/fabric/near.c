/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In and out of the rings.
 */
#include "fabric/near.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/copy.h"
#include "base/log.h"
#include "fabric/conn.h"
#include "fabric/state.h"

void vm_near_connect(struct vm_conn *conn)
{
	struct vm_port *port = conn->port;
	struct vm_shm *shm = port->fabric->shm;

	if (!vm_shm_near(shm, conn->process))
		return;
	if (vm_shm_outlet(&conn->outlet, shm, conn->process, conn->remote,
			  port->index) < 0)
		vm_log(VM_INFO,
		       "port %u: no ring to process %u is left; its packets "
		       "take the network",
		       port->index, conn->process);
}

/* After a record was published. */
static VM_ALWAYS_INLINE void published(struct vm_conn *conn)
{
	if (VM_UNLIKELY(!conn->resend.listed))
		vm_resend_unsure(conn);
	vm_shm_announce(conn->outlet);
	if (VM_UNLIKELY(vm_shm_sleeps(&conn->outlet->reader)))
		vm_shm_wake(conn->port->fabric->shm, conn->process,
			    &conn->outlet->reader);
}

int vm_near_send(struct vm_conn *conn, const struct vm_send *send)
{
	struct vm_shm_slot *slot;
	struct vm_near_words *words;
	uint16_t credits;
	void *data;

	slot = vm_shm_room(conn->outlet, send->bytes, &data);
	if (VM_UNLIKELY(!slot))
		return -VMPI_EAGAIN;
	credits = vm_conn_number(conn);
	words = (struct vm_near_words *)slot->head;
	if (send->bytes > VM_SHM_INLINE)
		vm_copy_long(data, send->data, send->bytes);
	else
		vm_copy_few(slot->data, send->data, send->bytes);
	memcpy(words->upper, send->upper, VM_UPPER_BYTES);
	words->kind = send->control ? VM_WIRE_CONTROL : VM_WIRE_DATA;
	words->upper_kind = send->kind;
	words->credits = credits;
	vm_shm_publish(conn->outlet, slot, send->bytes, data);
	published(conn);
	return 0;
}

int vm_near_put(struct vm_conn *conn, const struct vm_packet *pkt)
{
	struct vm_shm_slot *slot;
	void *data;

	slot = vm_shm_room(conn->outlet, pkt->wire_bytes + pkt->data_bytes,
			   &data);
	if (!slot)
		return -VMPI_EAGAIN;
	memcpy(data, pkt->wire, pkt->wire_bytes);
	if (pkt->data_bytes)
		memcpy((char *)data + pkt->wire_bytes, pkt->data,
		       pkt->data_bytes);
	((struct vm_near_words *)slot->head)->kind = VM_WIRE_NONE;
	vm_shm_publish(conn->outlet, slot, pkt->wire_bytes + pkt->data_bytes,
		       data);
	published(conn);
	return 0;
}

void vm_near_left(struct vm_conn *conn, struct vm_packet *pkt)
{
	struct vm_port *port = conn->port;

	vm_list_remove(&pkt->sent);
	pkt->confirmed = true;
	if (VM_LIKELY(!pkt->watched)) {
		vm_resend_home(port, pkt);
		return;
	}
	pkt->place = VM_AT_END;
	if (pkt->left && pkt->left > vm_clock_ns())
		vm_port_hold(port, &pkt->due, pkt->left);
	else
		vm_list_append(&port->ended, &pkt->link);
}

#define LOOK_NS 20000000 /* without a reader until we look whether it lives */
#define LOOK_NS_MAX 1000000000

uint64_t vm_near_look(struct vm_conn *conn, uint64_t now)
{
	struct vm_resend *resend = &conn->resend;
	uint32_t taken = vm_shm_read(conn->outlet);

	if (conn->error || taken == conn->outlet->next)
		return UINT64_MAX;
	if (resend->next_ns == 0 || resend->seen != taken) {
		resend->seen = taken;
		resend->wait_ns = LOOK_NS;
	} else if (now < resend->next_ns) {
		return resend->next_ns;
	} else {
		if (vm_shm_dead(conn->port->fabric->shm, conn->process))
			vm_conn_gone(conn);
		if (resend->wait_ns < LOOK_NS_MAX)
			resend->wait_ns *= 2;
	}
	resend->next_ns = now + resend->wait_ns;
	return resend->next_ns;
}

static bool contact_settled(const struct vm_contact *contact)
{
	for (unsigned i = 0; contact && i < contact->count; i++) {
		const struct vm_conn *conn = &contact->conns[i];

		if (conn->outlet && !conn->error &&
		    vm_shm_read(conn->outlet) != conn->outlet->next)
			return false;
	}
	return true;
}

bool vm_near_settled(const struct vm_port *port)
{
	const struct vm_fabric *fabric = port->fabric;

	/* What guests have not read is in memory of theirs. */
	for (uint32_t i = 0; fabric->shm && i < fabric->mates; i++)
		if (!contact_settled(port->contacts[i]))
			return false;
	return true;
}

bool vm_near_all(const struct vm_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->config.processes; i++)
		if (i != fabric->config.process &&
		    (i < fabric->mates || fabric->ports_of[i]) &&
		    !vm_shm_near(fabric->shm, i))
			return false;
	return true;
}

bool vm_fabric_moves(struct vm_fabric *fabric, uint32_t process)
{
	return vm_shm_near(fabric->shm, process) ?
		       vm_shm_moves_far(fabric->shm, process) :
		       fabric->limits.rma;
}

bool vm_fabric_by_sockets(struct vm_fabric *fabric, uint32_t process)
{
	return fabric->limits.sockets && !vm_shm_near(fabric->shm, process);
}

bool vm_fabric_crowded(const struct vm_fabric *fabric, uint32_t process)
{
	return process == fabric->config.process ?
		       fabric->config.crowded :
		       process < fabric->mates &&
			       vm_shm_near(fabric->shm, process) &&
			       vm_shm_crowded(fabric->shm, process);
}

struct vm_board_own *vm_fabric_board(struct vm_fabric *fabric)
{
	return vm_shm_board(fabric->shm);
}

struct vm_board *vm_fabric_board_of(const struct vm_fabric *fabric,
				    uint32_t process)
{
	return vm_shm_board_of(fabric->shm, process);
}

bool vm_fabric_near(struct vm_fabric *fabric, uint32_t process)
{
	return vm_shm_near(fabric->shm, process) &&
	       vm_shm_moves_far(fabric->shm, process);
}
