/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stranger who speaks the provider's language: its packets arrive, and are of
 * another version, another job, cut off, changed or noise.  Each is counted and
 * dropped; traffic between the members goes on, also after some that are longer
 * than any packet, at which a provider may end the stranger's connection.
 */
#include "fabric/ofi/address.h"
#include "fabric/port.h"
#include "fabric/packet/wire.h"
#include "pair.h"

enum { EACH = 40 };

enum kind { SHORT, MAGIC, VERSION, KEY, FLIPPED, NOISE, LONG };

#define KINDS LONG /* that arrive for sure */

struct stranger {
	struct side side;
	struct vm_port *port;
	fi_addr_t to;
	unsigned sent;
};

static void stranger_open(struct stranger *stranger, struct side *victim)
{
	unsigned char address[VM_ADDRESS_MAX];
	int n = vm_fabric_address(victim->fabric, address, sizeof(address));

	memset(stranger, 0, sizeof(*stranger));
	if (n < 0 || side_open(&stranger->side, 0, 1, NULL) < 0)
		bail("no stranger");
	stranger->port = vm_fabric_port(stranger->side.fabric, 0);
	if (stranger->port->fi->av_insert(stranger->port->av,
					  address + sizeof(struct vm_address),
					  &stranger->to) != 1)
		bail("the stranger finds nobody");
}

/* One packet as a member would send it, and what is wrong with it; its
 * length. */
static size_t packet_make(unsigned char *bytes, enum kind kind, unsigned round,
			  size_t most)
{
	struct vm_wire wire = { .magic = VM_WIRE_MAGIC,
				.version = VM_WIRE_VERSION,
				.kind = VM_WIRE_DATA,
				.source = 0,
				.job_key = 0x1234567890abcdef,
				.bytes = 100 };
	size_t length = sizeof(wire) + wire.bytes;

	memset(bytes, 0x5a, most + 500);
	switch (kind) {
	case SHORT:
		length = round * sizeof(wire) / EACH;
		break;
	case MAGIC:
		wire.magic ^= (uint16_t)(1u << round % 16);
		break;
	case VERSION:
		wire.version = (uint8_t)(VM_WIRE_VERSION + 1 + round);
		break;
	case LONG:
		length = most + 1 + round * 10;
		break;
	default: /* a member would know the key */
		wire.job_key = 0x1234567890abcdef ^ UINT64_C(1) << round;
	}
	memcpy(bytes, &wire, sizeof(wire));
	for (int i = 0; kind == FLIPPED && i < 4; i++)
		bytes[16 + rand() % 48] ^= (unsigned char)(1u << rand() % 8);
	for (size_t i = 0; kind == NOISE && i < length; i++)
		bytes[i] = (unsigned char)rand();
	return length;
}

/* Takes what the network has to say to the stranger, whose packets are none of
 * the fabric's. */
static void stranger_look(struct stranger *stranger)
{
	struct vm_port *port = stranger->port;
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry error = { 0 };

	if (port->fi->cq_read(port->cq, &entry, 1) == -FI_EAVAIL)
		port->fi->cq_readerr(port->cq, &error);
}

static void stranger_send(struct stranger *stranger, enum kind kind,
			  unsigned round, struct pair *pair)
{
	struct vm_port *port = stranger->port;
	static unsigned char bytes[(KINDS + 1) * EACH][40000];
	static struct fi_context2 contexts[(KINDS + 1) * EACH];
	unsigned at = kind * EACH + round;
	struct iovec iov = { bytes[at], packet_make(bytes[at], kind, round,
						    port->wire_bytes) };
	void *desc = NULL;

	for (int tries = 0; tries < 1000 || kind != LONG; tries++) {
		if (port->fi->sendv(port->ep, &iov, &desc, 1, stranger->to,
				    &contexts[at]) == 0)
			break;
		stranger_look(stranger);
		pair_poll(pair);
	}
	stranger->sent++;
}

/* All that a port has refused, row by row of the counters. */
static uint64_t rejects(const struct side *side, uint64_t *by_reason)
{
	const struct fabric_port_pvars *pvars =
		vm_port_pvars(vm_fabric_port(side->fabric, 0));
	const uint64_t *first = &pvars->reject_short;
	uint64_t sum = 0;

	for (int i = 0; i < VM_reject_end; i++) {
		by_reason[i] = first[i];
		sum += first[i];
	}
	return sum;
}

/* Members talk while the stranger sends all kinds, or long ones; how many
 * packets they have sent. */
static int storm(struct pair *pair, struct stranger *stranger, bool longer)
{
	static char data[3000];
	unsigned count = longer ? EACH : EACH * KINDS;
	int sent = 0;

	for (unsigned i = 0; i < count; i++) {
		stranger_send(stranger, longer ? LONG : i % KINDS,
			      longer ? i : i / KINDS, pair);
		stranger_look(stranger);
		for (int s = 0; s < 2; s++)
			sent += side_send(&pair->side[s], (uint32_t)!s, 0, 0,
					  data, i * 10, true, NULL) >= 0;
		pair_poll(pair);
	}
	return sent;
}

static int received(const struct pair *pair)
{
	return (int)(pair->side[0].packets + pair->side[1].packets);
}

/* What is known of the members afterwards. */
static void members_judge(const struct pair *pair, int sent,
			  const char *provider)
{
	is_int(received(pair), sent, "%s: what members send arrives", provider);
	is_int((int)(pair->side[0].faults + pair->side[1].faults), 0,
	       "%s: in order and whole", provider);
	is_int((int)(pair->side[0].downs + pair->side[1].downs), 0,
	       "%s: and nobody is given up", provider);
}

static void run(const char *provider)
{
	uint64_t by_reason[VM_reject_end];
	struct stranger stranger;
	struct pair pair;
	int sent;

	pair_open(&pair, 1, NULL);
	stranger_open(&stranger, &pair.side[1]);
	sent = storm(&pair, &stranger, false);
	while (rejects(&pair.side[1], by_reason) < stranger.sent ||
	       received(&pair) < sent) {
		stranger_look(&stranger);
		pair_poll(&pair);
	}
	ok(rejects(&pair.side[1], by_reason) == stranger.sent,
	   "%s: %u packets of a stranger are counted", provider, stranger.sent);
	ok(by_reason[VM_reject_short] >= EACH, "%s: as cut off", provider);
	ok(by_reason[VM_reject_magic] >= EACH, "%s: not of vmpi", provider);
	is_int((int)by_reason[VM_reject_version], EACH, "%s: of other versions",
	       provider);
	ok(by_reason[VM_reject_key] >= EACH, "%s: of other jobs", provider);
	members_judge(&pair, sent, provider);
	sent += storm(&pair, &stranger, true);
	POLL_UNTIL(&pair, received(&pair) == sent);
	members_judge(&pair, sent, "after long ones");
	vm_fabric_close(stranger.side.fabric);
	ok(pair_stop(&pair), "%s: both sides end in order", provider);
	pair_close(&pair);
}

int main(void)
{
	vm_clock_init();
	srand(1);
	providers_each(run);
	return done_testing();
}
