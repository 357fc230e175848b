/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Published addresses: what is refused, and that nothing beyond them is read.
 */
#include "fabric/ofi/address.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define EACH 16
#define PORTS 3

static struct vm_address ours = { .magic = VM_ADDRESS_MAGIC,
				  .version = 1,
				  .ports = 1,
				  .process = 0,
				  .format = 2,
				  .packet_bytes = 1000,
				  .rma = 1,
				  .provider = "net" };

/* The address that process 5 would publish, on the heap for the address
 * sanitizer. */
static struct vm_address *theirs_new(size_t *bytes)
{
	struct vm_address *theirs;

	*bytes = sizeof(*theirs) + EACH * PORTS;
	theirs = calloc(1, *bytes);
	*theirs = ours;
	theirs->ports = PORTS;
	theirs->process = 5;
	theirs->address_bytes = EACH;
	return theirs;
}

int main(void)
{
	struct vm_address *theirs;
	const char *why;
	size_t bytes;
	int taken = 0;

	ours.job = vm_address_job(42);
	ok(vm_address_job(42) != vm_address_job(43), "jobs are told apart");
	theirs = theirs_new(&bytes);
	is_int(vm_address_check(&why, theirs, bytes, &ours, 5), 0,
	       "a good address is taken");
	is_int(vm_address_check(&why, theirs, bytes, &ours, 4), -VMPI_EINVAL,
	       "that of another process is not");
	for (size_t n = 0; n < bytes; n++)
		taken += vm_address_check(&why, theirs, n, &ours, 5) == 0;
	is_int(taken, 0, "nor one that is too short");
#define WITH(field, value, words)                                       \
	do {                                                            \
		struct vm_address old = *theirs;                        \
		theirs->field = (value);                                \
		is_int(vm_address_check(&why, theirs, bytes, &ours, 5), \
		       -VMPI_EINVAL, #field " is checked");             \
		ok(strstr(why, words) != NULL, "and named: %s", why);   \
		*theirs = old;                                          \
	} while (0)
	WITH(magic, 1, "not an address");
	WITH(version, 2, "version");
	WITH(job, 1, "job");
	WITH(format, 3, "format");
	WITH(packet_bytes, 999, "packet_bytes");
	WITH(rma, 0, "remote memory");
	WITH(ports, 0, "ports");
	WITH(ports, 257, "ports");
	WITH(ports, 2, "length");
	WITH(address_bytes, 15, "length");
	WITH(provider[0], 'N', "provider");
#undef WITH
	memset(theirs->provider, 'x', sizeof(theirs->provider));
	is_int(vm_address_check(&why, theirs, bytes, &ours, 5), -VMPI_EINVAL,
	       "a name without an end is refused");
	free(theirs);
	return done_testing();
}
