/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batches of small packets: the number of messages, their order, and that
 * waiting packets need no poll.
 */
#include "pair.h"

#define CREDITS 64

static const struct fabric_port_pvars *pvars_of(const struct side *side)
{
	return vm_port_pvars(vm_fabric_port(side->fabric, 0));
}

static void data_send(struct pair *pair, uint32_t bytes, bool control)
{
	static char data[20000];
	struct side *side = &pair->side[0];

	while (side_send(side, 1, 0, 0, data, bytes, control, NULL) ==
	       -VMPI_EAGAIN)
		pair_poll(pair);
}

static unsigned credits(struct pair *pair)
{
	return vm_port_credits(vm_fabric_port(pair->side[0].fabric, 0),
			       (struct vm_to){ 1, 0 });
}

/* Both know each other and all credits are here; a row begins. */
static void ready(struct pair *pair)
{
	struct side *side = &pair->side[1];
	uint64_t sent = pair->side[0].sent[1][0][0];

	POLL_UNTIL(pair, side->packets == sent);
	for (int i = 0; credits(pair) < CREDITS - 1; i++) {
		data_send(pair, 8, false);
		sent++;
		POLL_UNTIL(pair, side->packets == sent);
		if (i > 10 * CREDITS)
			bail("credits do not come");
	}
	pair_poll(pair);
}

/* Only the receiver polls until all has come. */
static void receiver_alone(struct pair *pair)
{
	uint64_t sent = pair->side[0].sent[1][0][0];

	while (pair->side[1].packets < sent)
		if (!side_poll(&pair->side[1]))
			usleep(20);
}

static void together(struct pair *pair, const char *name)
{
	uint64_t batches, gathered, received;

	ready(pair);
	batches = pvars_of(&pair->side[0])->batches;
	gathered = pvars_of(&pair->side[0])->gathered;
	received = pvars_of(&pair->side[1])->gathered_received;
	set("fabric_gather_us", "1000000");
	for (uint32_t i = 0; i < 20; i++)
		data_send(pair, i * 9, false);
	is_int((int)(pvars_of(&pair->side[0])->batches - batches), 1,
	       "%s: what comes in a row is one message", name);
	is_int((int)(pvars_of(&pair->side[0])->gathered - gathered), 18,
	       "%s: but for the first two", name);
	ready(pair);
	is_int((int)(pvars_of(&pair->side[1])->gathered_received - received),
	       18, "%s: it comes as such", name);
	is_int((int)pair->side[1].faults, 0, "%s: in order", name);
}

/* The batches that so many packets in a row begin. */
static int row_batches(struct pair *pair, int packets, uint32_t bytes)
{
	const struct fabric_port_pvars *pvars = pvars_of(&pair->side[0]);
	uint64_t before;

	ready(pair);
	before = pvars->batches;
	for (int i = 0; i < packets; i++)
		data_send(pair, bytes, false);
	return (int)(pvars->batches - before);
}

/* A packet that goes alone. */
static uint32_t sizeof_long(const struct pair *pair)
{
	return vm_fabric_limits(pair->side[0].fabric)->batch_bytes + 1;
}

/* Where a message of the network is a system call, longer packets gain, too. */
static void longer(struct pair *pair, const char *name)
{
	const struct vm_fabric_limits *limits =
		vm_fabric_limits(pair->side[0].fabric);

	set("fabric_gather_us", "1000000");
	is_int(row_batches(pair, 7, 3000) > 0, limits->sockets,
	       "%s: packets of 3000 bytes go together through sockets", name);
	is_int(row_batches(pair, 7, sizeof_long(pair)), 0,
	       "%s: the longest go alone", name);
	receiver_alone(pair);
	is_int((int)pair->side[1].faults, 0, "%s: in order", name);
}

static void ends(struct pair *pair, const char *name)
{
	ready(pair);
	for (int i = 0; i < 6; i++)
		data_send(pair, 8, false);
	data_send(pair, 8, true);
	receiver_alone(pair);
	ok(true, "%s: a control packet takes along what waits", name);
	ready(pair);
	for (int i = 0; i < 6; i++)
		data_send(pair, 8, false);
	data_send(pair, sizeof_long(pair), false);
	receiver_alone(pair);
	ok(true, "%s: so does a long one", name);
	ready(pair);
	set("fabric_gather_us", "2000");
	for (int i = 0; i < 6; i++)
		data_send(pair, 8, false);
	receiver_alone(pair);
	ok(true, "%s: what is late goes although the sender does not poll",
	   name);
	is_int((int)pair->side[1].faults, 0, "%s: in order", name);
}

static void many(struct pair *pair, const char *name)
{
	set("fabric_gather_us", "1000000");
	ok(row_batches(pair, 50, 900) >= 1,
	   "%s: a full message does not wait for the next", name);
	set("fabric_gather", "0");
	is_int(row_batches(pair, 20, 8), 0,
	       "%s: fabric_gather 0: nothing waits", name);
	receiver_alone(pair);
	set("fabric_gather", "2");
	is_int((int)pair->side[1].faults, 0, "%s: in order", name);
}

static void kept(struct pair *pair, const char *name)
{
	struct side *side = &pair->side[1];

	ready(pair);
	side->keep = true;
	for (uint32_t i = 0; i < 40; i++)
		data_send(pair, i, false);
	while (side->kept_count < 40)
		pair_poll(pair);
	side->keep = false;
	ok(credits(pair) <= CREDITS - 40,
	   "%s: each one that is kept holds a credit", name);
	side_release(side);
	ready(pair);
	ok(true, "%s: and gives it back", name);
	is_int((int)pair->side[1].faults, 0, "%s: in order", name);
}

static void run(const char *provider)
{
	struct pair pair;

	set("fabric_gather", "2");
	pair_open(&pair, 1, NULL);
	data_send(&pair, 8, true);
	together(&pair, provider);
	longer(&pair, provider);
	ends(&pair, provider);
	many(&pair, provider);
	kept(&pair, provider);
	set("fabric_gather_us", "1000000");
	for (int i = 0; i < 10; i++)
		data_send(&pair, 8, false);
	ok(pair_stop(&pair), "%s: the end waits for what waits", provider);
	is_int((int)pair.side[1].packets, (int)pair.side[0].sent[1][0][0],
	       "%s: nothing is lost", provider);
	pair_close(&pair);
}

int main(void)
{
	vm_clock_init();
	for (size_t i = 0; i < PROVIDERS; i++)
		if (provider_use(providers[i]))
			run(providers[i]);
	return done_testing();
}
