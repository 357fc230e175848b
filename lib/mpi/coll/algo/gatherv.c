/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A card has the block, or its size; then the block follows as a message.
 */
#include "mpi/coll/algo/gatherv.h"

#include <string.h>

#include "core/meeting/leaders.h"
#include "core/meeting/leaders_ahead.h"
#include "mpi/coll/algo/shown.h"

/* Whether member `rank` sends as much as the root expects; else an error of the
 * root. */
static bool is_expected(struct vm_coll *coll, int rank, size_t sent,
			size_t expected)
{
	if (sent == expected)
		return true;
	vm_coll_fail(coll, MPI_ERR_TRUNCATE,
		     "rank %d sends %zu bytes, rank %d expects %zu", rank, sent,
		     coll->rank, expected);
	return false;
}

static int leaf(struct vm_meet *meet, struct vm_coll *coll,
		struct vm_leaders_card *card)
{
	struct vm_data data = vm_blocks_data(&coll->send, 0);
	struct vm_data shown = vm_data_bytes(card->data, data.bytes);
	uint64_t size = data.bytes;
	int rc;

	if (size <= VM_LEADERS_CARD_DATA) {
		vm_data_copy(&shown, &data);
		card->bytes = (uint32_t)size;
		return vm_leaders_short(meet, data.bytes, VM_LEADERS_UP);
	}
	card->bytes = 0;
	card->follows = 1;
	memcpy(card->data, &size, sizeof(size));
	rc = vm_leaders_short(meet, sizeof(size), VM_LEADERS_UP);
	return rc ? rc : vm_leaders_follow(meet, &data);
}

/* Takes the block of a member: 0 or an error. */
static int block_take(struct vm_meet *meet, struct vm_coll *coll, int rank,
		      struct vm_leaders_data *talk)
{
	struct vm_data to = vm_blocks_data(&coll->recv, (size_t)rank), from;
	const struct vm_leaders_card *card;
	uint64_t size;
	size_t bytes;

	card = vm_leaders_card_of(meet, rank, &bytes);
	if (!card ||
	    (card->follows ? bytes < sizeof(size) : bytes < card->bytes))
		return -VMPI_EINVAL;
	if (!card->follows) {
		from = vm_data_bytes(card->data, card->bytes);
		if (is_expected(coll, rank, from.bytes, to.bytes))
			vm_data_copy(&to, &from);
		return 0;
	}
	memcpy(&size, card->data, sizeof(size));
	if (!is_expected(coll, rank, size, to.bytes))
		return vm_leaders_drain(meet, rank, meet->talks);
	vm_leaders_recv(talk, rank, &to);
	return 0;
}

static int root(struct vm_meet *meet, struct vm_coll *coll,
		struct vm_leaders_card *card)
{
	struct vm_data to = vm_blocks_data(&coll->recv, 0), from;
	struct vm_leaders_data talk;
	int rc, end;

	card->bytes = 0;
	rc = vm_leaders_short(meet, 0, VM_LEADERS_UP);
	if (rc)
		return rc;
	if (!coll->in_place) {
		from = vm_blocks_data(&coll->send, 0);
		if (is_expected(coll, 0, from.bytes, to.bytes))
			vm_data_copy(&to, &from);
	}
	vm_leaders_data_begin(&talk, meet);
	for (int p = 1; p < meet->leaders->count && !rc; p++)
		rc = block_take(meet, coll, p, &talk);
	end = vm_leaders_data_end(&talk);
	return rc ? rc : end;
}

int vm_coll_gatherv(struct vm_meet *meet, struct vm_coll *coll)
{
	struct vm_leaders_card *card = vm_leaders_card(meet);

	if (!card)
		return -VMPI_ENOMEM;
	vm_coll_key(card->key, coll);
	return meet->leaders->self ? leaf(meet, coll, card) :
				     root(meet, coll, card);
}
