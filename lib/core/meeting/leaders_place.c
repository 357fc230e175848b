/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A place is a load of the fabric that only the other side moves.  One that
 * nobody has begun to fill can be taken back, so that after an error, with which
 * its owner returns, no data come any more.
 */
#include "core/meeting/leaders_place.h"

#include <stdlib.h>
#include <string.h>

#include "core/local/layout.h"
#include "core/meeting/leaders.h"
#include "core/meeting/meet.h"
#include "core/rank/rank.h"
#include "core/rank/state.h"
#include "fabric/near/share.h"

/* As a card says it. */
struct told_place {
	uint64_t address;
	uint32_t number;
	int process; /* of the channel, whose place it is */
};

VM_STATIC_ASSERT(VM_LEADERS_PLACES * sizeof(struct told_place) <=
			 VM_LEADERS_CARD_DATA,
		 "a card has room for them");

struct leaders_place {
	struct vm_share share;
	struct iovec here, there;
	bool given; /* it is in use */
	char full;  /* what its process says */
};

struct vm_leaders_places {
	int count;
	struct leaders_place places[]; /* by process */
};

static bool place_open(struct leaders_place *place, const struct vm_meet *meet,
		       int process, const struct vm_data *data)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_leaders_process *self =
		&leaders->processes[leaders->self];
	const struct vm_leaders_process *to = &leaders->processes[process];

	if (!data->bytes || data->layout || process == leaders->self)
		return false;
	place->here = (struct iovec){ data->addr, data->bytes };
	place->there = (struct iovec){ NULL, data->bytes };
	place->share = (struct vm_share){ .port = self->first->port,
					  .process = to->first->to.process };
	place->share.load = vm_load_one(&place->here, &place->there);
	place->given = vm_share_give(&place->share, to->first->to.port);
	return place->given;
}

struct vm_leaders_places *vm_leaders_places_open(const struct vm_meet *meet,
						 const struct vm_data *data,
						 struct vm_leaders_card *card,
						 size_t *card_bytes)
{
	const struct vm_leaders *leaders = meet->leaders;
	struct vm_leaders_places *places;
	struct told_place *told = (struct told_place *)(void *)card->data;
	size_t count = 0;

	if (leaders->count > VM_LEADERS_PLACES || !vm_node->fabric)
		return NULL;
	places = calloc(1, sizeof(*places) + (size_t)leaders->count *
						     sizeof(*places->places));
	if (!places)
		return NULL;
	places->count = leaders->count;
	for (int p = 0; p < leaders->count; p++) {
		struct leaders_place *place = &places->places[p];

		if (place_open(place, meet, p, &data[p]))
			told[count++] = (struct told_place){
				(uint64_t)(uintptr_t)data[p].addr,
				place->share.number, p
			};
	}
	*card_bytes = count * sizeof(*told);
	if (count)
		return places;
	free(places);
	return NULL;
}

bool vm_leaders_place_full(const struct vm_leaders_places *places, int process)
{
	return places && places->places[process].full;
}

void vm_leaders_place_expect(struct vm_leaders_places *places,
			     struct vm_leaders_data *talk, int process)
{
	struct vm_data full;

	if (!places || !places->places[process].given)
		return;
	full = vm_data_bytes(&places->places[process].full, 1);
	vm_leaders_recv(talk, process, &full);
}

void vm_leaders_places_expect(struct vm_leaders_places *places,
			      struct vm_leaders_data *talk)
{
	for (int p = 0; places && p < places->count; p++)
		vm_leaders_place_expect(places, talk, p);
}

static void place_close(struct leaders_place *place)
{
	const struct vm_share *share = &place->share;

	if (!vm_share_take_back(&place->share))
		while (!vm_share_wait(share) &&
		       vm_fabric_peer_alive(vm_node->fabric, share->process))
			vm_cpu_yield();
	vm_share_end(&place->share);
}

void vm_leaders_places_close(struct vm_leaders_places *places)
{
	for (int p = 0; places && p < places->count; p++)
		if (places->places[p].given)
			place_close(&places->places[p]);
	free(places);
}

static int fill(const struct vm_leaders *leaders, int process,
		const struct told_place *told, const struct vm_data *data)
{
	const struct vm_rank *self = leaders->processes[leaders->self].first;
	const struct vm_rank *owner = leaders->processes[process].first;
	struct iovec here = { data->addr, data->bytes };
	struct iovec there = { (void *)(uintptr_t)told->address, data->bytes };
	struct vm_share share = { .port = self->port,
				  .process = owner->to.process,
				  .load = vm_load_one(&here, &there) };

	return vm_share_fill(&share, owner->to.port, told->number);
}

/* What the card of a process says for this one; NULL: nothing. */
static const struct told_place *told_find(const struct vm_meet *meet,
					  int process)
{
	size_t bytes;
	const struct vm_leaders_card *card =
		vm_leaders_card_of(meet, process, &bytes);
	const struct told_place *told;

	if (!card || bytes % sizeof(*told))
		return NULL;
	told = (const struct told_place *)(const void *)card->data;
	for (size_t i = 0; i < bytes / sizeof(*told); i++)
		if (told[i].process == meet->leaders->self)
			return &told[i];
	return NULL;
}

bool vm_leaders_place_fill(struct vm_leaders_data *talk,
			   const struct vm_meet *told, int process,
			   const struct vm_data *data)
{
	const struct told_place *place = told_find(told, process);
	struct vm_data say;
	int rc = talk->error;
	char full;

	if (!place)
		return false;
	if (!rc)
		rc = data->layout ?
			     -VMPI_ENOTSUP :
			     fill(talk->meet->leaders, process, place, data);
	if (rc == -VMPI_EAGAIN) { /* it has given up */
		talk->error = talk->error ? talk->error : -VMPI_EPEER;
		return true;
	}
	full = rc == 0;
	say = vm_data_bytes(&full, 1);
	vm_leaders_send(talk, process, &say);
	vm_leaders_wait(talk);
	return full;
}
