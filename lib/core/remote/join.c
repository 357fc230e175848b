/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All have to decide alike: an address that is missing is missed by all, and who
 * has met whom is written where all can read it.
 */
#include "core/remote/join.h"

#include "boot/boot.h"
#include "core/rank/state.h"
#include "fabric/fabric.h"
#include "sched/worker.h"

#define NEAR "near"	 /* names of blobs: addresses without a network */
#define NETWORK "fabric" /* ... and with one */

/* For how many processes longer messages are eager: see send.c. */
static void peers_count(const struct vm_boot *boot)
{
	for (int i = 0; i < boot->processes; i++) {
		if (i == boot->process)
			continue;
		if (vm_fabric_by_sockets(vm_node->fabric, (uint32_t)i))
			vm_pvar_add(vm_node->pvars.socket_peers, 1);
		else if (vm_sched.shared &&
			 vm_fabric_near(vm_node->fabric, (uint32_t)i))
			vm_pvar_add(vm_node->pvars.shared_peers, 1);
	}
}

/* The end of processes of this host is seen without the launcher. */
static void ends_watch(struct vm_boot *boot)
{
	for (int i = 0; i < boot->processes; i++) {
		int fd = vm_fabric_end_fd(vm_node->fabric, (uint32_t)i);

		if (fd >= 0)
			vm_boot_end_fd(boot, i, fd);
	}
}

static int address_put(struct vm_boot *boot, const char *name)
{
	char address[VM_ADDRESS_MAX];
	int length =
		vm_fabric_address(vm_node->fabric, address, sizeof(address));

	return length < 0 ? length :
			    vm_boot_put(boot, name, address, (size_t)length);
}

/* Learns the addresses of the others; -VMPI_ENOENT: one has put none. */
static int addresses_get(struct vm_boot *boot, const char *name)
{
	char address[VM_ADDRESS_MAX];
	int rc = 0;

	for (int i = 0; i < boot->processes && !rc; i++) {
		size_t bytes;

		if (i == boot->process)
			continue;
		rc = vm_boot_get(boot, address, &bytes, sizeof(address), i,
				 name);
		if (!rc)
			rc = vm_fabric_connect(vm_node->fabric, (uint32_t)i,
					       address, bytes);
	}
	return rc;
}

static void fabric_close(void)
{
	if (vm_node->fabric)
		vm_fabric_close(vm_node->fabric);
	vm_node->fabric = NULL;
}

/* By shared memory alone; -VMPI_ENOTSUP, in all processes: some have none. */
static int join_near(struct vm_boot *boot, struct vm_fabric_config config)
{
	int rc;

	config.near = true;
	rc = vm_fabric_open(&vm_node->fabric, &config);
	if (rc && rc != -VMPI_ENOTSUP)
		return rc;
	if (!rc)
		rc = address_put(boot, NEAR);
	if (!rc || rc == -VMPI_ENOTSUP) {
		int fence = vm_boot_fence(boot);

		rc = fence ? fence : rc;
	}
	if (!rc)
		rc = addresses_get(boot, NEAR);
	if (rc)
		return rc == -VMPI_ENOENT ? -VMPI_ENOTSUP : rc;
	/* No process sends to one that does not know it yet. */
	rc = vm_boot_fence(boot);
	return !rc && !vm_fabric_all_near(vm_node->fabric) ? -VMPI_ENOTSUP : rc;
}

static int join_network(struct vm_boot *boot,
			const struct vm_fabric_config *config)
{
	int rc = vm_fabric_open(&vm_node->fabric, config);

	if (!rc)
		rc = address_put(boot, NETWORK);
	if (!rc)
		rc = vm_boot_fence(boot);
	if (!rc)
		rc = addresses_get(boot, NETWORK);
	/* As above. */
	return rc ? rc : vm_boot_fence(boot);
}

int vm_join(struct vm_boot *boot, const struct vm_fabric_config *config)
{
	int rc = -VMPI_ENOTSUP;

	if (config->one_host && config->processes > 1)
		rc = join_near(boot, *config);
	if (rc == -VMPI_ENOTSUP) {
		fabric_close();
		rc = join_network(boot, config);
	}
	if (rc) {
		fabric_close();
		return rc;
	}
	peers_count(boot);
	ends_watch(boot);
	return 0;
}
