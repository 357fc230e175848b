/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registering memory under random keys.
 */
#include "fabric/mr.h"

#include <errno.h>

#include "base/log.h"
#include "fabric/port.h"
#include "fabric/state.h"

#define KEY_NEAR 1 /* of all memory, for processes of this host */

static uint64_t key_take(struct vm_fabric *fabric)
{
	return vm_keys_take(&fabric->keys, fabric->select.info);
}

/* Registers memory, under the port's lock. */
static int mr_reg(struct vm_port *port, struct fid_mr **mr, const void *base,
		  size_t bytes, uint64_t access)
{
	int rc = vm_keys_reg(&port->fabric->keys, port->fi,
			     &(struct vm_keys_memory){
				     port->fabric->select.info, port->domain,
				     port->ep, base, bytes, access },
			     mr);

	if (rc == 0)
		return 0;
	vm_log(VM_ERROR, "port %u: cannot register %zu bytes: %s", port->index,
	       bytes, vm_fi_text(-rc));
	return rc == -FI_ENOMEM ? -VMPI_ENOMEM : -VMPI_EIO;
}

int vm_mr_local(struct vm_port *port, struct fid_mr **mr, const void *base,
		size_t bytes, uint64_t access)
{
	return mr_reg(port, mr, base, bytes, access);
}

/* The access rights of others, as flags of libfabric. */
static uint64_t access_flags(unsigned access)
{
	return (access & VM_MR_READ ? FI_REMOTE_READ : 0) |
	       (access & VM_MR_WRITE ? FI_REMOTE_WRITE : 0);
}

int vm_mr_open(struct vm_port *port, struct vm_mr *mr, uint32_t process,
	       const void *base, size_t bytes, unsigned access)
{
	struct vm_fabric *fabric = port->fabric;
	struct fid_mr *handle = NULL;
	int rc = 0;

	mr->remote = (struct vm_remote){ 0, 0 };
	if (vm_shm_near(fabric->shm, process)) {
		mr->remote.address = (uint64_t)(uintptr_t)base;
		mr->remote.key = KEY_NEAR;
	} else if (port->fi && fabric->limits.rma &&
		   process != fabric->config.process) {
		uint64_t mode = fabric->select.info->domain_attr->mr_mode;

		vm_port_lock(port);
		rc = mr_reg(port, &handle, base, bytes, access_flags(access));
		vm_port_unlock(port);
		if (rc < 0)
			return rc;
		mr->remote.key = port->fi->mr_key(handle);
		if (mode & FI_MR_VIRT_ADDR)
			mr->remote.address = (uint64_t)(uintptr_t)base;
	} else {
		mr->remote.key = key_take(fabric);
	}
	mr->handle = handle;
	mr->base = base;
	mr->bytes = bytes;
	mr->port = port;
	mr->access = access;
	vm_lock_take(&fabric->mr_lock);
	vm_list_append(&fabric->mrs, &mr->link);
	vm_lock_give(&fabric->mr_lock);
	return 0;
}

void vm_mr_close(struct vm_mr *mr)
{
	struct vm_port *port = mr->port;
	struct vm_fabric *fabric = port->fabric;

	vm_lock_take(&fabric->mr_lock);
	vm_list_remove(&mr->link);
	vm_lock_give(&fabric->mr_lock);
	if (!mr->handle)
		return;
	vm_port_lock(port);
	port->fi->close(&((struct fid_mr *)mr->handle)->fid);
	vm_port_unlock(port);
	mr->handle = NULL;
}

void *vm_mr_find(struct vm_fabric *fabric, struct vm_remote remote,
		 size_t bytes, unsigned access)
{
	struct vm_list *link;
	char *found = NULL;

	vm_lock_take(&fabric->mr_lock);
	vm_list_each(link, &fabric->mrs) {
		struct vm_mr *mr = vm_container_of(link, struct vm_mr, link);
		uint64_t offset = remote.address - mr->remote.address;

		if (mr->remote.key != remote.key)
			continue;
		if (offset <= mr->bytes && bytes <= mr->bytes - offset &&
		    (mr->access & access) == access)
			found = (char *)mr->base + offset;
		break;
	}
	vm_lock_give(&fabric->mr_lock);
	return found;
}
