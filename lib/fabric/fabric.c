/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a fabric knows of itself and of the others; the death of others; waking
 * who sleeps.
 */
#include "fabric/fabric.h"

#include <errno.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/ofi/descriptors.h"
#include "fabric/ofi/liveness.h"
#include "fabric/state.h"

const struct vm_fabric_limits *vm_fabric_limits(struct vm_fabric *fabric)
{
	return &fabric->limits;
}

const struct fabric_node_pvars *vm_fabric_pvars(const struct vm_fabric *fabric)
{
	return &fabric->pvars;
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

int vm_fabric_end_fd(struct vm_fabric *fabric, uint32_t process)
{
	int fd = fabric->peers[process].end_fd;

	fabric->peers[process].end_fd = 0;
	return fd > 0 ? fd : -1;
}

void vm_fabric_peer_ended(struct vm_fabric *fabric, uint32_t process)
{
	if (!vm_shm_has_left(fabric->shm, process))
		vm_fabric_peer_dead(fabric, process);
}

bool vm_fabric_peer_alive(struct vm_fabric *fabric, uint32_t process)
{
	return process < fabric->config.processes &&
	       !atomic_load_explicit(&fabric->peers[process].error,
				     memory_order_relaxed);
}

uint32_t vm_fabric_deaths(struct vm_fabric *fabric)
{
	return atomic_load_explicit(&fabric->deaths, memory_order_relaxed);
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

_Atomic uint32_t *vm_fabric_away(const struct vm_fabric *fabric)
{
	return vm_shm_away(fabric->shm);
}

bool vm_port_partner_runs(const struct vm_port *port)
{
	/* Pairs with the stores in inlets.c. */
	const struct vm_inlet *last =
		atomic_load_explicit(&port->inlets.last, memory_order_acquire);

	return last && !vm_shm_is_away(port->fabric->shm, last->process);
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
