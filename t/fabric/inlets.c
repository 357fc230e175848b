/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More rings than a poll looks at: what comes in the others is announced, found
 * even if it is not, and makes them watched.
 */
#include "fabric/near.h"
#include "pair.h"

enum { PORTS = 4, MOST = 2, MANY = 3000, LOOKS = 64 };

static struct pair pair;
static struct vm_port *port; /* of side 1, to which all ports of side 0 send */
static char data[200];

static void one_send(unsigned from)
{
	while (side_send(&pair.side[0], 1, from, 0, data, 8, false, NULL) ==
	       -VMPI_EAGAIN)
		pair_poll(&pair);
}

/* The ring that comes from that port. */
static const struct vm_inlet *inlet_of(unsigned from)
{
	for (uint32_t i = 0; i < port->inlets.count; i++)
		if (port->inlets.list[i].from == from)
			return &port->inlets.list[i];
	bail("port %u has no ring", from);
}

/* The first port whose ring is watched, or is not. */
static unsigned port_find(bool watched)
{
	for (unsigned from = 0; from < PORTS; from++)
		if (inlet_of(from)->reader.watched.listed == watched)
			return from;
	bail("no ring of that kind");
}

/* Until the port has nothing to do, and knows it. */
static void settle(void)
{
	for (int i = 0; i < 3000; i++)
		pair_poll(&pair);
	while (port->looks)
		vm_port_poll(port, true);
}

static void few(void)
{
	for (unsigned from = 0; from < PORTS; from++) {
		one_send(from);
		POLL_UNTIL(&pair, pair.side[1].packets == from + 1);
	}
	is_int((int)port->inlets.watch.count, MOST,
	       "of %d rings so many are watched", PORTS);
	settle();
	one_send(port_find(true));
	is_int((int)*port->inlets.watch.bell, 0, "a watched one needs no bell");
	is_int(vm_port_poll(port, true), 1, "and is seen by the next poll");
	settle();
	one_send(port_find(false));
	is_int((int)*port->inlets.watch.bell, 1, "another one rings it");
	is_int(vm_port_poll(port, true), 1, "and is seen likewise");
}

static void missed(void)
{
	uint64_t before = pair.side[1].packets;

	settle();
	one_send(port_find(false));
	*port->inlets.watch.bell = 0;
	for (int i = 0; i < LOOKS; i++)
		vm_port_poll(port, true);
	is_int((int)(pair.side[1].packets - before), 1,
	       "what was not announced is found, a little later");
}

static void partner(void)
{
	_Atomic uint32_t *away = vm_fabric_away(pair.side[0].fabric);

	one_send(0);
	settle();
	ok(vm_port_partner_runs(port), "who has sent to us has its processor");
	*away = 1;
	ok(!vm_port_partner_runs(port), "... unless it says otherwise");
	*away = 0;
}

/* What handlers hold back, while they do: how much, and how often it was handled. */
static int held, handled;
static bool holds;

static void packet_hold(struct vm_port *at, struct vm_pkt *pkt)
{
	side_arrived(at, pkt);
	if (!holds || (!pkt->held && !vm_pkt_followed(at, pkt)))
		return;
	held++;
	pkt->held = &held;
}

static void held_handle(void *what)
{
	handled += what == &held;
}

static void holding(void)
{
	settle();
	holds = true;
	one_send(0);
	vm_port_poll(port, true);
	is_int(held, 0, "a packet that comes alone is not held back");
	for (int i = 0; i < 3; i++)
		one_send(0);
	vm_port_poll(port, true);
	is_int(held, 3, "three that come together are, the last one too");
	is_int(handled, 1, "and are handled together");
	one_send(0);
	vm_port_poll(port, true);
	is_int(handled, 1, "and once only");
	holds = false;
}

static void changing(void)
{
	unsigned from;

	settle();
	from = port_find(false);
	for (int i = 0; i < 10; i++) {
		one_send(from);
		settle();
	}
	ok(inlet_of(from)->reader.watched.listed,
	   "who sends often is watched soon");
	is_int((int)port->inlets.watch.count, MOST,
	       "instead of one that does not");
}

static void many(void)
{
	uint64_t sent = pair.side[1].packets;

	srand(1);
	for (int i = 0; i < MANY; i++, sent++) {
		one_send((unsigned)rand() % PORTS);
		if (rand() % 4 == 0)
			vm_port_poll(port, true);
	}
	POLL_UNTIL(&pair, pair.side[1].packets == sent);
	is_int((int)pair.side[1].faults, 0,
	       "%d records in %d rings come, each ring's in order", MANY,
	       PORTS);
}

int main(void)
{
	vm_clock_init();
	pair_shm = true;
	pair_handler = packet_hold;
	pair_open(&pair, PORTS, NULL);
	port = vm_fabric_port(pair.side[1].fabric, 0);
	if (!vm_near_all(pair.side[0].fabric)) {
		skip(1, "no memory can be shared here");
		return done_testing();
	}
	port->fabric->config.held = held_handle;
	port->inlets.watch.most = MOST;
	ok(!vm_port_partner_runs(port), "who has got nothing has no partner");
	few();
	missed();
	partner();
	holding();
	changing();
	many();
	pair_close(&pair);
	return done_testing();
}
