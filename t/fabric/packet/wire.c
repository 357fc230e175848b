/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The check of arrived headers: each field on its own, every single bit, then
 * random bytes and random changes.
 */
#include "fabric/packet/wire.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define PAYLOAD 40

static const uint16_t ports_of[4] = { 2, 2, 0, 3 };
static const struct vm_wire_expect expect = {
	.job_key = 0xfeedfacecafebeef,
	.processes = 4,
	.process = 1,
	.packet_bytes = 100,
	.port = 1,
	.ports_of = ports_of,
};

/* A packet as it should be. */
struct packet {
	struct vm_wire wire;
	unsigned char rest[VM_WIRE_STAMP_BYTES + PAYLOAD];
};

static void packet_init(struct packet *packet)
{
	memset(packet, 0, sizeof(*packet));
	packet->wire = (struct vm_wire){ .magic = VM_WIRE_MAGIC,
					 .version = VM_WIRE_VERSION,
					 .kind = VM_WIRE_DATA,
					 .source = 3,
					 .job_key = expect.job_key,
					 .seq = 77,
					 .bytes = PAYLOAD,
					 .source_port = 2,
					 .port = 1,
					 .credits = 5,
					 .upper_kind = 9 };
}

static enum vm_reject check(const struct packet *packet, size_t bytes)
{
	struct vm_wire wire;
	size_t payload;

	return vm_wire_check(&wire, &payload, packet, bytes, &expect);
}

#define BYTES (VM_WIRE_BYTES + PAYLOAD)

static void fields(void)
{
	struct packet p, good;
	struct vm_wire wire;
	size_t payload;
	int wrong = 0;

	packet_init(&good);
	is_int(vm_wire_check(&wire, &payload, &good, BYTES, &expect),
	       VM_reject_none, "a good packet is taken");
	is_blob(&wire, &good.wire, sizeof(wire), "with its header");
	is_int((int)payload, VM_WIRE_BYTES, "and its payload behind that");
	for (size_t bytes = 0; bytes < VM_WIRE_BYTES; bytes++)
		wrong += check(&good, bytes) != VM_reject_short;
	is_int(wrong, 0, "what is shorter than a header is short");
	is_int(check(&good, BYTES - 1), VM_reject_length, "payload is missing");
	is_int(check(&good, BYTES + 1), VM_reject_length, "too much payload");
#define WITH(field, value, reason, text)                  \
	do {                                              \
		p = good;                                 \
		p.wire.field = (value);                   \
		is_int(check(&p, BYTES), (reason), text); \
	} while (0)
	WITH(magic, 0x4d57, VM_reject_magic, "another magic number");
	WITH(version, VM_WIRE_VERSION + 1, VM_reject_version,
	     "another version");
	WITH(job_key, 1, VM_reject_key, "another job");
	WITH(kind, 0, VM_reject_kind, "no kind");
	WITH(kind, VM_WIRE_KIND_END, VM_reject_kind, "an unknown kind");
	WITH(flags, 8, VM_reject_flags, "an unknown flag");
	WITH(flags, VM_WIRE_MORE, VM_reject_length, "more is not there");
	WITH(flags, VM_WIRE_PART, VM_reject_length, "what part is not said");
	WITH(source, 4, VM_reject_source, "a process that is not there");
	WITH(source, 1, VM_reject_source, "ourselves");
	WITH(source, 2, VM_reject_source, "a process that is not connected");
	WITH(source_port, 3, VM_reject_source, "a port that is not there");
	WITH(port, 0, VM_reject_port, "another port of ours");
	WITH(bytes, 41, VM_reject_length, "a wrong length");
	WITH(bytes, UINT32_MAX, VM_reject_length, "an endless length");
	WITH(kind, VM_WIRE_CREDIT, VM_reject_length, "payload without a use");
	WITH(kind, VM_WIRE_CONTROL, VM_reject_none, "another kind is taken");
	WITH(seq, 0, VM_reject_none, "sequences are another one's business");
#undef WITH
}

static void stamps(void)
{
	const uint64_t when = 0x1122334455667788;
	struct vm_wire wire;
	struct packet p;
	size_t payload;

	packet_init(&p);
	p.wire.flags = VM_WIRE_STAMP;
	memcpy(p.rest, &when, sizeof(when));
	is_int(check(&p, BYTES), VM_reject_length, "a stamp takes its room");
	is_int(vm_wire_check(&wire, &payload, &p, BYTES + VM_WIRE_STAMP_BYTES,
			     &expect),
	       VM_reject_none, "with it the packet is taken");
	is_int((int)payload, VM_WIRE_BYTES + VM_WIRE_STAMP_BYTES,
	       "and its payload is behind it");
	ok(vm_wire_stamp(&p) == when, "the stamp is read");
}

/* Bits of which every value is taken: seq, received, credits and what is the
 * upper layer's. */
static bool bit_is_free(size_t byte)
{
	return (byte >= offsetof(struct vm_wire, seq) &&
		byte < offsetof(struct vm_wire, bytes)) ||
	       (byte >= offsetof(struct vm_wire, received) &&
		byte < offsetof(struct vm_wire, flags)) ||
	       byte >= offsetof(struct vm_wire, upper_kind);
}

static void bits(void)
{
	struct packet good;
	int taken = 0, refused = 0;

	packet_init(&good);
	for (size_t bit = 0; bit < 8 * VM_WIRE_BYTES; bit++) {
		unsigned char bytes[sizeof(good)];
		enum vm_reject why;

		memcpy(bytes, &good, sizeof(good));
		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
		why = check((const struct packet *)bytes, BYTES);
		if (bit_is_free(bit / 8))
			refused += why != VM_reject_none;
		else
			taken += why == VM_reject_none;
	}
	/* DATA becomes CONTROL by one bit... of none: 1 and 2 differ in two;
	 * process 3 becomes 2 (not there), 1 (us) or 7; its port 2 becomes 0,
	 * which is there. */
	is_int(taken, 1, "a flipped bit is seen, but for one that makes sense");
	is_int(refused, 0, "free fields may have any value");
}

static void noise(void)
{
	unsigned char bytes[sizeof(struct packet)];
	struct packet good;
	int taken = 0;

	packet_init(&good);
	srand(20261120);
	for (int round = 0; round < 200000; round++) {
		size_t length = (size_t)rand() % sizeof(bytes);

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char)rand();
		taken += check((const struct packet *)bytes, length) ==
			 VM_reject_none;
	}
	is_int(taken, 0, "random bytes are never taken");
	for (int round = 0; round < 200000; round++) {
		struct vm_wire wire;
		size_t payload, length = (size_t)rand() % sizeof(bytes);

		memcpy(bytes, &good, sizeof(good));
		for (int n = rand() % 6; n >= 0; n--)
			bytes[(size_t)rand() % VM_WIRE_BYTES] =
				(unsigned char)rand();
		if (vm_wire_check(&wire, &payload, bytes, length, &expect) ==
		    VM_reject_none)
			taken += payload + wire.bytes != length ||
				 wire.bytes > expect.packet_bytes;
	}
	is_int(taken, 0, "what is taken after changes is within bounds");
}

int main(void)
{
	fields();
	stamps();
	bits();
	noise();
	return done_testing();
}
