/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A field begins with its number and how the value is written: as a varint, in
 * eight bytes, or with its length before it.
 */
#include "report/trace/protobuf.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

#define VARINT_BYTES 10

/* Seven bits a byte, the lowest first; the highest bit: there are more. */
static size_t varint(uint8_t *bytes, uint64_t value)
{
	size_t count = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[count++] = (uint8_t)(value | 0x80);
	bytes[count++] = (uint8_t)value;
	return count;
}

static void add(struct vm_protobuf *wire, unsigned int field, unsigned int kind,
		uint64_t number, const void *data, size_t bytes)
{
	uint8_t head[2 * VARINT_BYTES];
	size_t used = varint(head, (uint64_t)field << 3 | kind);

	if (kind != FIXED64)
		used += varint(head + used, number);
	if (used + bytes > sizeof(wire->data) - wire->used)
		return;
	memcpy(wire->data + wire->used, head, used);
	if (bytes)
		memcpy(wire->data + wire->used + used, data, bytes);
	wire->used += used + bytes;
}

void vm_protobuf_number(struct vm_protobuf *wire, unsigned int field,
			uint64_t value)
{
	add(wire, field, VARINT, value, NULL, 0);
}

void vm_protobuf_fixed(struct vm_protobuf *wire, unsigned int field,
		       uint64_t value)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	add(wire, field, FIXED64, 0, bytes, sizeof(bytes));
}

void vm_protobuf_text(struct vm_protobuf *wire, unsigned int field,
		      const char *text)
{
	size_t length = strlen(text);

	add(wire, field, LENGTH, length, text, length);
}

void vm_protobuf_message(struct vm_protobuf *wire, unsigned int field,
			 const struct vm_protobuf *message)
{
	add(wire, field, LENGTH, message->used, message->data, message->used);
}
