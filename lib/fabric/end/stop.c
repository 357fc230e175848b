/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports are asked one by one until all have come as far.
 */
#include "fabric/end/stop.h"

#include "base/clock.h"
#include "fabric/conn.h"
#include "fabric/end/sleep.h"
#include "fabric/near.h"
#include "fabric/state.h"

#define LOOK_NS 1000000 /* a sleep, at most: who reads a ring does not say so */

/* Under lock: whether the port has sent everything. */
static bool port_drained(const struct vm_port *port)
{
	return vm_list_empty(&port->waiting) && vm_list_empty(&port->rma) &&
	       port->tx_used == port->orphans && !port->held.top;
}

/* Under both locks: adds up the packets of all connections of the port. */
static void port_count(const struct vm_port *port, uint32_t *sent,
		       uint32_t *received)
{
	for (uint32_t i = 0; i < port->fabric->config.processes; i++) {
		const struct vm_contact *contact = port->contacts[i];

		if (!contact || i == port->fabric->config.process)
			continue;
		for (unsigned c = 0; c < contact->count; c++) {
			*sent += contact->conns[c].tx_seq;
			*received += contact->conns[c].rx_seq;
		}
	}
}

/* Adds up the packets of a port where nothing moves; false: something does. */
static bool port_quiet(struct vm_port *port, uint32_t *sent, uint32_t *received)
{
	bool quiet = false;

	if (!vm_bias_try(&port->polling))
		return false;
	vm_port_lock(port);
	quiet = !vm_port_busy(port) && port_drained(port);
	if (quiet)
		port_count(port, sent, received);
	vm_port_unlock(port);
	vm_bias_give(&port->polling);
	return quiet;
}

bool vm_fabric_quiet(struct vm_fabric *fabric, uint32_t *sent,
		     uint32_t *received)
{
	*sent = *received = 0;
	for (unsigned i = 0; i < fabric->limits.ports; i++)
		if (!port_quiet(&fabric->ports[i], sent, received))
			return false;
	vm_lanes_count(fabric, sent, received);
	return true;
}

/* Under lock: whether every process of the job that this port has talked to has
 * said goodbye, or died. */
static bool port_left(const struct vm_port *port)
{
	for (uint32_t i = 0; i < port->fabric->mates; i++) {
		const struct vm_contact *contact = port->contacts[i];

		if (!contact || i == port->fabric->config.process)
			continue;
		if (contact->down && contact->error)
			continue;
		for (unsigned c = 0; c < contact->count; c++)
			if (contact->conns[c].contact &&
			    !contact->conns[c].left)
				return false;
	}
	return true;
}

static void port_goodbye(struct vm_port *port)
{
	for (uint32_t i = 0; i < port->fabric->config.processes; i++) {
		struct vm_contact *contact = port->contacts[i];

		if (!contact || i == port->fabric->config.process)
			continue;
		for (unsigned c = 0; c < contact->count; c++)
			vm_conn_bye(&contact->conns[c]);
	}
}

/* The stages of the end; checks whether all ports have come that far. */
enum stage { DRAINED, SAID, LEFT, ENDED };

static bool ports_at(struct vm_fabric *fabric, enum stage stage)
{
	bool all = true;

	for (unsigned i = 0; i < fabric->limits.ports; i++) {
		struct vm_port *port = &fabric->ports[i];

		vm_port_poll(port, true);
		vm_port_lock(port);
		port->ending = true;
		all = all && port_drained(port) && vm_resend_settled(port) &&
		      vm_near_settled(port) &&
		      (stage != LEFT || port_left(port));
		vm_port_unlock(port);
	}
	return all;
}

static void say_goodbye(struct vm_fabric *fabric)
{
	for (unsigned i = 0; i < fabric->limits.ports; i++) {
		vm_port_lock(&fabric->ports[i]);
		fabric->ports[i].goodbye = true;
		port_goodbye(&fabric->ports[i]);
		vm_port_unlock(&fabric->ports[i]);
	}
}

int vm_fabric_stop(struct vm_fabric *fabric, uint64_t wait_ns)
{
	uint64_t end = vm_clock_ns() + wait_ns;
	enum stage stage = DRAINED;
	struct vm_sleep sleep;

	while (stage != ENDED) {
		if (ports_at(fabric, stage)) {
			stage++;
			if (stage == SAID)
				say_goodbye(fabric);
			continue;
		}
		if (vm_clock_ns() >= end)
			return -VMPI_EPEER;
		if (vm_fabric_sleep_begin(fabric, &sleep) == 0) {
			vm_fabric_sleep_wait(fabric, &sleep,
					     vm_clock_ns() +
						     (stage == LEFT ? 10 : 1) *
							     LOOK_NS);
			vm_fabric_sleep_end(fabric);
		}
	}
	vm_shm_leave(fabric->shm);
	return 0;
}
