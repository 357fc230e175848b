/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What asks for much data is handled behind all else that a poll has found, in
 * order, and next to nothing else is out of order.
 */
#include "pair.h"

enum { ASKING = 3, PACKETS = 12 };

static struct pair pair;
static uint64_t seen[PACKETS];
static unsigned count;

static void number_note(struct vm_port *port, struct vm_pkt *pkt)
{
	(void)port;
	if (count < PACKETS)
		memcpy(&seen[count], pkt->upper, sizeof(seen[0]));
	count++;
}

static bool is_asking(uint64_t number)
{
	return number % 4 == 1;
}

/* Sends some to itself: they wait for the port's next poll. */
static bool some_send(struct vm_port *port)
{
	for (uint64_t i = 0; i < PACKETS; i++) {
		uint64_t upper[4] = { i };
		struct vm_send send = { .upper = upper,
					.kind = is_asking(i) ? ASKING : 7,
					.control = true };

		if (vm_port_send(port, (struct vm_to){ 0, 0 }, &send, NULL) < 0)
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

int main(void)
{
	vm_clock_init();
	if (!provider_use_any())
		skip_all("libfabric has no provider of TCP");
	pair_handler = number_note;
	run(0);
	run(ASKING);
	return done_testing();
}
