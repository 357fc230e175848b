/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What asks for much data is handled behind all else that a poll has found, in
 * order, also what comes while another one is answered; and next to nothing else
 * is out of order.
 */
#include "pair.h"

enum { ASKING = 3, PACKETS = 12, LATER = 100, NUMBERS_MAX = 2 * PACKETS };

static struct pair pair;
static uint64_t seen[NUMBERS_MAX];
static unsigned count;
static bool more; /* comes while the first one that asks is handled */

static bool number_send(struct vm_port *port, uint64_t number, uint8_t kind)
{
	uint64_t upper[4] = { number };
	struct vm_send send = { .upper = upper, .kind = kind, .control = true };

	return vm_port_send(port, (struct vm_to){ 0, 0 }, &send, NULL) >= 0;
}

static void number_note(struct vm_port *port, struct vm_pkt *pkt)
{
	if (count < NUMBERS_MAX)
		memcpy(&seen[count], pkt->upper, sizeof(seen[0]));
	count++;
	if (more && pkt->kind == ASKING)
		more = !number_send(port, LATER, 7);
}

static bool is_asking(uint64_t number)
{
	return number % 4 == 1;
}

/* Sends some to itself: they wait for the port's next poll. */
static bool some_send(struct vm_port *port)
{
	for (uint64_t i = 0; i < PACKETS; i++) {
		if (!number_send(port, i, is_asking(i) ? ASKING : 7))
			return false;
	}
	return true;
}

/* Whether those that ask, or the others, lie in order at seen[from]. */
static bool are_in_order(unsigned from, bool asking)
{
	for (uint64_t i = 0; i < PACKETS; i++)
		if (is_asking(i) == asking && seen[from++] != i)
			return false;
	return true;
}

static void run(uint8_t asking)
{
	struct vm_port *port;

	pair_open(&pair, 1, NULL);
	pair.side[0].fabric->config.asking = asking;
	port = vm_fabric_port(pair.side[0].fabric, 0);
	count = 0;
	ok(some_send(port) && !count, "%d packets are sent", PACKETS);
	vm_port_poll(port, true);
	is_int((int)count, PACKETS, "one poll finds them");
	if (asking) {
		ok(are_in_order(0, false),
		   "what does not ask comes first, in order");
		ok(are_in_order(PACKETS - PACKETS / 4, true),
		   "and then what asks, in order");
	} else {
		bool same = true;

		for (uint64_t i = 0; i < PACKETS; i++)
			same = same && seen[i] == i;
		ok(same, "in order where nothing asks");
	}
	pair_close(&pair);
}

/* Many ask, and something else comes while the first one is answered. */
static void meanwhile(void)
{
	const unsigned others = PACKETS - PACKETS / 4;
	struct vm_port *port;

	pair_open(&pair, 1, NULL);
	pair.side[0].fabric->config.asking = ASKING;
	port = vm_fabric_port(pair.side[0].fabric, 0);
	count = 0;
	more = true;
	ok(some_send(port), "%d packets are sent again", PACKETS);
	vm_port_poll(port, true);
	is_int((int)count, PACKETS + 1, "one poll finds them, and one more");
	ok(is_asking(seen[others]) && seen[others + 1] == LATER,
	   "which is handled behind the first that asks");
	ok(is_asking(seen[others + 2]) && is_asking(seen[others + 3]) &&
		   seen[others + 2] < seen[others + 3],
	   "and before the other ones");
	pair_close(&pair);
}

int main(void)
{
	vm_clock_init();
	if (!provider_use_any())
		skip_all("libfabric has no provider of TCP");
	pair_handler = number_note;
	run(0);
	run(ASKING);
	meanwhile();
	return done_testing();
}
