/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What another thread leaves at a port wakes the one that sleeps already: a
 * packet for which there is no room, or whose end is held back.
 */
#include "fabric/conn.h"
#include "pair.h"

#define LOOK_NS 100000

static struct pair pair;
static struct vm_sleep sleep_;
static char data[10000];
static int ends;

static struct vm_conn *conn_of(unsigned side)
{
	struct vm_port *port = vm_fabric_port(pair.side[side].fabric, 0);

	return &port->contacts[!side]->conns[0];
}

static int one_send(uint32_t bytes, bool control)
{
	return side_send(&pair.side[0], 1, 0, 0, data, bytes, control, NULL);
}

/* A side that has nothing to do begins to sleep. */
static void sleep_begin(unsigned side)
{
	struct vm_fabric *fabric = pair.side[side].fabric;

	do
		while (pair_poll(&pair))
			;
	while (vm_fabric_sleep_begin(fabric, &sleep_) < 0 ||
	       (sleep_.until_ns != UINT64_MAX &&
		(vm_fabric_sleep_end(fabric), true)));
}

/* Whether the sleep, which has no end of its own, would end now. */
static bool is_woken(void)
{
	return vm_fabric_sleep_wait(pair.side[0].fabric, &sleep_,
				    vm_clock_ns() + LOOK_NS);
}

static void sleep_end(unsigned side)
{
	vm_fabric_sleep_end(pair.side[side].fabric);
}

/* Whether a new sleep would be limited, or is not possible. */
static bool is_limited(unsigned side)
{
	int rc = vm_fabric_sleep_begin(pair.side[side].fabric, &sleep_);

	if (rc == 0)
		sleep_end(side);
	return rc < 0 || sleep_.until_ns != UINT64_MAX;
}

static void first_send(void)
{
	uint64_t packets = pair.side[1].packets;

	if (one_send(8, false) != VM_DONE)
		bail("the first packet is refused");
	POLL_UNTIL(&pair, pair.side[1].packets > packets);
}

static void full(void)
{
	uint64_t packets;

	sleep_begin(0);
	while (conn_of(0)->backlogged < 2) {
		if (is_woken() && !conn_of(0)->backlogged)
			bail("a packet that leaves wakes the sleeper");
		if (one_send(8, true) != VM_DONE)
			bail("a packet is refused");
	}
	ok(is_woken(), "a packet that finds no room wakes the sleeper");
	sleep_end(0);
	ok(!is_woken(), "once");
	ok(is_limited(0), "who sleeps now wakes in time to try again");
	packets = pair.side[0].sent[1][0][0];
	POLL_UNTIL(&pair, pair.side[1].packets == packets);
	is_int((int)pair.side[1].faults, 0, "all come, in order");
}

static void left(void)
{
	const bool others[1] = { true };
	uint64_t packets;

	while (vm_fabric_sleep_beside(pair.side[0].fabric, &sleep_, others) < 0)
		pair_poll(&pair);
	while (conn_of(0)->backlogged < 2)
		if (one_send(8, true) != VM_DONE)
			bail("a packet is refused");
	ok(!is_woken(), "but not who leaves its port to others");
	sleep_end(0);
	packets = pair.side[0].sent[1][0][0];
	POLL_UNTIL(&pair, pair.side[1].packets == packets);
	is_int((int)pair.side[1].faults, 0, "they come as well");
}

static void done(struct vm_send_op *op, int error)
{
	(void)op;
	ends += 1 + (error != 0);
}

static void held(void)
{
	struct vm_send_op op = { .done = done };
	uint64_t packets;

	set("fabric_link_bandwidth", "100000");
	sleep_begin(0);
	if (side_send(&pair.side[0], 1, 0, 0, data, sizeof(data), false, &op) !=
	    VM_PENDING)
		bail("a packet is refused");
	ok(is_woken(), "so does one whose end is held back");
	sleep_end(0);
	ok(is_limited(0), "who sleeps now wakes in time for it");
	packets = pair.side[0].sent[1][0][0];
	POLL_UNTIL(&pair, ends && pair.side[1].packets == packets);
	is_int(ends, 1, "and it comes");
	set("fabric_link_bandwidth", "0");
}

int main(void)
{
	vm_clock_init();
	if (!provider_use_any())
		skip_all("libfabric has no provider of TCP");
	pair_shm = true;
	pair_open(&pair, 1, NULL);
	first_send();
	full();
	left();
	held();
	ok(pair_stop(&pair), "it ends in order");
	pair_close(&pair);
	return done_testing();
}
