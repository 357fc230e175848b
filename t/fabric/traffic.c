/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of all sizes between two fabrics of one process, over each provider
 * of TCP: order, content, by copy and by reference, to ourselves.
 */
#include "pair.h"

static unsigned done_ok, done_failed;

static void send_done(struct vm_send_op *op, int error)
{
	(void)op;
	if (error)
		done_failed++;
	else
		done_ok++;
}

/* Sends a packet, polling as long as there are no credits. */
static int send_surely(struct pair *pair, int from, uint32_t to, unsigned port,
		       void *data, uint32_t bytes, struct vm_send_op *op)
{
	for (;;) {
		int rc = side_send(&pair->side[from], to, port, port, data,
				   bytes, false, op);

		if (rc != -VMPI_EAGAIN && rc != -VMPI_ELIMIT)
			return rc;
		if (!pair_poll(pair))
			usleep(20);
	}
}

static void small(struct pair *pair, const char *name)
{
	enum { COUNT = 5000 };
	static char data[64];
	int refused = 0;

	for (int i = 0; i < COUNT; i++)
		for (int s = 0; s < 2; s++)
			refused += send_surely(pair, s, !s, 0, data,
					       (uint32_t)(i % 64), NULL) < 0;
	POLL_UNTIL(pair,
		   pair->side[0].packets + pair->side[1].packets == 2 * COUNT);
	is_int(refused, 0, "%s: small packets are taken", name);
	is_int(pair->side[0].faults + pair->side[1].faults, 0,
	       "%s: small packets arrive whole and in order", name);
}

/* Sizes around every limit, to several ports. */
static void sizes(struct pair *pair, const char *name)
{
	uint32_t most = vm_fabric_limits(pair->side[0].fabric)->packet_bytes;
	const uint32_t list[] = { 0,	1,    7,	8,    63,   64,	  65,
				  127,	128,  183,	184,  185,  191,  192,
				  193,	1975, 1976,	1977, 2048, 4095, 4096,
				  4097, 8191, most - 1, most };
	enum { SIZES = sizeof(list) / sizeof(list[0]) };
	static char data[SIZES][PAIR_PORTS][33000];
	static struct vm_send_op ops[SIZES][PAIR_PORTS];
	uint64_t before = pair->side[1].packets;
	unsigned referred = 0, refused = 0;

	done_ok = done_failed = 0;
	/* What goes in a batch is copied into it. */
	set("fabric_gather", "0");
	for (unsigned i = 0; i < SIZES; i++) {
		for (unsigned p = 0; p < pair->ports; p++) {
			int rc;

			ops[i][p].done = send_done;
			rc = send_surely(pair, 0, 1, p, data[i][p], list[i],
					 &ops[i][p]);
			referred += rc == VM_PENDING;
			refused += rc < 0;
		}
	}
	POLL_UNTIL(pair,
		   pair->side[1].packets - before == SIZES * pair->ports &&
			   done_ok + done_failed == referred);
	set("fabric_gather", "4");
	is_int(refused, 0, "%s: packets of all sizes are taken", name);
	is_int(pair->side[1].faults, 0, "%s: and arrive whole, in order", name);
	if (pair_shm)
		is_int(referred, 0, "%s: and all are copied at once", name);
	else
		is_int(referred, 4 * pair->ports,
		       "%s: those beyond fabric_copy_limit go by reference",
		       name);
	is_int(done_failed, 0, "%s: and their end is told", name);
}

/* Longer ones go in several packets, as long as there are credits. */
static void parts(struct pair *pair, const char *name)
{
	uint32_t most = vm_fabric_limits(pair->side[0].fabric)->packet_bytes;
	const uint32_t list[] = { most + 1,	most * 2, most * 2 + 1,
				  most * 3 - 1, most * 4, 7,
				  most * 5 + 7, most * 3, most };
	enum { SIZES = sizeof(list) / sizeof(list[0]) };
	static char data[32768 * 6];
	uint64_t before = pair->side[1].packets;
	uint64_t packets =
		vm_port_pvars(vm_fabric_port(pair->side[0].fabric, 0))->sent;
	unsigned refused = 0;
	struct vm_to to = { pair->side[1].process, 0 };

	for (unsigned i = 0; i < SIZES; i++) {
		/* Each waits until the one before has given its credits
		 * back. */
		POLL_UNTIL(
			pair,
			pair->side[1].packets - before == i &&
				vm_port_credits(
					vm_fabric_port(pair->side[0].fabric, 0),
					to) >= 6);
		refused += send_surely(pair, 0, 1, 0, data, list[i], NULL) < 0;
	}
	POLL_UNTIL(pair, pair->side[1].packets - before == SIZES);
	is_int(refused, 0, "%s: payloads longer than a packet are taken", name);
	is_int(pair->side[1].faults, 0, "%s: and arrive as one, whole", name);
	packets = vm_port_pvars(vm_fabric_port(pair->side[0].fabric, 0))->sent -
		  packets;
	ok(packets >= 2 + 2 + 3 + 3 + 4 + 1 + 6 + 3 + 1,
	   "%s: each in as many packets as it takes", name);
}

static void loop(struct pair *pair, const char *name)
{
	enum { COUNT = 200 };
	struct side *side = &pair->side[0];
	uint64_t before = side->packets;
	static char data[32768];

	for (uint32_t i = 0; i < COUNT; i++)
		send_surely(pair, 0, 0, i % pair->ports, data, i * 80, NULL);
	POLL_UNTIL(pair, side->packets - before == COUNT);
	is_int(side->faults, 0, "%s: packets to ourselves arrive", name);
}

static void run(const char *provider)
{
	struct pair pair;

	pair_open(&pair, 2, NULL);
	if (!pair_shm)
		is_string(vm_fabric_limits(pair.side[0].fabric)->provider,
			  provider, "%s is opened", provider);
	small(&pair, provider);
	sizes(&pair, provider);
	parts(&pair, provider);
	loop(&pair, provider);
	ok(pair_stop(&pair), "%s: both sides end in order", provider);
	is_int((int)pair.side[0].downs, 2, "%s: each port is told so",
	       provider);
	is_int(pair.side[0].down_error, 0, "%s: as no error", provider);
	pair_close(&pair);
}

int main(void)
{
	vm_clock_init();
	providers_and_shm(run);
	return done_testing();
}
