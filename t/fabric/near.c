/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes through rings: every short length, many records in one poll, those
 * that are kept, and more than the sender may send.
 */
#include "fabric/conn.h"
#include "fabric/near.h"
#include "pair.h"

enum { SHORT = 80, MANY = 100 };

static struct pair pair;
static char data[1000];

/* The connection of a side to the other one. */
static struct vm_conn *conn_of(unsigned side)
{
	struct vm_port *port = vm_fabric_port(pair.side[side].fabric, 0);

	return &port->contacts[!side]->conns[0];
}

static int one_send(uint32_t bytes, bool control)
{
	return side_send(&pair.side[0], 1, 0, 0, data, bytes, control, NULL);
}

/* Whether each side lets the other send what that believes it may. */
static bool is_even(void)
{
	return conn_of(0)->credits == conn_of(1)->granted &&
	       conn_of(1)->credits == conn_of(0)->granted;
}

static void lengths(void)
{
	struct side *to = &pair.side[1];

	for (uint32_t bytes = 0; bytes < SHORT; bytes++) {
		if (one_send(bytes, bytes % 2) != VM_DONE)
			bail("a packet of %u bytes is refused", bytes);
		POLL_UNTIL(&pair, to->packets > bytes);
	}
	is_int((int)to->faults, 0, "payloads of 0 to %d bytes come whole",
	       SHORT - 1);
	ok(is_even(), "with as many credits on both sides");
}

static void many(void)
{
	struct side *to = &pair.side[1];
	uint64_t before = to->packets;
	unsigned sent = 0, data_sent = 0;

	for (; sent < MANY; sent++) {
		bool control = sent % 3 || !conn_of(0)->credits;

		data_sent += !control;
		if (one_send(sent % 20, control) != VM_DONE)
			break;
	}
	is_int((int)sent, MANY, "many records fit into a ring");
	ok(data_sent > 5, "%u of them with a credit", data_sent);
	POLL_UNTIL(&pair, to->packets == before + MANY);
	is_int((int)to->faults, 0, "all come, in order");
	is_int((int)conn_of(1)->held, 0, "and none is held");
	ok(is_even(), "with as many credits on both sides");
}

static void kept(void)
{
	struct side *to = &pair.side[1];
	uint64_t before = to->packets;

	to->keep = true;
	for (int i = 0; i < 5; i++)
		one_send(100, false);
	POLL_UNTIL(&pair, to->packets == before + 5);
	is_int((int)conn_of(1)->held, 5, "records that are kept are held");
	side_release(to);
	to->keep = false;
	for (int i = 0; i < 10; i++)
		pair_poll(&pair);
	is_int((int)conn_of(1)->held, 0, "until they are released");
	ok(is_even(), "with as many credits on both sides");
}

/* As a layer above that has woken somebody, who is to see the next packet
 * first. */
static void one_taken(struct vm_port *port, struct vm_pkt *pkt)
{
	if (pkt->woke) {
		pkt->stays = true;
		return;
	}
	side_arrived(port, pkt);
	pkt->woke = true;
}

static void left(void)
{
	vm_pkt_handler *const *all = pair.side[1].fabric->config.arrived;
	struct vm_port *port = vm_fabric_port(pair.side[1].fabric, 0);
	vm_pkt_handler *handlers[VM_PKT_KINDS];
	struct side *to = &pair.side[1];
	uint64_t before = to->packets;
	bool single = true;

	for (int i = 0; i < VM_PKT_KINDS; i++)
		handlers[i] = one_taken;
	to->fabric->config.arrived = handlers;
	for (uint32_t i = 0; i < 10; i++)
		one_send(i * 3, i % 2);
	for (uint64_t i = 1; i <= 10; i++) {
		vm_port_poll(port, true);
		single = single && to->packets == before + i;
	}
	to->fabric->config.arrived = all;
	ok(single, "a record may be left to the next poll, many times");
	is_int((int)to->faults, 0, "and comes then, whole and in order");
	for (int i = 0; i < 10; i++)
		pair_poll(&pair);
	ok(is_even(), "with as many credits on both sides");
}

static void excess(void)
{
	struct side *to = &pair.side[1];

	conn_of(1)->granted = 3;
	for (unsigned i = 0; i < 4; i++)
		one_send(8, false);
	POLL_UNTIL(&pair, to->downs > 0);
	ok(to->down_error != 0, "who sends more than it may is given up");
}

static void run(const char *name)
{
	pair_open(&pair, 1, NULL);
	if (!vm_near_all(pair.side[0].fabric)) {
		skip(1, "%s: no memory can be shared here", name);
		pair_close(&pair);
		return;
	}
	/* First contact, both ways. */
	side_send(&pair.side[1], 0, 0, 0, data, 0, true, NULL);
	POLL_UNTIL(&pair, pair.side[0].packets == 1);
	lengths();
	many();
	kept();
	left();
	excess();
	pair_close(&pair);
}

int main(void)
{
	vm_clock_init();
	pair_shm = true;
	run("shm");
	return done_testing();
}
