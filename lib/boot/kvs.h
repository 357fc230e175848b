/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A key-value store: the names and bytes that processes of a job publish, each
 * put once.  Not thread-safe.
 */
#ifndef BOOT_KVS_H
#define BOOT_KVS_H

#include <stddef.h>

#define VM_KVS_BINS 256

struct vm_kvs {
	struct vm_kvs_entry *bins[VM_KVS_BINS];
};

void vm_kvs_init(struct vm_kvs *kvs);
void vm_kvs_fini(struct vm_kvs *kvs);

/* Stores copies.  0, -VMPI_EINVAL when the name is there already, or
 * -VMPI_ENOMEM; not logged. */
int vm_kvs_put(struct vm_kvs *kvs, const char *name, const void *bytes,
	       size_t length);

/* The bytes, valid until vm_kvs_fini(), or NULL.  A zero follows them. */
const char *vm_kvs_get(const struct vm_kvs *kvs, size_t *length,
		       const char *name);

#endif
