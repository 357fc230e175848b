/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening and closing a port, and the packets it has posted for arrivals.
 */
#include "fabric/port.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "fabric/conn.h"
#include "fabric/mr.h"
#include "fabric/near.h"
#include "fabric/ofi/endpoint.h"
#include "fabric/state.h"

#define POSTED_RESERVE 16 /* posted besides those for data */
#define DEPTH_MAX 1024
#define INJECT_MAX 256 /* longer packets gain nothing from it */
#define SHRINK_NS 1000000000
#define SETTLE_NS 20000000

struct vm_port *vm_fabric_port(struct vm_fabric *fabric, unsigned index)
{
	VM_ASSERT(index < fabric->limits.ports);
	return &fabric->ports[index];
}

unsigned vm_port_index(const struct vm_port *port)
{
	return port->index;
}

const struct fabric_port_pvars *vm_port_pvars(const struct vm_port *port)
{
	return &port->pvars;
}

/* Registers a slab of packets where the provider wants that. */
static int slab_reg(struct vm_port *port, struct vm_slab *slab, bool open)
{
	int rc;

	if (!open) {
		if (slab->mr)
			port->fi->close(&slab->mr->fid);
		return 0;
	}
	rc = vm_mr_local(port, &slab->mr, slab, slab->bytes, FI_SEND | FI_RECV);
	if (rc < 0)
		return rc;
	slab->desc = port->fi->mr_desc(slab->mr);
	return 0;
}

static void pool_changed(struct vm_port *port, int64_t bytes, uint64_t total)
{
	const struct vm_fabric_config *config = &port->fabric->config;

	if (config->pool)
		config->pool(config->arg, port, bytes, total);
}

/* Who has a ring gets so many times fabric_credits: no memory is set aside for
 * its packets, and a stream must not run out of them. */
#define NEAR_TIMES 2

/* So many of the data packets that each sender may have here. */
static uint32_t window_find(const struct vm_port *port, uint64_t window)
{
	uint64_t bytes = (uint64_t)fabric_cvar.receive_bytes_max;
	uint64_t share =
		bytes / (port->wire_bytes * (port->conns ? port->conns : 1));

	if (window > share)
		window = share;
	return window < 2 ? 2 : (uint32_t)window;
}

void vm_port_retarget(struct vm_port *port)
{
	uint64_t target;

	port->window = window_find(port, (uint64_t)fabric_cvar.credits);
	port->near_window =
		window_find(port, NEAR_TIMES * (uint64_t)fabric_cvar.credits);
	target = POSTED_RESERVE + (uint64_t)port->conns * port->window;
	port->rx_target = target < port->rx_depth ? (unsigned)target :
						    port->rx_depth;
	vm_port_fill(port);
}

/* Hands a packet to the network to receive the next message. */
static int packet_post(struct vm_port *port, struct vm_packet *pkt)
{
	ssize_t rc;

	pkt->use = VM_PKT_RECEIVE;
	pkt->kept = pkt->moved = pkt->orphan = false;
	rc = port->fi->recv(port->ep, pkt->wire, port->wire_bytes,
			    pkt->slab->desc, &pkt->context);
	if (rc) {
		vm_packet_put(&port->pkts, pkt);
		if (rc == -FI_EAGAIN) {
			vm_pvar_add(port->pvars.again, 1);
		} else {
			vm_pvar_add(port->pvars.errors, 1);
			vm_log(VM_ERROR, "port %u: cannot post a receive: %s",
			       port->index, vm_fi_text((int)-rc));
		}
		return -VMPI_EAGAIN;
	}
	port->rx_posted++;
	vm_pvar_add(port->pvars.posted, 1);
	return 0;
}

void vm_port_fill(struct vm_port *port)
{
	struct vm_list *link;

	while ((link = vm_list_pop(&port->spent)))
		vm_port_recycle(port,
				vm_container_of(link, struct vm_packet, link));
	while (port->rx_posted < port->rx_target && !port->closing) {
		struct vm_packet *pkt =
			vm_packet_get(&port->pkts, port->wire_bytes);

		if (!pkt || packet_post(port, pkt) < 0)
			return;
	}
}

void vm_port_recycle(struct vm_port *port, struct vm_packet *pkt)
{
	/* Kept packets may have been moved to smaller ones. */
	if (port->rx_posted < port->rx_target && !port->closing &&
	    pkt->slab->class_ == VM_PKT_WIRE)
		packet_post(port, pkt);
	else
		vm_packet_put(&port->pkts, pkt);
}

void vm_port_shrink(struct vm_port *port, uint64_t now)
{
	if (now - port->shrunk_ns < SHRINK_NS)
		return;
	port->shrunk_ns = now;
	vm_pkts_shrink(&port->pkts);
}

void vm_port_owe(struct vm_port *port)
{
	vm_port_stir(port);
	if (!atomic_load_explicit(&port->left, memory_order_relaxed))
		vm_fabric_alert(port->fabric);
}

void vm_port_hold(struct vm_port *port, struct vm_due *due, uint64_t when)
{
	vm_due_put(&port->held, due, when);
	vm_port_owe(port);
}

static unsigned smaller(size_t a, unsigned b)
{
	return a < b ? (unsigned)a : b;
}

/* The network of this port, among equal ones.  Processes of one host begin with
 * different ones. */
static struct fi_info *rail_find(const struct vm_port *port)
{
	const struct vm_fabric *fabric = port->fabric;
	int numa = fabric->config.numa ? fabric->config.numa(fabric->config.arg,
							     port->index) :
					 -1;

	return vm_select_rail(&fabric->select, numa,
			      fabric->config.process + port->index,
			      vm_net_distance);
}

/* Opens the network's objects, and has sleepers wait for its events. */
static int network_open(struct vm_port *port)
{
	struct vm_fabric *fabric = port->fabric;
	struct fi_info *info = rail_find(port);
	struct vm_endpoint end;
	const char *what;
	int rc = vm_endpoint_open(&end, port->fi, fabric->fid, info,
				  port->tx_depth + port->rx_depth, &what);

	port->domain = end.domain;
	port->av = end.av;
	port->cq = end.cq;
	port->ep = end.ep;
	port->wait_fd = end.wait_fd;
	port->listed = end.listed;
	if (rc == 0)
		return 0;
	vm_log(VM_ERROR, "provider %s: cannot open the %s of port %u: %s",
	       info->fabric_attr->prov_name, what, port->index,
	       vm_fi_text(-rc));
	return -VMPI_EIO;
}

static void network_settings(struct vm_port *port)
{
	const struct fi_info *info = port->fabric->select.info;
	bool local = info->domain_attr->mr_mode & FI_MR_LOCAL;

	port->tx_depth = smaller(info->tx_attr->size, DEPTH_MAX);
	port->rx_depth = smaller(info->rx_attr->size, DEPTH_MAX);
	port->inject_bytes = smaller(info->tx_attr->inject_size, INJECT_MAX);
	port->by_reference = info->tx_attr->iov_limit >= 2 && !local;
}

int vm_port_init(struct vm_port *port, struct vm_fabric *fabric, unsigned index)
{
	bool local = false;
	int rc = 0;

	port->fabric = fabric;
	port->index = index;
	port->fi = fabric->fi;
	port->wait_fd = -1;
	port->wire_bytes = VM_WIRE_MAX + fabric->limits.packet_bytes;
	vm_bias_init(&port->polling);
	vm_bias_init(&port->lock);
	vm_lock_init(&port->inbox_lock);
	vm_list_init(&port->arrived);
	vm_list_init(&port->spent);
	vm_list_init(&port->ended);
	vm_list_init(&port->inflight);
	vm_list_init(&port->waiting);
	vm_list_init(&port->gone);
	vm_list_init(&port->room);
	vm_list_init(&port->brim);
	vm_list_init(&port->rma);
	vm_list_init(&port->unsure);
	vm_list_init(&port->inbox);
	vm_pvar_set(port->pvars.credits_low, (uint64_t)fabric_cvar.credits);
	port->contacts =
		calloc(fabric->config.processes, sizeof(*port->contacts));
	if (!port->contacts)
		return -VMPI_ENOMEM;
	/* A ring takes header and data apart. */
	port->by_reference = true;
	if (port->fi) {
		network_settings(port);
		rc = network_open(port);
		local = fabric->select.info->domain_attr->mr_mode & FI_MR_LOCAL;
	}
	vm_pkts_init(&port->pkts, port, &port->pvars,
		     (uint32_t)port->wire_bytes, local ? slab_reg : NULL,
		     pool_changed);
	if (rc == 0 && port->fi) {
		vm_port_lock(port);
		vm_port_retarget(port);
		vm_port_unlock(port);
	}
	return rc;
}

static void fid_close(const struct vm_port *port, struct fid *fid)
{
	int rc = port->fi->close(fid);

	/* Providers count connections of strangers that they have lost. */
	if (rc)
		vm_log(VM_INFO, "port %u: close: %s", port->index,
		       vm_fi_text(-rc));
}

/*
 * Layered providers look at their connections every 10 ms, and rxm, that of
 * libfabric 2.1 at least, crashes if it is closed before it has seen that the
 * connection of a stranger is gone.
 */
static void port_settle(struct vm_port *port)
{
	struct fi_cq_data_entry events[16];
	uint64_t end = vm_clock_ns() + SETTLE_NS;

	do {
		port->fi->cq_read(port->cq, events, 16);
		vm_cpu_yield();
	} while (vm_clock_ns() < end);
}

void vm_port_fini(struct vm_port *port)
{
	vm_port_lock(port);
	port->closing = true;
	if (port->ep && port->cq && vm_select_layered(&port->fabric->select))
		port_settle(port);
	/* The endpoint goes first: it uses our memory until then. */
	if (port->ep)
		fid_close(port, &port->ep->fid);
	vm_port_unlock(port);
	if (port->pkts.port)
		vm_pkts_fini(&port->pkts);
	if (port->cq)
		fid_close(port, &port->cq->fid);
	if (port->av)
		fid_close(port, &port->av->fid);
	if (port->domain)
		fid_close(port, &port->domain->fid);
	for (uint32_t i = 0;
	     port->contacts && i < port->fabric->config.processes; i++)
		vm_contact_free(port->contacts[i]);
	free(port->contacts);
	vm_inlets_fini(port);
}
