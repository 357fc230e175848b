/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a fabric: open, address, connect, death of others, close.
 */
#include "fabric/fabric.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "fabric/ofi/address.h"
#include "fabric/ofi/descriptors.h"
#include "fabric/conn.h"
#include "fabric/near.h"
#include "fabric/ofi/liveness.h"
#include "fabric/ofi/reach.h"
#include "fabric/state.h"
#include "introspect/export/export.h"

const struct vm_fabric_limits *vm_fabric_limits(struct vm_fabric *fabric)
{
	return &fabric->limits;
}

const struct fabric_node_pvars *vm_fabric_pvars(const struct vm_fabric *fabric)
{
	return &fabric->pvars;
}

/* The number of ports to open. */
static unsigned ports_wanted(const struct vm_fabric *fabric)
{
	unsigned ports = fabric_cvar.ports > 0 ? (unsigned)fabric_cvar.ports :
						 fabric->config.ports;

	if (ports > VM_PORTS_MAX)
		ports = VM_PORTS_MAX;
	ports = vm_select_ports(&fabric->select, ports);
	return ports ? ports : 1;
}

/* Opens the provider, if there are other processes. */
static int provider_open(struct vm_fabric *fabric)
{
	struct fi_info *info;
	int rc;

	fabric->limits.provider = "loop";
	fabric->limits.packet_bytes = (uint32_t)fabric_cvar.packet_bytes;
	fabric->limits.data_bytes = fabric->limits.packet_bytes >
						    VM_LONG_BYTES_MAX ?
					    fabric->limits.packet_bytes :
					    VM_LONG_BYTES_MAX;
	if (fabric->mates == 1 && (!fabric->config.guests || fabric_cvar.shm))
		return 0;
	if (!fabric->config.fi) {
		rc = vm_fi_load();
		if (rc < 0)
			return rc;
	}
	fabric->fi = fabric->config.fi ? fabric->config.fi : &vm_fi_real;
	rc = vm_select_init(
		&fabric->select, fabric->fi,
		&(struct vm_wish){ .provider = fabric_cvar.provider,
				   .interface = fabric_cvar.interface,
				   .one_host = fabric->config.one_host });
	if (!rc && !fabric->config.one_host)
		rc = vm_select_reaches(&fabric->select);
	if (rc < 0)
		return rc;
	info = fabric->select.info;
	rc = vm_select_open(&fabric->select, fabric->fi, &fabric->fid);
	if (rc < 0)
		return rc;
	fabric->limits.provider = info->fabric_attr->prov_name;
	fabric->limits.rma = (info->caps & FI_RMA) != 0;
	fabric->limits.sockets = vm_select_sockets(&fabric->select);
	fabric->limits.batch_bytes = vm_select_batch_bytes(
		&fabric->select, fabric->limits.packet_bytes);
	fabric->lossy = info->addr_format == FI_SOCKADDR_IN ||
			info->addr_format == FI_SOCKADDR_IN6;
	return 0;
}

static int ports_open(struct vm_fabric *fabric)
{
	unsigned wanted = ports_wanted(fabric);
	size_t bytes = wanted * sizeof(struct vm_port);
	int rc = vm_descriptors_count(fabric->kick_fd, wanted,
				      fabric->mates - 1);

	if (rc)
		return rc;
	fabric->ports = vm_export_alloc(bytes, _Alignof(struct vm_port));
	if (!fabric->ports)
		return -VMPI_ENOMEM;
	for (unsigned i = 0; i < wanted; i++) {
		fabric->limits.ports++;
		rc = vm_port_init(&fabric->ports[i], fabric, i);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int peers_open(struct vm_fabric *fabric)
{
	uint32_t count = fabric->config.processes;

	fabric->peers = calloc(count, sizeof(*fabric->peers));
	fabric->ports_of = calloc(count, sizeof(*fabric->ports_of));
	for (uint32_t i = 0; fabric->peers && i < fabric->mates; i++) {
		fabric->peers[i].there = fabric->config.process;
		fabric->peers[i].job_key = fabric->config.job_key;
	}
	return fabric->peers && fabric->ports_of ? 0 : -VMPI_ENOMEM;
}

/* The number of our ports is known. */
static int near_open(struct vm_fabric *fabric)
{
	int rc = 0;

	vm_near_open(fabric);
	for (unsigned i = 0; rc == 0 && i < fabric->limits.ports; i++)
		rc = vm_inlets_init(&fabric->ports[i]);
	return rc;
}

/* Sends batches that have waited for long. */
static void batches_late(void *arg)
{
	struct vm_fabric *fabric = arg;
	bool refused = false;

	for (unsigned i = 0; i < fabric->limits.ports; i++) {
		struct vm_port *port = &fabric->ports[i];

		vm_port_lock(port);
		if (!vm_list_empty(&port->waiting))
			vm_conns_flush(port);
		refused |= !vm_list_empty(&port->waiting);
		vm_port_unlock(port);
	}
	/* Sleepers did not know when it has to be tried again. */
	if (refused)
		vm_fabric_kick(fabric);
}

int vm_fabric_open(struct vm_fabric **fabric,
		   const struct vm_fabric_config *config)
{
	struct vm_fabric *new;
	int rc;

	if (config->processes == 0 || config->process >= config->processes ||
	    !config->arrived || !config->down)
		return -VMPI_EINVAL;
	new = vm_export_alloc(sizeof(*new), _Alignof(struct vm_fabric));
	if (!new)
		return -VMPI_ENOMEM;
	new->config = *config;
	new->mates = config->processes;
	new->config.processes += config->guests;
	new->epoll_fd = new->kick_fd = new->gather.timer_fd = -1;
	vm_list_init(&new->mrs);
	vm_lock_init(&new->mr_lock);
	vm_lock_init(&new->keys.lock);
	rc = peers_open(new);
	if (rc == 0)
		rc = vm_descriptors_open(&new->epoll_fd, &new->kick_fd);
	if (rc == 0)
		rc = provider_open(new);
	if (rc == 0)
		rc = ports_open(new);
	if (rc == 0)
		rc = near_open(new);
	if (rc < 0) {
		vm_fabric_close(new);
		return rc;
	}
	if (new->fi)
		vm_gather_open(&new->gather, batches_late, new);
	/* We know ourselves. */
	new->ports_of[config->process] = (uint16_t) new->limits.ports;
	atomic_store_explicit(&new->peers[config->process].known, true,
			      memory_order_release);
	*fabric = new;
	return 0;
}

void vm_fabric_close(struct vm_fabric *fabric)
{
	vm_gather_close(&fabric->gather);
	for (unsigned i = 0; i < fabric->limits.ports; i++)
		vm_port_fini(&fabric->ports[i]);
	vm_export_free(fabric->ports);
	vm_shm_close(fabric->shm);
	if (fabric->fid)
		fabric->fi->close(&fabric->fid->fid);
	if (fabric->fi)
		vm_select_fini(&fabric->select, fabric->fi);
	for (uint32_t i = 0; fabric->peers && i < fabric->config.processes; i++)
		free(fabric->peers[i].addresses);
	free(fabric->peers);
	free(fabric->ports_of);
	if (fabric->epoll_fd >= 0)
		close(fabric->epoll_fd);
	if (fabric->kick_fd >= 0)
		close(fabric->kick_fd);
	vm_export_free(fabric);
}

/* Fills in the values that are the same in all processes, and our number. */
static void address_head(struct vm_fabric *fabric, struct vm_address *head)
{
	const struct fi_info *info = fabric->select.info;

	*head = (struct vm_address){
		.magic = VM_ADDRESS_MAGIC,
		.version = VM_WIRE_VERSION,
		.ports = (uint16_t)fabric->limits.ports,
		.process = fabric->config.process,
		.format = info ? info->addr_format : 0,
		.packet_bytes = fabric->limits.packet_bytes,
		.rma = fabric->limits.rma,
		.job = vm_address_job(fabric->config.job_key),
	};
	vm_shm_place(fabric->shm, &head->shm);
	strncpy(head->provider, fabric->limits.provider,
		sizeof(head->provider) - 1);
}

int vm_fabric_address(struct vm_fabric *fabric, void *address, size_t bytes)
{
	struct vm_address head;
	unsigned char *to = (unsigned char *)address + sizeof(head);
	size_t each = 0, length = sizeof(head);

	address_head(fabric, &head);
	for (unsigned i = 0; fabric->fi && i < fabric->limits.ports; i++) {
		unsigned char name[256];
		size_t size = sizeof(name);
		int rc = fabric->fi->getname(fabric->ports[i].ep, name, &size);

		if (rc || (i > 0 && size != each)) {
			vm_log(VM_ERROR, "port %u has no address: %s", i,
			       vm_fi_text(-rc));
			return -VMPI_EIO;
		}
		each = size;
		length += size;
		if (length > bytes)
			return -VMPI_EINVAL;
		memcpy(to + i * each, name, each);
	}
	if (length > bytes)
		return -VMPI_EINVAL;
	head.address_bytes = (uint16_t)each;
	memcpy(address, &head, sizeof(head));
	return (int)length;
}

/* Notes the addresses of another process's ports: 0, -VMPI_ENOMEM, or
 * -VMPI_ESTATE: they are known. */
static int peer_address(struct vm_fabric *fabric, uint32_t process,
			const void *address, size_t bytes)
{
	struct vm_peer *peer = &fabric->peers[process];
	size_t length = bytes - sizeof(struct vm_address);
	struct vm_address head;

	if (atomic_load_explicit(&peer->known, memory_order_relaxed))
		return -VMPI_ESTATE;
	memcpy(&head, address, sizeof(head));
	peer->addresses = malloc(length ? length : 1);
	if (!peer->addresses)
		return -VMPI_ENOMEM;
	memcpy(peer->addresses, (const char *)address + sizeof(head), length);
	peer->address_bytes = head.address_bytes;
	return 0;
}

static void peer_know(struct vm_fabric *fabric, uint32_t process,
		      uint16_t ports)
{
	__atomic_store_n(&fabric->ports_of[process], ports, __ATOMIC_RELAXED);
	/* Pairs with the load in vm_conn_get(). */
	atomic_store_explicit(&fabric->peers[process].known, true,
			      memory_order_release);
}

int vm_fabric_connect(struct vm_fabric *fabric, uint32_t process,
		      const void *address, size_t bytes)
{
	struct vm_address ours, theirs;
	const char *why;
	int rc;

	if (process >= fabric->mates)
		return -VMPI_EINVAL;
	if (process == fabric->config.process)
		return 0;
	address_head(fabric, &ours);
	rc = vm_reach_check(&fabric->select, address, bytes, &ours, process);
	if (!rc)
		rc = peer_address(fabric, process, address, bytes);
	if (rc)
		return rc;
	memcpy(&theirs, address, sizeof(theirs));
	if (fabric->shm &&
	    vm_shm_meet(fabric->shm, process, theirs.ports, &theirs.shm, &why))
		vm_log(VM_INFO, "no memory is shared with process %u: %s",
		       process, why);
	peer_know(fabric, process, theirs.ports);
	return 0;
}

/* By shared memory, or else by a network that both have. */
int vm_fabric_connect_guest(struct vm_fabric *fabric, uint32_t process,
			    const struct vm_fabric_guest *guest)
{
	struct vm_shm_guest who;
	struct vm_peer *peer = &fabric->peers[process];
	struct vm_address ours, theirs;
	const char *why;
	bool network;
	int rc;

	if (process < fabric->mates || process >= fabric->config.processes)
		return -VMPI_EINVAL;
	address_head(fabric, &ours);
	if (vm_address_check_far(&why, guest->address, guest->bytes, &ours)) {
		vm_log(VM_ERROR, "the address of another job: %s", why);
		return -VMPI_EINVAL;
	}
	rc = peer_address(fabric, process, guest->address, guest->bytes);
	if (rc)
		return rc;
	memcpy(&theirs, guest->address, sizeof(theirs));
	peer->there = guest->there;
	peer->job_key = guest->job_key;
	network = fabric->fi && vm_address_same_network(&ours, &theirs);
	if (!network)
		peer->address_bytes = 0;
	who = (struct vm_shm_guest){ theirs.job, theirs.process, guest->there,
				     theirs.ports };
	if (vm_shm_meet_guest(fabric->shm, process, &who, &theirs.shm, &why) &&
	    !network) {
		vm_log(VM_ERROR,
		       "there is no way to the other job: no memory is shared "
		       "(%s), and the networks differ (%s here, %s there)",
		       why, ours.provider, theirs.provider);
		free(peer->addresses);
		peer->addresses = NULL;
		return -VMPI_ENOTSUP;
	}
	peer_know(fabric, process, theirs.ports);
	return 0;
}

uint64_t vm_fabric_key(const struct vm_fabric *fabric)
{
	return fabric->config.job_key;
}

unsigned vm_fabric_peer_ports(struct vm_fabric *fabric, uint32_t process)
{
	return process < fabric->config.processes ? fabric->ports_of[process] :
						    0;
}

void vm_peer_fail(struct vm_fabric *fabric, uint32_t process, int error,
		  const char *why)
{
	int alive = 0;

	if (!atomic_compare_exchange_strong_explicit(
		    &fabric->peers[process].error, &alive, error,
		    memory_order_relaxed, memory_order_relaxed))
		return;
	vm_log(VM_INFO, "process %u is given up: %s", process, why);
	vm_descriptors_check(process);
	/* Guests do not end their hosts. */
	if (process < fabric->mates)
		__atomic_fetch_add(&fabric->pvars.peers_failed, 1,
				   __ATOMIC_RELAXED);
	/* Pairs with the loads in deaths_see() and vm_port_busy(). */
	atomic_fetch_add_explicit(&fabric->deaths, 1, memory_order_release);
	vm_fabric_kick(fabric);
}

void vm_fabric_peer_dead(struct vm_fabric *fabric, uint32_t process)
{
	if (process < fabric->config.processes &&
	    process != fabric->config.process)
		vm_peer_fail(fabric, process, -VMPI_EPEER, "it has died");
}

bool vm_fabric_peer_alive(struct vm_fabric *fabric, uint32_t process)
{
	return process < fabric->config.processes &&
	       !atomic_load_explicit(&fabric->peers[process].error,
				     memory_order_relaxed);
}

void vm_fabric_look(struct vm_fabric *fabric, uint32_t process,
		    struct vm_look *look)
{
	const struct vm_peer *peer = &fabric->peers[process];
	int fd = look->fd - 1;

	if (process == fabric->config.process ||
	    /* Pairs with the store in vm_fabric_connect(). */
	    !atomic_load_explicit(&peer->known, memory_order_acquire) ||
	    !vm_fabric_peer_alive(fabric, process))
		return;
	if (vm_shm_near(fabric->shm, process)) {
		if (vm_shm_dead(fabric->shm, process))
			vm_peer_fail(fabric, process, -VMPI_EPEER,
				     "its process has ended");
		return;
	}
	/* Its ports are open as long as it lives; no address never fails. */
	if (vm_liveness_dead(&fd, peer->addresses, peer->address_bytes))
		vm_peer_fail(fabric, process, -VMPI_EPEER,
			     "nobody listens at its address");
	look->fd = fd + 1;
}

void vm_fabric_look_end(struct vm_look *look)
{
	int fd = look->fd - 1;

	vm_liveness_end(&fd);
	look->fd = 0;
}

/* Ends the sleep of whoever sleeps, or is about to. */
static void kick_write(struct vm_fabric *fabric)
{
	const uint64_t one = 1;

	/* A full counter wakes as well. */
	if (write(fabric->kick_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		vm_panic("cannot write an event counter");
}

void vm_fabric_kick(struct vm_fabric *fabric)
{
	/* Pairs with the fence in vm_fabric_sleep_begin(). */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&fabric->sleeping, memory_order_relaxed) !=
	    VM_FABRIC_AWAKE)
		kick_write(fabric);
}

void vm_fabric_alert(struct vm_fabric *fabric)
{
	int sleeps = VM_FABRIC_SLEEPS;

	/* Who begins to sleep looks at each port under its lock, which the
	 * caller holds: either it sees what there is, or is seen here. */
	if (VM_UNLIKELY(atomic_load_explicit(&fabric->sleeping,
					     memory_order_relaxed) == sleeps) &&
	    atomic_compare_exchange_strong(&fabric->sleeping, &sleeps,
					   VM_FABRIC_ALERTED))
		kick_write(fabric);
}
