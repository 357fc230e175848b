/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of thread-local blocks that ULTs own.
 */
#include "sched/local.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

struct local {
	size_t modid;
	size_t offset;
	size_t bytes;
	const void *init;
	size_t init_bytes;
};

static struct {
	struct local table[VM_LOCAL_MAX];
	int count;
	size_t bytes;
	bool frozen;
} vm_local;

/* A function of the dynamic linker: the block of a module on the calling
 * thread. */
extern void *__tls_get_addr(size_t index[2]);

int vm_local_add(size_t tls_modid, size_t offset, size_t bytes,
		 const void *init, size_t init_bytes)
{
	for (int i = 0; i < vm_local.count; i++) {
		const struct local *local = &vm_local.table[i];

		if (local->modid == tls_modid && local->offset == offset &&
		    local->bytes == bytes)
			return 0;
	}
	if (vm_local.frozen)
		return -VMPI_ESTATE;
	if (vm_local.count == VM_LOCAL_MAX)
		return -VMPI_ELIMIT;
	vm_local.table[vm_local.count++] =
		(struct local){ tls_modid, offset, bytes, init, init_bytes };
	vm_local.bytes += (bytes + 15) & ~(size_t)15;
	return 0;
}

void vm_local_freeze(void)
{
	vm_local.frozen = true;
}

size_t vm_local_bytes(void)
{
	return vm_local.bytes;
}

void vm_local_find(void *addresses[VM_LOCAL_MAX])
{
	for (int i = 0; i < vm_local.count; i++) {
		size_t index[2] = { vm_local.table[i].modid,
				    vm_local.table[i].offset };

		addresses[i] = __tls_get_addr(index);
	}
}

void vm_local_fresh(char *copies)
{
	for (int i = 0; i < vm_local.count; i++) {
		const struct local *local = &vm_local.table[i];

		memcpy(copies, local->init, local->init_bytes);
		memset(copies + local->init_bytes, 0,
		       local->bytes - local->init_bytes);
		copies += (local->bytes + 15) & ~(size_t)15;
	}
}

void vm_local_save(char *copies, void *const addresses[VM_LOCAL_MAX])
{
	for (int i = 0; i < vm_local.count; i++) {
		memcpy(copies, addresses[i], vm_local.table[i].bytes);
		copies += (vm_local.table[i].bytes + 15) & ~(size_t)15;
	}
}

void vm_local_load(const char *copies, void *const addresses[VM_LOCAL_MAX])
{
	for (int i = 0; i < vm_local.count; i++) {
		memcpy(addresses[i], copies, vm_local.table[i].bytes);
		copies += (vm_local.table[i].bytes + 15) & ~(size_t)15;
	}
}
