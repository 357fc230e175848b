/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A card stays where it was written until somebody wants it, or polls have found
 * nothing that is wanted for a while; it takes no packet and no credit.
 */
#include "fabric/lanes.h"
#include "pair.h"

enum { PATIENCE = 64 /* polls, at the most */ };

static struct pair pair;
static int32_t wanted = -1, got[2 * VM_LANE_CARDS];
static int count, forced;

static bool take(void *arg, const struct vm_card *card, bool must)
{
	(void)arg;
	if (!must && card->head.tag != wanted)
		return false;
	if (card->head.bytes != sizeof(int32_t) ||
	    memcmp(card->data, &card->head.tag, sizeof(int32_t)))
		bail("a card has other data");
	forced += must;
	got[count++] = card->head.tag;
	return true;
}

static bool put(int32_t tag)
{
	const struct vm_card_head head = { .bytes = sizeof(tag), .tag = tag };

	return vm_fabric_card_put(pair.side[1].fabric, 0, &head, &tag);
}

static void wanted_and_not(void)
{
	struct vm_fabric *fabric = pair.side[0].fabric;
	const struct vm_card *card;

	is_int(*fabric->lanes.open, 0, "no lane is looked at");
	ok(vm_fabric_cards_reach(pair.side[1].fabric, 0), "there is a lane");
	ok(vm_fabric_cards_reach(pair.side[1].fabric, 0), "and still is");
	is_int(*fabric->lanes.open, 1, "the reader knows of one");
	ok(put(1) && put(2) && put(3), "three cards are put");
	ok(!side_poll(&pair.side[0]) && !count, "nobody wants any: they stay");
	wanted = 1;
	side_poll(&pair.side[0]);
	is_int(count, 1, "one is wanted, and handed up");
	is_int(got[0], 1, "the right one");
	card = vm_fabric_card_look(fabric, 1);
	ok(card && card->head.tag == 2, "who looks sees the next one");
	ok(!vm_fabric_card_look(fabric, 1), "which nobody else takes then");
	vm_fabric_card_end(fabric, 1, false);
	card = vm_fabric_card_look(fabric, 1);
	ok(card && card->head.tag == 2, "it is still there");
	vm_fabric_card_end(fabric, 1, true);
	card = vm_fabric_card_look(fabric, 1);
	ok(card && card->head.tag == 3, "until it is taken");
	vm_fabric_card_end(fabric, 1, true);
	ok(!vm_fabric_card_look(fabric, 1), "then there are none");
}

/* The wanted one is behind another one. */
static void behind(void)
{
	count = forced = 0;
	wanted = 5;
	put(4);
	put(5);
	for (int i = 0; i < PATIENCE && !count; i++)
		side_poll(&pair.side[0]);
	is_int(count, 2, "what lies in front of a wanted one does not hide it");
	ok(got[0] == 4 && got[1] == 5, "they come in order");
}

static void sleeper(void)
{
	struct vm_sleep sleep;
	uint32_t sent = 0, received = 0;

	count = 0;
	wanted = -1;
	put(6);
	is_int(vm_fabric_sleep_begin(pair.side[0].fabric, &sleep), -VMPI_EAGAIN,
	       "nobody sleeps while there is a card");
	ok(!vm_fabric_quiet(pair.side[0].fabric, &sent, &received),
	   "nor is quiet");
	for (int i = 0; i < PATIENCE && !count; i++)
		side_poll(&pair.side[0]);
	is_int(count, 1, "it is handed up soon");
	is_int(vm_fabric_sleep_begin(pair.side[0].fabric, &sleep), 0,
	       "then there is a sleep");
	put(7);
	ok(vm_fabric_sleep_wait(pair.side[0].fabric, &sleep, UINT64_MAX),
	   "which the next one ends");
	vm_fabric_sleep_end(pair.side[0].fabric);
	for (int i = 0; i < PATIENCE && count < 2; i++)
		side_poll(&pair.side[0]);
}

static void full(void)
{
	uint32_t sent[2] = { 0 }, received[2] = { 0 };
	int32_t tag = 0;

	count = 0;
	while (put(tag))
		tag++;
	is_int(tag, VM_LANE_CARDS, "a lane is full some time");
	for (int i = 0; i < PATIENCE && count < tag; i++)
		side_poll(&pair.side[0]);
	is_int(count, tag, "all are handed up");
	ok(put(tag), "then there is room again");
	wanted = tag;
	side_poll(&pair.side[0]);
	for (int i = 0; i < 2; i++)
		vm_lanes_count(pair.side[i].fabric, &sent[i], &received[i]);
	ok(sent[1] == received[0] && sent[1] > VM_LANE_CARDS && !sent[0],
	   "as many were taken as were put");
	is_int((int)vm_port_pvars(vm_fabric_port(pair.side[1].fabric, 0))->sent,
	       0, "no packet was sent");
}

int main(void)
{
	pair_shm = true;
	pair_card = take;
	if (!provider_use_any())
		skip_all("libfabric has no provider of TCP");
	pair_open(&pair, 1, NULL);
	wanted_and_not();
	behind();
	sleeper();
	full();
	ok(pair_stop(&pair), "both sides stop");
	pair_close(&pair);
	return done_testing();
}
