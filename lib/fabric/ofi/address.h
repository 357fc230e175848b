/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The address that a process publishes about its fabric, and the check of
 * another one's.
 *
 * A fixed head and the addresses of the ports.  Both ends must agree in
 * version, provider, address format and packet size.  Pure.
 */
#ifndef FABRIC_OFI_ADDRESS_H
#define FABRIC_OFI_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fabric/shm/place.h"

#define VM_PORTS_MAX 256	    /* of a process */
#define VM_ADDRESS_MAGIC 0x61664d56 /* "VMfa" */
#define VM_PROVIDER_BYTES 40

struct vm_address {
	uint32_t magic;
	uint16_t version; /* VM_WIRE_VERSION */
	uint16_t ports;
	uint32_t process;
	uint32_t format; /* FI_SOCKADDR_IN, ... */
	uint32_t packet_bytes;
	uint16_t address_bytes; /* of each port */
	uint16_t rma;
	uint64_t job; /* a hash of the job key */
	struct vm_shm_place shm;
	char provider[VM_PROVIDER_BYTES];
	unsigned char ports_at[]; /* ports * address_bytes */
};

VM_STATIC_ASSERT(sizeof(struct vm_address) == 112, "the head has no gaps");

/* The job key in a form that strangers may see. */
uint64_t vm_address_job(uint64_t job_key);

/*
 * Whether the bytes are the address of `process`, and agree with `ours`.  0, or
 * -VMPI_EINVAL and *why: what is wrong.
 */
int vm_address_check(const char **why, const void *bytes, size_t length,
		     const struct vm_address *ours, uint32_t process);

/* The same of a process of another job, whose network may be another one. */
int vm_address_check_far(const char **why, const void *bytes, size_t length,
			 const struct vm_address *ours);

/* Whether the head of an address that disagrees is right, but for its provider. */
bool vm_address_other_provider(const struct vm_address *head,
			       const struct vm_address *ours);

/* Whether both have networks of the same kind. */
bool vm_address_same_network(const struct vm_address *a,
			     const struct vm_address *b);

#endif
