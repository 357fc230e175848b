/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet pools: sizes, growth, giving back, against a count of our own.
 */
#include "fabric/packet/pkt.h"

#include <stdlib.h>
#include <string.h>

#include "introspect/vars/cvar.h"
#include "tap.h"

#define LARGE 9000
#define MANY 2000

static struct fabric_port_pvars pvars;
static int registered;

static int reg(struct vm_port *port, struct vm_slab *slab, bool open)
{
	(void)port;
	(void)slab;
	registered += open ? 1 : -1;
	return 0;
}

/* The sum of the reported changes; and how often the reported total
 * differed. */
static int64_t reported_bytes;
static int reported_wrong;

static void pool_changed(struct vm_port *port, int64_t bytes, uint64_t total)
{
	(void)port;
	reported_bytes += bytes;
	reported_wrong += bytes == 0 || total != (uint64_t)reported_bytes;
}

static struct vm_packet *get(struct vm_pkts *pkts, size_t bytes)
{
	struct vm_packet *pkt = vm_packet_get(pkts, bytes);

	if (!pkt)
		bail("out of memory");
	pkt->use = VM_PKT_SEND;
	memset(pkt->wire, 0x5a, bytes);
	return pkt;
}

static void sizes(struct vm_pkts *pkts)
{
	struct vm_packet *small = get(pkts, 256), *medium = get(pkts, 257),
			 *large = get(pkts, LARGE);

	is_int((int)pvars.small_used, 1, "256 bytes are small");
	is_int((int)pvars.medium_used, 1, "257 are medium");
	is_int((int)pvars.large_used, 1, "the largest size is large");
	ok(vm_packet_oversized(pkts, large, 100),
	   "100 bytes need no large one");
	ok(!vm_packet_oversized(pkts, medium, 2048), "2048 need a medium one");
	is_int((int)((uintptr_t)small->wire % 64), 0, "the wire is aligned");
	vm_packet_put(pkts, small);
	ok(get(pkts, 1) == small, "what was used last is used next");
	vm_packet_put(pkts, small);
	vm_packet_put(pkts, medium);
	vm_packet_put(pkts, large);
	is_int((int)(pvars.small_used + pvars.medium_used + pvars.large_used),
	       0, "nothing is in use in the end");
}

static void churn(struct vm_pkts *pkts)
{
	static struct vm_packet *held[MANY];
	static size_t bytes[MANY];
	int wrong = 0;
	uint64_t most;

	srand(3);
	for (int i = 0; i < 100000; i++) {
		int at = rand() % MANY;

		if (held[at]) {
			wrong += held[at]->wire[bytes[at] - 1] != 0x5a;
			vm_packet_put(pkts, held[at]);
			held[at] = NULL;
		} else {
			bytes[at] = 1 + (size_t)rand() % LARGE;
			held[at] = get(pkts, bytes[at]);
		}
		if (i % 1000 == 0)
			vm_pkts_shrink(pkts);
	}
	is_int(wrong, 0, "packets do not overlap");
	most = pvars.pool_bytes;
	for (int i = 0; i < MANY; i++)
		if (held[i])
			vm_packet_put(pkts, held[i]);
	vm_pkts_shrink(pkts);
	ok(pvars.pool_bytes < most / 4, "unused slabs are given back");
	ok(pvars.pool_bytes_max >= most, "the high-water mark stays");
	is_int(reported_bytes, (intmax_t)pvars.pool_bytes,
	       "all that was taken and given back was reported");
	is_int((int)(pvars.pool_grows - pvars.pool_shrinks), registered,
	       "each slab was registered once");
	is_int(registered, 3, "one slab of each size is left");
}

/* The settings hold for the next piece, and the next look. */
static void settings(struct vm_pkts *pkts)
{
	struct vm_packet *held[300];
	uint64_t grows = pvars.pool_grows, shrinks = pvars.pool_shrinks;

	vm_cvar_set("fabric_slab_bytes", "4096", VM_SOURCE_RUNTIME);
	vm_cvar_set("fabric_pool_keep", "3", VM_SOURCE_RUNTIME);
	for (int i = 0; i < 300; i++)
		held[i] = get(pkts, LARGE);
	is_int((int)(pvars.pool_grows - grows), (300 - 14 + 7) / 8,
	       "small pieces have eight packets");
	for (int i = 0; i < 300; i++)
		vm_packet_put(pkts, held[i]);
	vm_pkts_shrink(pkts);
	is_int(registered, 5, "of the large ones three are left");
	ok(pvars.pool_shrinks > shrinks, "the others were given back");
	vm_cvar_set("fabric_pool_keep", "0", VM_SOURCE_RUNTIME);
	vm_pkts_shrink(pkts);
	is_int(registered, 0, "nothing need be kept");
}

int main(void)
{
	struct vm_pkts pkts;

	vm_fabric_vars_add();
	vm_pkts_init(&pkts, NULL, &pvars, LARGE, reg, pool_changed);
	sizes(&pkts);
	churn(&pkts);
	settings(&pkts);
	vm_pkts_fini(&pkts);
	is_int(registered, 0, "none are left when the pool ends");
	is_int((int)pvars.pool_bytes, 0, "nor any memory");
	ok(reported_bytes == 0 && reported_wrong == 0,
	   "which was reported, with its sum");
	return done_testing();
}
