/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: headers of packets and published addresses, as bytes from
 * anyone.  Without a fuzzer: run.c.
 *
 *	clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE \
 *		-Ilib -Iinclude t/fuzz/wire.c lib/fabric/wire.c \
 *		lib/fabric/address.c -o fuzz-wire && ./fuzz-wire -runs=10000000
 *
 * Whatever is taken must be within its bounds; nothing outside is read.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/address.h"
#include "fabric/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Every byte a parser may read is in this copy, so that the sanitizer sees the
 * others. */
static void wire_try(const uint8_t *data, size_t bytes)
{
	static const uint16_t ports_of[4] = { 2, 2, 0, 3 };
	const struct vm_wire_expect expect = { .job_key = 0x4141414141414141,
					       .processes = 4,
					       .process = 1,
					       .packet_bytes = 64,
					       .port = 1,
					       .ports_of = ports_of };
	struct vm_wire wire;
	size_t payload;

	if (vm_wire_check(&wire, &payload, data, bytes, &expect) !=
	    VM_reject_none)
		return;
	if (payload + wire.bytes != bytes || wire.bytes > 64 ||
	    wire.source >= 4 || wire.source == 1 ||
	    wire.source_port >= ports_of[wire.source])
		abort();
	if (wire.flags & VM_WIRE_STAMP && vm_wire_stamp(data) == 1)
		return;
}

static void address_try(const uint8_t *data, size_t bytes)
{
	const struct vm_address ours = { .magic = VM_ADDRESS_MAGIC,
					 .version = VM_WIRE_VERSION,
					 .provider = "net" };
	struct vm_address head;
	const char *why;

	if (vm_address_check(&why, data, bytes, &ours, 0) < 0) {
		if (!why || !why[0])
			abort();
		return;
	}
	memcpy(&head, data, sizeof(head));
	if (head.ports == 0 || head.ports > VM_PORTS_MAX ||
	    sizeof(head) + (size_t)head.ports * head.address_bytes != bytes)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t *copy = malloc(bytes ? bytes : 1);

	if (!copy)
		abort();
	memcpy(copy, data, bytes);
	wire_try(copy, bytes);
	address_try(copy, bytes);
	free(copy);
	return 0;
}
