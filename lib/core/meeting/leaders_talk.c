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

/* The memory of a head of so many bytes in a bundle. */
static size_t bundled(size_t bytes)
{
	const size_t align = _Alignof(struct vm_leaders_head);

	return (VM_LEADERS_HEAD_BYTES + bytes + align - 1) & ~(align - 1);
}

size_t vm_leaders_bundle_room(const struct vm_leaders *leaders)
{
	return VM_LEADERS_HEAD_BYTES +
	       (size_t)leaders->count * bundled(VM_LEADERS_CARD_MOST);
}

/* Behind those of all processes. */
static struct vm_leaders_heads *heads_of(const struct vm_leaders *leaders,
					 struct vm_leaders_talk *talks)
{
	return (struct vm_leaders_heads *)(void *)(talks + leaders->count);
}

struct vm_leaders_head *vm_leaders_bundle(const struct vm_leaders *leaders,
					  struct vm_leaders_talk *talks)
{
	void *behind = heads_of(leaders, talks) + leaders->count;

	return behind;
}

static struct vm_leaders_talk *talks_new(const struct vm_leaders *leaders)
{
	size_t n = (size_t)leaders->count;
	size_t bytes = n * (sizeof(struct vm_leaders_talk) +
			    sizeof(struct vm_leaders_heads));
	struct vm_leaders_talk *talks;

	if (vm_leaders_star(leaders))
		bytes += vm_leaders_bundle_room(leaders);
	bytes = (bytes + VM_CACHELINE - 1) & ~(size_t)(VM_CACHELINE - 1);
	talks = aligned_alloc(VM_CACHELINE, bytes);
	if (!talks)
		return NULL;
	memset(talks, 0, n * sizeof(*talks));
	for (int p = 0; p < leaders->count; p++)
		talks[p].heads = heads_of(leaders, talks) + p;
	return talks;
}

struct vm_leaders_talk *vm_leaders_talks_get(struct vm_leaders *leaders)
{
	struct vm_leaders_talk *talks = atomic_exchange_explicit(
		&leaders->spare, NULL, memory_order_acquire);

	return talks ? talks : talks_new(leaders);
}

void vm_leaders_talks_put(struct vm_leaders *leaders,
			  struct vm_leaders_talk *talks, int used)
{
	for (int p = 0; p < used; p++) {
		talks[p].in = NULL;
		talks[p].ahead = false;
		talks[p].left = 0;
	}
	if (leaders->count <= TALKS_KEPT)
		talks = atomic_exchange_explicit(&leaders->spare, talks,
						 memory_order_acq_rel);
	free(talks);
}

int vm_leaders_head_recv(const struct vm_meet *meet, int p,
			 struct vm_leaders_talk *talk)
{
	struct vm_leaders_head *in = &talk->heads->in;

	return vm_leaders_part_recv(meet, p, in, sizeof(*in), &talk->reqs[0]);
}

static bool is_packed(const struct vm_leaders_head *in, size_t bytes)
{
	return bytes && *(const unsigned char *)in >= VM_LEADERS_CARD_MARK;
}

uint32_t vm_leaders_head_left(const struct vm_leaders_head *in, size_t bytes)
{
	return bytes < VM_LEADERS_HEAD_BYTES || is_packed(in, bytes) ? 0 :
								       in->left;
}

int vm_leaders_head_hear(struct vm_leaders_talk *talk,
			 struct vm_leaders_head *in, size_t bytes)
{
	struct vm_leaders_card *card = (struct vm_leaders_card *)in->data;
	char packed[VM_LEADERS_CARD_PACKED];
	size_t data_bytes;

	talk->in = in;
	talk->left = vm_leaders_head_left(in, bytes);
	if (is_packed(in, bytes)) {
		if (bytes > sizeof(packed))
			return -VMPI_EIO;
		memcpy(packed, in, bytes);
		if (!vm_leaders_card_unpack(card, &data_bytes, &in->topic,
					    packed, bytes))
			return -VMPI_EIO;
		in->bytes = sizeof(*card) + data_bytes;
	}
	talk->ahead = bytes && (in->topic == VM_LEADERS_AHEAD ||
				in->topic == VM_LEADERS_CHAINED);
	return 0;
}

int vm_leaders_head_await(const struct vm_meet *meet, int p,
			  struct vm_leaders_talk *talks)
{
	size_t bytes = 0;
	int rc = vm_leaders_msg_wait(meet, &talks[p].reqs[0], &bytes);

	return rc ? rc :
		    vm_leaders_head_hear(&talks[p], &talks[p].heads->in, bytes);
}

size_t vm_leaders_bundle_fill(const struct vm_leaders *leaders,
			      struct vm_leaders_talk *talks)
{
	struct vm_leaders_head *bundle = vm_leaders_bundle(leaders, talks);
	char *at = bundle->data;

	for (int p = 0; p < leaders->count; p++) {
		const struct vm_leaders_head *head =
			p == leaders->self ? &talks[p].heads->out : talks[p].in;

		memcpy(at, head, VM_LEADERS_HEAD_BYTES + head->bytes);
		at += bundled(head->bytes);
	}
	return (size_t)(at - (char *)bundle);
}

bool vm_leaders_bundle_take(const struct vm_leaders *leaders,
			    struct vm_leaders_talk *talks, size_t bytes)
{
	struct vm_leaders_head *bundle = vm_leaders_bundle(leaders, talks);
	char *at = bundle->data, *end = (char *)bundle + bytes;

	for (int p = 0; p < leaders->count; p++) {
		struct vm_leaders_head *head = (void *)at;

		if ((size_t)(end - at) < VM_LEADERS_HEAD_BYTES ||
		    head->bytes > VM_LEADERS_CARD_MOST ||
		    bundled(head->bytes) > (size_t)(end - at))
			return false;
		talks[p].in = head;
		at += bundled(head->bytes);
	}
	return at == end;
}
