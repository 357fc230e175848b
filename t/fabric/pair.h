/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two fabrics that talk to each other inside of a test program.
 *
 * Each side counts what it gets and checks that packets from one port to
 * another come in order: the first 8 bytes of the upper header are a number
 * that the sender counts up.  Payload is a pattern of that number.
 */
#ifndef T_FABRIC_PAIR_H
#define T_FABRIC_PAIR_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "fabric/end/sleep.h"
#include "fabric/end/stop.h"
#include "fabric/fabric.h"
#include "fabric/ofi/fi.h"
#include "fabric/port.h"
#include "fabric/state.h"
#include "fabric/packet/vars.h"
#include "introspect/vars/cvar.h"
#include "pattern.h"
#include "tap.h"

#define PAIR_PORTS 4
#define PAIR_PROCESSES 3
#define KEPT_MAX 4096

struct side {
	struct vm_fabric *fabric;
	uint32_t process;
	uint64_t sent[PAIR_PROCESSES][PAIR_PORTS]
		     [PAIR_PORTS]; /* to, from, at */
	uint64_t got[PAIR_PROCESSES][PAIR_PORTS]
		    [PAIR_PORTS]; /* from, from, at */
	_Atomic uint64_t packets;
	_Atomic unsigned faults; /* wrong order or content */
	_Atomic unsigned downs;
	int down_error;
	bool keep; /* keep data instead of using it up */
	struct vm_pkt *kept[KEPT_MAX];
	_Atomic unsigned kept_count;
	_Atomic uint64_t last_ns; /* when the last packet came */
	void (*noticed)(struct side *side, uint32_t notice); /* or NULL */
};

struct pair {
	struct side side[2];
	unsigned ports;
};

static inline void side_arrived(struct vm_port *port, struct vm_pkt *pkt)
{
	struct side *side = port->fabric->config.arg;
	unsigned at = vm_port_index(port);
	uint64_t number;

	memcpy(&number, pkt->upper, sizeof(number));
	if (number != side->got[pkt->process][pkt->port][at]++ ||
	    pkt->kind != (uint8_t)(number % 251) ||
	    !pattern_fits(pkt->data, number, pkt->bytes))
		atomic_fetch_add(&side->faults, 1);
	side->last_ns = vm_clock_ns();
	if (side->keep && side->kept_count < KEPT_MAX) {
		struct vm_pkt *kept = vm_pkt_keep(pkt);

		if (!pattern_fits(kept->data, number, kept->bytes))
			atomic_fetch_add(&side->faults, 1);
		side->kept[atomic_fetch_add(&side->kept_count, 1)] = kept;
	}
	atomic_fetch_add(&side->packets, 1);
}

static inline void side_down(void *arg, struct vm_port *port, uint32_t process,
			     int error)
{
	struct side *side = arg;

	(void)port;
	(void)process;
	side->downs++;
	side->down_error = error;
}

static inline void side_noticed(void *arg, struct vm_port *port,
				uint32_t notice)
{
	struct side *side = arg;

	(void)port;
	if (side->noticed)
		side->noticed(side, notice);
}

/* The function that takes arrivals, for tests that want their own. */
static vm_pkt_handler *pair_handler = side_arrived;

/* The handlers of all kinds. */
static inline vm_pkt_handler *const *pair_handlers(void)
{
	static vm_pkt_handler *handlers[VM_PKT_KINDS];

	for (int i = 0; i < VM_PKT_KINDS; i++)
		handlers[i] = pair_handler;
	return handlers;
}

/* Whether the sides share memory; else the network is tested. */
static bool pair_shm;

/* What takes cards, where they share cores; or NULL. */
static bool (*pair_card)(void *arg, const struct vm_card *card, bool must);

static inline int side_open_of(struct side *side, uint32_t process,
			       uint32_t processes, unsigned ports,
			       const struct vm_fi *fi)
{
	struct vm_fabric_config config = { .process = process,
					   .processes = processes,
					   .ports = ports,
					   .job_key = 0x1234567890abcdef,
					   .one_host = true,
					   .crowded = pair_card,
					   .arrived = pair_handlers(),
					   .card = pair_card,
					   .down = side_down,
					   .noticed = side_noticed,
					   .arg = side,
					   .fi = fi };

	memset(side, 0, sizeof(*side));
	side->process = process;
	fabric_cvar.shm = pair_shm;
	return vm_fabric_open(&side->fabric, &config);
}

static inline int side_open(struct side *side, uint32_t process, unsigned ports,
			    const struct vm_fi *fi)
{
	return side_open_of(side, process, 2, ports, fi);
}

/* Both sides know each other afterwards; bails out otherwise. */
static inline void pair_open(struct pair *pair, unsigned ports,
			     const struct vm_fi *fi)
{
	unsigned char address[VM_ADDRESS_MAX];

	pair->ports = ports;
	for (uint32_t i = 0; i < 2; i++)
		if (side_open(&pair->side[i], i, ports, fi) < 0)
			bail("cannot open a fabric");
	for (uint32_t i = 0; i < 2; i++) {
		int n = vm_fabric_address(pair->side[i].fabric, address,
					  sizeof(address));

		if (n < 0 || vm_fabric_connect(pair->side[!i].fabric, i,
					       address, (size_t)n) < 0)
			bail("cannot connect two fabrics");
	}
}

static inline int side_poll(struct side *side)
{
	int events = 0;

	for (unsigned i = 0; i < vm_fabric_limits(side->fabric)->ports; i++) {
		int n = vm_port_poll(vm_fabric_port(side->fabric, i), true);

		events += n > 0 ? n : 0;
	}
	return events;
}

static inline int pair_poll(struct pair *pair)
{
	return side_poll(&pair->side[0]) + side_poll(&pair->side[1]);
}

/* Ends both sides in the orderly way: each needs the other one to do so. */
static inline bool pair_stop(struct pair *pair)
{
	bool ended[2] = { false, false };

	for (int i = 0; i < 100000 && !(ended[0] && ended[1]); i++)
		for (int s = 0; s < 2; s++)
			if (!ended[s])
				ended[s] = vm_fabric_stop(pair->side[s].fabric,
							  1000000) == 0;
	return ended[0] && ended[1];
}

static inline void pair_close(struct pair *pair)
{
	vm_fabric_close(pair->side[0].fabric);
	vm_fabric_close(pair->side[1].fabric);
}

/* Sends the next packet from one side's port to a port of process `to`. */
static inline int side_send(struct side *side, uint32_t to, unsigned from_port,
			    unsigned to_port, void *data, uint32_t bytes,
			    bool control, struct vm_send_op *op)
{
	uint64_t *next = &side->sent[to][from_port][to_port];
	uint64_t upper[VM_UPPER_BYTES / 8] = { *next };
	struct vm_send send = { .upper = upper,
				.data = data,
				.bytes = bytes,
				.kind = (uint8_t)(*next % 251),
				.control = control };
	int rc;

	pattern_fill(data, *next, bytes);
	rc = vm_port_send(vm_fabric_port(side->fabric, from_port),
			  (struct vm_to){ to, to_port }, &send, op);
	if (rc >= 0)
		++*next;
	return rc;
}

static inline void side_release(struct side *side)
{
	for (unsigned i = 0; i < side->kept_count; i++)
		vm_pkt_release(side->kept[i]);
	side->kept_count = 0;
}

/* Polls until cond holds; the watchdog ends what never does. */
#define POLL_UNTIL(pair, cond)                \
	do {                                  \
		while (!(cond))               \
			if (!pair_poll(pair)) \
				usleep(20);   \
	} while (0)

/* Makes a setting for what is opened next. */
static inline void set(const char *name, const char *value)
{
	vm_fabric_vars_add();
	if (vm_cvar_set(name, value, VM_SOURCE_RUNTIME) < 0)
		bail("cannot set %s", name);
}

/* The providers to be tested: those of TCP that are there. */
static const char *const providers[] = { "net", "tcp", "tcp;ofi_rxm" };
#define PROVIDERS (sizeof(providers) / sizeof(providers[0]))

static inline bool provider_use(const char *provider)
{
	struct fi_info *hints, *info = NULL;
	bool there;

	if (vm_fi_load() < 0)
		return false;
	hints = vm_fi_real.dupinfo(NULL);
	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_MSG | FI_RMA;
	hints->fabric_attr->prov_name = strdup(provider);
	there = vm_fi_real.getinfo("127.0.0.1", FI_SOURCE, hints, &info) == 0 &&
		strcmp(info->fabric_attr->prov_name, provider) == 0;
	if (info)
		vm_fi_real.freeinfo(info);
	vm_fi_real.freeinfo(hints);
	if (there)
		set("fabric_provider", provider);
	return there;
}

/* With each provider that libfabric has. */
/* The first of them that is there: it has another name from libfabric 2 on. */
static inline bool provider_use_any(void)
{
	for (size_t i = 0; i < PROVIDERS; i++)
		if (provider_use(providers[i]))
			return true;
	return false;
}

static inline void providers_each(void (*run)(const char *provider))
{
	for (size_t i = 0; i < PROVIDERS; i++) {
		if (provider_use(providers[i]))
			run(providers[i]);
		else
			skip(1, "libfabric has no such provider: %s",
			     providers[i]);
	}
}

/* And with memory that the two share. */
static inline void providers_and_shm(void (*run)(const char *provider))
{
	providers_each(run);
	if (!provider_use_any()) {
		skip(1, "libfabric has no provider of TCP");
		return;
	}
	pair_shm = true;
	run("shm");
	pair_shm = false;
}

#endif
