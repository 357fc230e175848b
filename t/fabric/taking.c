/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that are taken where their sender has written them, without a poll,
 * or where the network has put them: in order with those that are polled for,
 * with credits that come back, and counted before anybody sleeps.
 */
#include "fabric/near.h"
#include "fabric/packet/wire.h"
#include "pair.h"

enum { MANY = 3000 };

static struct pair pair;
static struct vm_port *port;
static char data[2000];

static void one_send(uint32_t bytes)
{
	while (side_send(&pair.side[0], 1, 0, 0, data, bytes, false, NULL) ==
	       -VMPI_EAGAIN)
		side_poll(&pair.side[0]);
}

/* Looks once; whether the next packet has been taken. */
static bool one_take(bool take)
{
	struct side *side = &pair.side[1];
	const struct vm_pkt *pkt;

	if (vm_port_look(port, (struct vm_to){ 0, 0 }, 9, 1, &pkt) != VM_DONE)
		return false;
	/* What a poll would do. */
	if (take)
		side_arrived(port, (struct vm_pkt *)(uintptr_t)pkt);
	vm_port_look_end(port, take);
	side->last_ns = 0;
	return take;
}

/* Until the port has nothing to do, and knows it. */
static void settle(void)
{
	for (int i = 0; i < 3000; i++)
		pair_poll(&pair);
}

static void known(void)
{
	const struct vm_pkt *pkt;

	is_int(vm_port_look(port, (struct vm_to){ 0, 0 }, 9, 1, &pkt),
	       VM_PENDING, "from whom nothing has come nothing is taken");
	one_send(8);
	POLL_UNTIL(&pair, pair.side[1].packets == 1);
	settle();
	is_int(vm_port_look(port, (struct vm_to){ 0, 0 }, 9, 1, &pkt),
	       -VMPI_EAGAIN, "nor when there is nothing");
}

static void left(void)
{
	uint64_t before = pair.side[1].packets;

	one_send(8);
	ok(!one_take(false) && pair.side[1].packets == before,
	   "one that is looked at and left");
	POLL_UNTIL(&pair, pair.side[1].packets == before + 1);
	ok(true, "comes by the next poll");
}

static void counted(void)
{
	uint64_t before;

	/* Until both know of all credits. */
	for (int i = 0; i < 40; i++) {
		one_send(8);
		POLL_UNTIL(&pair,
			   pair.side[1].packets == pair.side[0].sent[1][0][0]);
	}
	settle();
	before = port->pvars.received;
	one_send(8);
	ok(one_take(true), "what has come is taken");
	ok(vm_port_busy(port) && port->pvars.received == before,
	   "nobody sleeps before it is counted");
	vm_port_poll(port, true);
	is_int((int)(port->pvars.received - before), 1, "which a poll does");
	settle();
	ok(!vm_port_busy(port), "then one may");
}

/* More than there are credits, as they come. */
static void many(void)
{
	uint64_t sent = pair.side[1].packets, taken = 0, polled = 0;

	for (int i = 0; i < MANY; i++, sent++) {
		one_send((uint32_t)(i * 7 % 1900));
		while (pair.side[1].packets == sent) {
			bool took = one_take(i % 16 != 0);

			taken += took;
			polled += !took && vm_port_poll(port, true) > 0;
		}
	}
	is_int((int)pair.side[1].faults, 0, "%d come in order, and right",
	       MANY);
	ok(taken > MANY / 2 && polled > MANY / 20,
	   "taken (%d) and polled for (%d)", (int)taken, (int)polled);
}

/* Until the next packet is there, taken or left. */
static bool one_come(bool take)
{
	uint64_t before = pair.side[1].packets;
	bool took = false;

	while (pair.side[1].packets == before) {
		took |= one_take(take);
		side_poll(&pair.side[0]);
	}
	return took;
}

/* Several at a time, which only a poll can deliver. */
static void rows(const char *provider)
{
	uint64_t until = pair.side[1].packets;

	for (int i = 0; i < 100; i++) {
		until += 8;
		for (int k = 0; k < 8; k++)
			one_send((uint32_t)(100 * k));
		while (pair.side[1].packets < until) {
			one_take(i % 2);
			side_poll(&pair.side[0]);
		}
	}
	is_int((int)pair.side[1].faults, 0, "%s: rows of them, too", provider);
}

static bool dies; /* with its next packet of data */

/* The process is given up right after its packet was read. */
static ssize_t last_read(struct fid_cq *cq, struct fi_cq_data_entry *entries,
			 size_t count)
{
	ssize_t n = vm_fi_real.cq_read(cq, entries, count);

	for (ssize_t i = 0; dies && i < n; i++) {
		const struct vm_packet *pkt = entries[i].op_context;

		if (entries[i].flags & FI_RECV &&
		    ((const struct vm_wire *)pkt->wire)->kind == VM_WIRE_DATA) {
			dies = false;
			vm_peer_fail(port->fabric, 0, -VMPI_EPEER, "it ends");
		}
	}
	return n;
}

/* Sends until one is there for who looks. */
static void one_find(void)
{
	const struct vm_pkt *pkt;
	int rc;

	do {
		uint64_t before = pair.side[1].packets;

		one_send(8);
		do {
			side_poll(&pair.side[0]);
			rc = vm_port_look(port, (struct vm_to){ 0, 0 }, 9, 1,
					  &pkt);
		} while (rc != VM_DONE && pair.side[1].packets == before);
	} while (rc != VM_DONE);
}

/* What a process has sent before it ended. */
static void last(const char *provider)
{
	struct vm_fi fi = vm_fi_real;
	struct side *side = &pair.side[1];
	uint64_t before;

	fi.cq_read = last_read;
	pair_open(&pair, 1, &fi);
	port = vm_fabric_port(side->fabric, 0);
	one_send(8);
	POLL_UNTIL(&pair, side->packets == 1);
	settle();
	one_find();
	before = side->packets;
	ok(vm_port_busy(port), "%s: nobody sleeps before it is taken",
	   provider);
	vm_port_look_end(port, false);
	POLL_UNTIL(&pair, side->packets == before + 1);
	dies = true;
	one_send(8);
	while (!side->downs) {
		one_take(true);
		side_poll(&pair.side[0]);
		vm_port_poll(port, true);
	}
	is_int((int)(side->packets - before), 2,
	       "%s: what comes before the end is delivered", provider);
	is_int((int)side->faults, 0, "%s: ... right, and once", provider);
	pair_close(&pair);
}

static void network(const char *provider)
{
	const struct vm_pkt *pkt;
	int taken = 0;

	pair_open(&pair, 1, NULL);
	port = vm_fabric_port(pair.side[1].fabric, 0);
	is_int(vm_port_look(port, (struct vm_to){ 0, 0 }, 9, 1, &pkt),
	       VM_PENDING, "%s: from whom nothing has come nothing is taken",
	       provider);
	one_send(8);
	POLL_UNTIL(&pair, pair.side[1].packets == 1);
	settle();
	is_int(vm_port_look(port, (struct vm_to){ 0, 0 }, 9, 1, &pkt),
	       -VMPI_EAGAIN, "%s: nor when there is nothing", provider);
	one_send(8);
	ok(!one_come(false), "%s: one that is left comes all the same",
	   provider);
	for (int i = 0; i < MANY; i++) {
		one_send((uint32_t)(i * 7 % 1900));
		taken += one_come(i % 16 != 0);
	}
	is_int((int)pair.side[1].faults, 0, "%s: %d come in order, and right",
	       provider, MANY);
	ok(taken > MANY / 2, "%s: %d of them are taken", provider, taken);
	rows(provider);
	settle();
	ok(port->rx_posted == port->rx_target,
	   "%s: where they lay others can come", provider);
	ok(pair_stop(&pair), "%s: the ends say goodbye", provider);
	pair_close(&pair);
}

int main(void)
{
	vm_clock_init();
	set("fabric_credits", "32");
	providers_each(network);
	providers_each(last);
	pair_shm = true;
	pair_open(&pair, 1, NULL);
	port = vm_fabric_port(pair.side[1].fabric, 0);
	if (!vm_near_all(pair.side[0].fabric)) {
		skip(1, "no memory can be shared here");
		return done_testing();
	}
	known();
	left();
	counted();
	many();
	ok(pair_stop(&pair), "the ends say goodbye");
	pair_close(&pair);
	return done_testing();
}
