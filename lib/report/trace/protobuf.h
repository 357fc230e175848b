/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One message in the wire format of protocol buffers: fields, each a number and
 * a value.  A message within another one is made by itself and then added.
 *
 * Room is bounded: what does not fit is left out whole, which only a text that
 * is longer than vmpi makes them can cause.
 */
#ifndef REPORT_TRACE_PROTOBUF_H
#define REPORT_TRACE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#define VM_PROTOBUF_ROOM 2048

struct vm_protobuf {
	size_t used;
	uint8_t data[VM_PROTOBUF_ROOM];
};

static inline void vm_protobuf_init(struct vm_protobuf *wire)
{
	wire->used = 0;
}

/* A value of uint64, uint32, enum or bool; int64 and int32 are cast to it. */
void vm_protobuf_number(struct vm_protobuf *wire, unsigned int field,
			uint64_t value);
/* A value of fixed64. */
void vm_protobuf_fixed(struct vm_protobuf *wire, unsigned int field,
		       uint64_t value);
void vm_protobuf_text(struct vm_protobuf *wire, unsigned int field,
		      const char *text);
void vm_protobuf_message(struct vm_protobuf *wire, unsigned int field,
			 const struct vm_protobuf *message);

#endif
