/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link model in the fabric: nothing arrives or ends before its time, order
 * stays, to others and to ourselves, and waiting for it is sleeping.
 */
#include "pair.h"

#define LATENCY_NS 20000000u

static uint64_t ended_ns;

static void send_done(struct vm_send_op *op, int error)
{
	(void)op;
	ended_ns = error ? 1 : vm_clock_ns();
}

static void rma_done(struct vm_rma *rma, int error)
{
	(void)rma;
	ended_ns = error ? 1 : vm_clock_ns();
}

static void side_sleep(struct side *side)
{
	struct vm_sleep sleep;

	if (vm_fabric_sleep_begin(side->fabric, &sleep) < 0)
		return;
	vm_fabric_sleep_wait(side->fabric, &sleep, UINT64_MAX);
	vm_fabric_sleep_end(side->fabric);
}

/* A packet: it is there, but hidden. */
static void latency(struct pair *pair, uint32_t to, const char *name)
{
	struct side *side = &pair->side[to];
	static char data[64];
	uint64_t packets = side->packets, start = vm_clock_ns();
	unsigned rounds = 0;

	for (int i = 0; i < 3; i++)
		side_send(&pair->side[0], to, 0, 0, data, (uint32_t)i * 20,
			  false, NULL);
	while (side->packets < packets + 3) {
		pair_poll(pair);
		/* After a while it lies there. */
		if (vm_clock_ns() - start > LATENCY_NS / 4 &&
		    side->packets < packets + 3) {
			side_sleep(side);
			rounds++;
		}
	}
	ok(side->last_ns - start >= LATENCY_NS,
	   "%s: no packet comes before the latency is over", name);
	ok(rounds < 50, "%s: waiting for it is sleeping (%u rounds)", name,
	   rounds);
	is_int((int)side->faults, 0, "%s: in order", name);
}

/* Faster from now on: what was sent before still comes first. */
static void faster(struct pair *pair, uint32_t to, const char *name)
{
	struct side *side = &pair->side[to];
	uint64_t packets = side->packets;
	static char data[64];

	side_send(&pair->side[0], to, 0, 0, data, 10, false, NULL);
	set("fabric_link_latency_ns", "0");
	side_send(&pair->side[0], to, 0, 0, data, 10, false, NULL);
	POLL_UNTIL(pair, side->packets == packets + 2);
	is_int((int)side->faults, 0,
	       "%s: order stays when the model is switched off", name);
	set("fabric_link_latency_ns", "20000000");
}

static void remote(struct pair *pair, uint32_t to, bool write, const char *name)
{
	static char source[100000], target[100000];
	struct vm_rma rma = { .done = rma_done,
			      .to = { to, 0 },
			      .local = source,
			      .bytes = sizeof(source) };
	uint64_t start = vm_clock_ns();
	struct vm_mr mr;

	vm_mr_open(vm_fabric_port(pair->side[to].fabric, 0), &mr, 0, target,
		   sizeof(target), write ? VM_MR_WRITE : VM_MR_READ);
	rma.remote = mr.remote;
	ended_ns = 0;
	(write ? vm_rma_write :
		 vm_rma_read)(vm_fabric_port(pair->side[0].fabric, 0), &rma);
	POLL_UNTIL(pair, ended_ns);
	vm_mr_close(&mr);
	/* 100 KB at 10 MB/s are 10 ms. */
	ok(ended_ns - start >= 2 * LATENCY_NS + 10000000,
	   "%s: a remote %s takes two latencies and its bytes", name,
	   write ? "write" : "read");
}

static unsigned told;

static void tell(struct vm_rma *rma)
{
	(void)rma;
	told++;
}

/* Who is called when the data are there does not wait for a confirmation. */
static void confirmed(struct pair *pair, const char *name)
{
	static char source[1000], target[1000];
	struct vm_rma rma = { .done = rma_done,
			      .to = { 1, 0 },
			      .local = source,
			      .bytes = sizeof(source),
			      .there = tell };
	uint64_t left;
	struct vm_mr mr;

	vm_mr_open(vm_fabric_port(pair->side[1].fabric, 0), &mr, 0, target,
		   sizeof(target), VM_MR_WRITE);
	rma.remote = mr.remote;
	told = 0;
	ended_ns = 0;
	vm_rma_write(vm_fabric_port(pair->side[0].fabric, 0), &rma);
	left = atomic_load(&pair->side[0].fabric->peers[1].link.out_free);
	ok(rma.due == (told ? left : left + 2 * LATENCY_NS), "%s: a write %s",
	   name,
	   told ? "that has told is done when it has left" : "is confirmed");
	POLL_UNTIL(pair, ended_ns);
	is_int((int)told, pair_shm, "%s: %s", name,
	       pair_shm ? "its data were there at once" : "nothing is told");
	vm_mr_close(&mr);
}

static void bandwidth(struct pair *pair, const char *name)
{
	static char data[16000];
	struct vm_send_op op = { .done = send_done };
	uint64_t start = vm_clock_ns(), packets = pair->side[1].packets;

	ended_ns = 0;
	is_int(side_send(&pair->side[0], 1, 0, 0, data, sizeof(data), true,
			 &op),
	       VM_PENDING, "%s: a long packet goes by reference", name);
	POLL_UNTIL(pair, ended_ns);
	ok(ended_ns - start >= 1600000,
	   "%s: its memory is free when its last byte has left", name);
	POLL_UNTIL(pair, pair->side[1].packets > packets);
	ok(pair->side[1].last_ns - start >= LATENCY_NS + 1600000,
	   "%s: it arrives a latency later", name);
}

static void run(const char *provider)
{
	struct pair pair;

	static char data[10];

	pair_open(&pair, 1, NULL);
	side_send(&pair.side[0], 1, 0, 0, data, 10, true, NULL);
	POLL_UNTIL(&pair, pair.side[1].packets == 1);
	set("fabric_link_latency_ns", "20000000");
	latency(&pair, 1, provider);
	latency(&pair, 0, "to ourselves");
	faster(&pair, 1, provider);
	faster(&pair, 0, "to ourselves");
	set("fabric_link_bandwidth", "10000000");
	bandwidth(&pair, provider);
	remote(&pair, 1, false, provider);
	remote(&pair, 1, true, provider);
	confirmed(&pair, provider);
	remote(&pair, 0, false, "to ourselves");
	remote(&pair, 0, true, "to ourselves");
	set("fabric_link_latency_ns", "0");
	set("fabric_link_bandwidth", "0");
	ok(pair_stop(&pair), "%s: both sides end in order", provider);
	pair_close(&pair);
}

/* One process: no provider, only the loop. */
static void alone(void)
{
	struct vm_fabric_config config = { .processes = 1,
					   .ports = 2,
					   .arrived = pair_handlers(),
					   .down = side_down };
	static struct side side;
	static char data[100];
	uint64_t start;

	config.arg = &side;
	is_int(vm_fabric_open(&side.fabric, &config), 0,
	       "one process needs no provider");
	is_string(vm_fabric_limits(side.fabric)->provider, "loop",
		  "it has the loop");
	set("fabric_link_latency_ns", "20000000");
	start = vm_clock_ns();
	side_send(&side, 0, 0, 1, data, 100, false, NULL);
	while (side.packets == 0) {
		side_poll(&side);
		side_sleep(&side);
		side_poll(&side);
	}
	ok(side.last_ns - start >= LATENCY_NS, "with the link model too");
	is_int((int)side.faults, 0, "packets arrive");
	is_int(vm_fabric_stop(side.fabric, 1000000000), 0, "it ends");
	vm_fabric_close(side.fabric);
	set("fabric_link_latency_ns", "0");
}

int main(void)
{
	vm_clock_init();
	set("fabric_provider", "");
	alone();
	providers_and_shm(run);
	return done_testing();
}
