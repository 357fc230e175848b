/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our address, and those of the other processes, by which they become known.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/fabric.h"
#include "fabric/ofi/address.h"
#include "fabric/ofi/reach.h"
#include "fabric/shm/memfd.h"
#include "fabric/state.h"

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

/* Programs need descriptors, too: so many of those there may be at most. */
#define ENDS_SHARE 8

static bool has_end_room(struct vm_fabric *fabric)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) &&
	       fabric->ends < limit.rlim_cur / ENDS_SHARE;
}

/*
 * Meets a process of this host.  What tells of its end is opened before: that it
 * is met shows that the number is its own, and has not become another's.  Where
 * there is none, its end is noticed by who needs something of it.
 */
static void peer_meet(struct vm_fabric *fabric, uint32_t process,
		      const struct vm_address *theirs,
		      const struct vm_address *ours)
{
	bool here = ours->shm.space && theirs->shm.space == ours->shm.space;
	int fd = here && has_end_room(fabric) ?
			 vm_memfd_owner((pid_t)theirs->shm.pid) :
			 -1;
	const char *why;

	if (vm_shm_meet(fabric->shm, process, theirs->ports, &theirs->shm,
			&why)) {
		vm_log(VM_INFO, "no memory is shared with process %u: %s",
		       process, why);
		if (fd >= 0)
			close(fd);
		return;
	}
	if (fd < 0)
		return;
	fabric->peers[process].end_fd = fd;
	fabric->ends++;
}

int vm_fabric_connect(struct vm_fabric *fabric, uint32_t process,
		      const void *address, size_t bytes)
{
	struct vm_address ours, theirs;
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
	if (fabric->shm)
		peer_meet(fabric, process, &theirs, &ours);
	peer_know(fabric, process, theirs.ports);
	return 0;
}

/* How many ports the processes of the job have. */
static uint32_t ports_all(const struct vm_fabric *fabric)
{
	uint32_t ports = 0;

	for (uint32_t i = 0; i < fabric->mates; i++)
		ports += fabric->ports_of[i];
	return ports;
}

bool vm_fabric_all_near(const struct vm_fabric *fabric)
{
	uint32_t ports = ports_all(fabric);

	if (!vm_shm_all_met(fabric->shm))
		return false;
	/* Each port of a process may need a ring for each of the others'. */
	for (uint32_t i = 0; i < fabric->mates; i++)
		if (vm_shm_rings_of(fabric->shm, i) <
		    ports - fabric->ports_of[i])
			return false;
	return true;
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
