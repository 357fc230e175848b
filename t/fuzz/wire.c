/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: what comes from the network: messages of one packet or several,
 * and published addresses, as bytes from anyone.
 *
 *	make fuzz TARGET=wire SECONDS=60
 *
 * Whatever is taken must be within its bounds; nothing outside is read.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/ofi/address.h"
#include "fabric/packet/wire.h"
#include "input.h"

#define JOB_KEY 0x4141414141414141
#define PACKET_BYTES 64
#define INPUT_MAX 4096

static const uint16_t ports_of[4] = { 2, 2, 0, 3 };
static const struct vm_wire_expect expect = { .job_key = JOB_KEY,
					      .processes = 4,
					      .process = 1,
					      .packet_bytes = PACKET_BYTES,
					      .port = 1,
					      .ports_of = ports_of };
static const struct vm_address ours = { .magic = VM_ADDRESS_MAGIC,
					.version = VM_WIRE_VERSION,
					.provider = "net" };

/* A message of three packets: each has what one may have beside its header. */
static struct {
	struct vm_wire first;
	uint64_t stamp, payload;
	struct vm_wire second;
	struct vm_wire_part part;
	uint64_t segment[2];
	struct vm_wire last;
} message;

/* Of two ports. */
#define PORT_BYTES 16
static unsigned char address[sizeof(struct vm_address) + 2 * PORT_BYTES];

static struct vm_wire header(enum vm_wire_kind kind, unsigned flags,
			     uint32_t bytes)
{
	return (struct vm_wire){ .magic = VM_WIRE_MAGIC,
				 .version = VM_WIRE_VERSION,
				 .kind = (uint8_t)kind,
				 .source = 3,
				 .job_key = JOB_KEY,
				 .bytes = bytes,
				 .source_port = 2,
				 .port = 1,
				 .flags = (uint8_t)flags };
}

static void good_make(void)
{
	struct vm_address head = ours;

	message.first = header(VM_WIRE_CONTROL, VM_WIRE_STAMP | VM_WIRE_MORE,
			       sizeof(message.payload));
	message.second = header(VM_WIRE_DATA, VM_WIRE_PART | VM_WIRE_MORE,
				sizeof(message.segment));
	message.part = (struct vm_wire_part){ 0, 64 };
	message.last = header(VM_WIRE_CREDIT, 0, 0);
	head.ports = 2;
	head.address_bytes = PORT_BYTES;
	memcpy(address, &head, sizeof(head));
}

/* What the receiver reads of a packet that was taken. */
static void packet_read(const uint8_t *packet, const struct vm_wire *wire,
			size_t payload, size_t bytes)
{
	size_t end = payload + wire->bytes;

	if (end > bytes || wire->bytes > PACKET_BYTES || wire->source >= 4 ||
	    wire->source == 1 || wire->source_port >= ports_of[wire->source] ||
	    (!(wire->flags & VM_WIRE_MORE) && end != bytes))
		abort();
	if (wire->flags & VM_WIRE_STAMP)
		vm_wire_stamp(packet);
	if (wire->flags & VM_WIRE_PART)
		vm_wire_part(packet, payload);
}

/* Goes through a message as fabric/poll.c does. */
static bool message_try(const uint8_t *bytes, size_t length)
{
	struct vm_wire wire = { .flags = VM_WIRE_MORE };
	size_t payload = 0;

	for (size_t at = 0; wire.flags & VM_WIRE_MORE;
	     at += vm_wire_next(payload + wire.bytes)) {
		if (at >= length && at)
			abort();
		enum vm_reject reject = vm_wire_check(
			&wire, &payload, bytes + at, length - at, &expect);

		if (reject != VM_reject_none) {
			if (!vm_reject_name(reject)[0])
				abort();
			return false;
		}
		packet_read(bytes + at, &wire, payload, length - at);
	}
	return true;
}

static bool address_try(const uint8_t *bytes, size_t length)
{
	struct vm_address head;
	const char *why;

	if (vm_address_check(&why, bytes, length, &ours, 0) < 0) {
		if (!why || !why[0])
			abort();
		return false;
	}
	memcpy(&head, bytes, sizeof(head));
	if (head.ports == 0 || head.ports > VM_PORTS_MAX ||
	    sizeof(head) + (size_t)head.ports * head.address_bytes != length)
		abort();
	return true;
}

/* Every byte that may be read is in a copy, so that a sanitizer sees the
 * others. */
static uint8_t *copy_make(const uint8_t *bytes, size_t length)
{
	uint8_t *copy = malloc(length ? length : 1);

	if (!copy)
		abort();
	memcpy(copy, bytes, length);
	return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static uint8_t out[INPUT_MAX + sizeof(message) + sizeof(address)];
	uint8_t *copy;
	size_t length;
	bool taken;

	if (!message.first.magic)
		good_make();
	if (!bytes || bytes > INPUT_MAX)
		return 0;
	if (data[0] & 1)
		length = fuzz_change(out, address, sizeof(address), data + 1,
				     bytes - 1);
	else
		length = fuzz_change(out, &message, sizeof(message), data + 1,
				     bytes - 1);
	copy = copy_make(out, length);
	taken = data[0] & 1 ? address_try(copy, length) :
			      message_try(copy, length);
	if (!taken && fuzz_unchanged(data + 1, bytes - 1))
		abort();
	free(copy);
	return 0;
}
