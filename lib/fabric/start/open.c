/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a fabric: open and close.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/conn.h"
#include "fabric/fabric.h"
#include "fabric/near.h"
#include "fabric/ofi/descriptors.h"
#include "fabric/state.h"
#include "introspect/export/export.h"

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

/* Whether the settings leave it to us how others are reached. */
static bool may_be_near(const struct vm_fabric *fabric)
{
	return fabric_cvar.shm && !fabric->config.fi &&
	       !fabric_cvar.provider[0] && !fabric_cvar.interface[0] &&
	       !getenv("FI_PROVIDER");
}

/* Opens the provider, if it may be needed. */
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
	if (fabric->config.near)
		return may_be_near(fabric) ? 0 : -VMPI_ENOTSUP;
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

/* Opens the memory of the process, if `fabric_shm` wants it; never fails. */
static void memory_open(struct vm_fabric *fabric)
{
	const struct vm_shm_config config = {
		.job = vm_address_job(fabric->config.job_key),
		.process = fabric->config.process,
		.processes = fabric->mates,
		.guests = fabric->config.guests,
		.ports = fabric->limits.ports,
		.crowded = fabric->config.crowded,
	};
	const char *why = "fabric_packet_bytes is too large";

	if (!fabric_cvar.shm || (!fabric->fi && fabric->config.processes == 1))
		return;
	if (VM_WIRE_MAX + fabric->limits.packet_bytes <= VM_SHM_RECORD_MAX &&
	    vm_shm_open(&fabric->shm, &config, &why) == 0)
		return;
	vm_log(VM_INFO, "no memory is shared with other processes: %s", why);
}

/* The number of our ports is known. */
static int near_open(struct vm_fabric *fabric)
{
	int rc = 0;

	memory_open(fabric);
	if (fabric->config.near && !fabric->shm)
		return -VMPI_ENOTSUP;
	for (unsigned i = 0; rc == 0 && i < fabric->limits.ports; i++)
		rc = vm_inlets_init(&fabric->ports[i]);
	return rc ? rc : vm_lanes_open(fabric);
}

static int waits_open(struct vm_fabric *fabric)
{
	unsigned count = VM_WAITS(fabric->limits.ports);

	fabric->waits = malloc(count * sizeof(*fabric->waits));
	if (!fabric->waits)
		return -VMPI_ENOMEM;
	for (unsigned i = 0; i < count; i++)
		fabric->waits[i] =
			(struct pollfd){ .fd = -1, .events = POLLIN };
	fabric->waits[VM_WAIT_KICK].fd = fabric->kick_fd;
	if (fabric->shm)
		fabric->waits[VM_WAIT_SHM].fd = vm_shm_fd(fabric->shm);
	return 0;
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
	new->kick_fd = new->gather.timer_fd = -1;
	vm_list_init(&new->mrs);
	vm_lock_init(&new->mr_lock);
	vm_lock_init(&new->keys.lock);
	rc = peers_open(new);
	if (rc == 0)
		rc = vm_descriptors_open(&new->kick_fd);
	if (rc == 0)
		rc = provider_open(new);
	if (rc == 0)
		rc = ports_open(new);
	if (rc == 0)
		rc = near_open(new);
	if (rc == 0)
		rc = waits_open(new);
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
	vm_lanes_close(fabric);
	vm_shm_close(fabric->shm);
	if (fabric->fid)
		fabric->fi->close(&fabric->fid->fid);
	if (fabric->fi)
		vm_select_fini(&fabric->select, fabric->fi);
	for (uint32_t i = 0; fabric->peers && i < fabric->config.processes;
	     i++) {
		free(fabric->peers[i].addresses);
		if (fabric->peers[i].end_fd > 0)
			close(fabric->peers[i].end_fd);
	}
	free(fabric->peers);
	free(fabric->ports_of);
	free(fabric->waits);
	if (fabric->kick_fd >= 0)
		close(fabric->kick_fd);
	vm_export_free(fabric);
}
