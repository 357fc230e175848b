/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of an exchange, heads, and bundles of cards.
 */
#include "core/meeting/leaders_talk.h"

#include <stdlib.h>
#include <string.h>

#include "core/meeting/leaders_card.h"
#include "core/meeting/leaders_msg.h"

/* Of how many processes memory is kept from exchange to exchange. */
#define TALKS_KEPT 16

/* What stands before each card of a bundle. */
struct card_bytes {
	uint64_t bytes;
};

size_t vm_leaders_bundle_room(const struct vm_leaders *leaders)
{
	return VM_LEADERS_HEAD_BYTES +
	       (size_t)leaders->count *
		       (sizeof(struct card_bytes) + VM_LEADERS_CARD_MOST);
}

struct vm_leaders_head *vm_leaders_bundle(const struct vm_leaders *leaders,
					  struct vm_leaders_talk *talks)
{
	/* Behind them. */
	return (struct vm_leaders_head *)(void *)(talks + leaders->count);
}

static size_t talks_bytes(const struct vm_leaders *leaders)
{
	size_t bytes = (size_t)leaders->count * sizeof(struct vm_leaders_talk);

	return bytes +
	       (vm_leaders_star(leaders) ? vm_leaders_bundle_room(leaders) : 0);
}

struct vm_leaders_talk *vm_leaders_talks_get(struct vm_leaders *leaders)
{
	struct vm_leaders_talk *talks = atomic_exchange_explicit(
		&leaders->spare, NULL, memory_order_acquire);

	if (!talks)
		talks = aligned_alloc(16, talks_bytes(leaders));
	for (int p = 0; talks && p < leaders->count; p++) {
		memset(talks[p].reqs, 0, sizeof(talks[p].reqs));
		talks[p].heard = talks[p].ahead = false;
	}
	return talks;
}

void vm_leaders_talks_put(struct vm_leaders *leaders,
			  struct vm_leaders_talk *talks)
{
	if (leaders->count <= TALKS_KEPT)
		talks = atomic_exchange_explicit(&leaders->spare, talks,
						 memory_order_acq_rel);
	free(talks);
}

int vm_leaders_head_recv(const struct vm_meet *meet, int p,
			 struct vm_leaders_talk *talk)
{
	return vm_leaders_part_recv(meet, p, &talk->in, sizeof(talk->in),
				    &talk->reqs[0]);
}

int vm_leaders_head_hear(struct vm_leaders_talk *talk, size_t bytes)
{
	struct vm_leaders_card *card = (struct vm_leaders_card *)talk->in.data;
	char packed[VM_LEADERS_CARD_PACKED];
	size_t data_bytes;

	talk->heard = true;
	talk->ahead = bytes && talk->in.topic == VM_LEADERS_AHEAD;
	if (!bytes || *(unsigned char *)&talk->in < VM_LEADERS_CARD_MARK)
		return 0;
	if (bytes > sizeof(packed))
		return -VMPI_EIO;
	memcpy(packed, &talk->in, bytes);
	if (!vm_leaders_card_unpack(card, &data_bytes, &talk->ahead, packed,
				    bytes))
		return -VMPI_EIO;
	talk->in.topic = talk->ahead ? VM_LEADERS_AHEAD : VM_LEADERS_SHORT;
	talk->in.bytes = sizeof(*card) + data_bytes;
	return 0;
}

int vm_leaders_head_await(const struct vm_meet *meet, int p,
			  struct vm_leaders_talk *talks)
{
	size_t bytes = 0;
	int rc = vm_leaders_msg_wait(meet, &talks[p].reqs[0], &bytes);

	return rc ? rc : vm_leaders_head_hear(&talks[p], bytes);
}

enum vm_leaders_topic
vm_leaders_bundle_topic(const struct vm_leaders *leaders,
			const struct vm_leaders_talk *talks)
{
	enum vm_leaders_topic topic = VM_LEADERS_SHORT;

	for (int p = 0; p < leaders->count; p++) {
		if (p == leaders->self)
			continue;
		if (talks[p].in.topic == VM_LEADERS_LOST)
			return VM_LEADERS_LOST;
		if (!vm_leaders_talk_is_card(&talks[p]) ||
		    talks[p].in.bytes > VM_LEADERS_CARD_MOST)
			topic = VM_LEADERS_MISMATCH;
	}
	return topic;
}

size_t vm_leaders_bundle_fill(const struct vm_leaders *leaders,
			      struct vm_leaders_talk *talks)
{
	struct vm_leaders_head *bundle = vm_leaders_bundle(leaders, talks);
	char *at = bundle->data;

	for (int p = 0; p < leaders->count; p++) {
		const struct vm_leaders_head *head =
			p == leaders->self ? &talks[p].out : &talks[p].in;
		struct card_bytes card = { head->bytes };

		memcpy(at, &card, sizeof(card));
		memcpy(at + sizeof(card), head->data, card.bytes);
		at += sizeof(card) + card.bytes;
	}
	return (size_t)(at - (char *)bundle);
}

bool vm_leaders_bundle_take(const struct vm_leaders *leaders,
			    struct vm_leaders_talk *talks, size_t bytes)
{
	const struct vm_leaders_head *bundle =
		vm_leaders_bundle(leaders, talks);
	const char *at = bundle->data, *end = (const char *)bundle + bytes;

	for (int p = 0; p < leaders->count; p++) {
		struct card_bytes card;

		if ((size_t)(end - at) < sizeof(card))
			return false;
		memcpy(&card, at, sizeof(card));
		at += sizeof(card);
		if (card.bytes > VM_LEADERS_HEAD_ROOM ||
		    card.bytes > (size_t)(end - at))
			return false;
		talks[p].in.topic = VM_LEADERS_SHORT;
		talks[p].in.bytes = card.bytes;
		memcpy(talks[p].in.data, at, card.bytes);
		at += card.bytes;
	}
	return at == end;
}
