/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of an arrived header, in one fixed order: strangers' packets fail
 * before anything that only a member of the job can know is compared.
 */
#include "fabric/packet/wire.h"

#include <string.h>

/* By kind: whether it may have a payload. */
static const bool kind_payload[VM_WIRE_KIND_END] = {
#define KIND_PAYLOAD(name, payload) [VM_WIRE_##name] = (payload),
	VM_WIRE_KINDS(KIND_PAYLOAD)
#undef KIND_PAYLOAD
};

/* Whether the lengths agree; sets where the payload begins. */
static bool length_fits(const struct vm_wire *header, size_t *payload,
			size_t bytes, const struct vm_wire_expect *expect)
{
	size_t offset = VM_WIRE_BYTES;

	if (header->flags & VM_WIRE_STAMP)
		offset += VM_WIRE_STAMP_BYTES;
	if (header->flags & VM_WIRE_PART)
		offset += VM_WIRE_PART_BYTES;
	if (header->bytes > expect->packet_bytes ||
	    (header->bytes && !kind_payload[header->kind]))
		return false;
	*payload = offset;
	if (header->flags & VM_WIRE_MORE)
		return vm_wire_next(offset + header->bytes) < bytes;
	return offset + header->bytes == bytes;
}

enum vm_reject vm_wire_check(struct vm_wire *header, size_t *payload,
			     const void *packet, size_t bytes,
			     const struct vm_wire_expect *expect)
{
	struct vm_wire wire;
	size_t offset;

	if (bytes < VM_WIRE_BYTES)
		return VM_reject_short;
	memcpy(&wire, packet, sizeof(wire));
	if (wire.magic != VM_WIRE_MAGIC)
		return VM_reject_magic;
	if (wire.version != VM_WIRE_VERSION)
		return VM_reject_version;
	if (wire.job_key != expect->job_key)
		return VM_reject_key;
	if (wire.kind == VM_WIRE_NONE || wire.kind >= VM_WIRE_KIND_END)
		return VM_reject_kind;
	if (wire.flags & ~(VM_WIRE_STAMP | VM_WIRE_MORE | VM_WIRE_PART))
		return VM_reject_flags;
	if (wire.source >= expect->processes ||
	    wire.source == expect->process ||
	    wire.source_port >= __atomic_load_n(&expect->ports_of[wire.source],
						__ATOMIC_RELAXED))
		return VM_reject_source;
	if (wire.port != expect->port)
		return VM_reject_port;
	if (!length_fits(&wire, &offset, bytes, expect))
		return VM_reject_length;
	*header = wire;
	*payload = offset;
	return VM_reject_none;
}

uint64_t vm_wire_stamp(const void *packet)
{
	uint64_t stamp;

	memcpy(&stamp, (const char *)packet + VM_WIRE_BYTES, sizeof(stamp));
	return stamp;
}

struct vm_wire_part vm_wire_part(const void *packet, size_t payload)
{
	struct vm_wire_part part;

	memcpy(&part, (const char *)packet + payload - VM_WIRE_PART_BYTES,
	       sizeof(part));
	return part;
}

const char *vm_reject_name(enum vm_reject reject)
{
	static const char *const names[] = {
#define REJECT_NAME(class, field, unit, of, level, category, text) \
	[VM_##field] = #field,
		VM_WIRE_REJECTS(REJECT_NAME)
#undef REJECT_NAME
	};

	/* All begin with "reject_". */
	return names[reject] + 7;
}
