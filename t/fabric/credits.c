/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits: a receiver that keeps everything stops the sender of data, never
 * that of control packets; memory stays bounded; pools grow and shrink.
 */
#include "pair.h"

static char data[20000];

/* Sends data until it is refused for good; how many were taken. */
static unsigned flood(struct pair *pair, uint32_t bytes)
{
	unsigned taken = 0;

	for (int refusals = 0; refusals < 2000;) {
		if (side_send(&pair->side[0], 1, 0, 0, data, bytes, false,
			      NULL) >= 0) {
			taken++;
			refusals = 0;
		} else {
			refusals++;
			if (!pair_poll(pair))
				usleep(20);
		}
	}
	return taken;
}

static void stopped(struct pair *pair, const char *name)
{
	struct side *to = &pair->side[1];
	const struct fabric_port_pvars *pvars =
		vm_port_pvars(vm_fabric_port(to->fabric, 0));
	const struct fabric_port_pvars *sender =
		vm_port_pvars(vm_fabric_port(pair->side[0].fabric, 0));
	unsigned taken, again;
	uint64_t before;

	/* The first packet connects the two. */
	side_send(&pair->side[0], 1, 0, 0, data, 1, true, NULL);
	POLL_UNTIL(pair, to->packets == 1);
	before = to->packets;
	to->keep = true;
	taken = flood(pair, 4096);
	is_int(taken, (sender->shm_sent ? 2 : 1) * fabric_cvar.credits,
	       "%s: a receiver that keeps all gets fabric_credits packets, "
	       "twice as many through shared memory",
	       name);
	is_int(to->kept_count, taken, "%s: they are there", name);
	is_int((int)pvars->kept, (int)taken, "%s: and counted", name);
	is_int(vm_port_credits(vm_fabric_port(pair->side[0].fabric, 0),
			       (struct vm_to){ 1, 0 }),
	       0, "%s: the sender has no credit left", name);
	is_int((int)sender->credits_low, 0, "%s: which is the fewest it had",
	       name);
	to->keep = false;
	for (int i = 0; i < 1000; i++)
		side_send(&pair->side[0], 1, 0, 0, data, 100, true, NULL);
	POLL_UNTIL(pair, to->packets - before == taken + 1000);
	is_int(to->faults, 0, "%s: control packets arrive all the same", name);
	side_release(to);
	again = 0;
	for (int i = 0; i < 100000 && again < 1000; i++) {
		if (side_send(&pair->side[0], 1, 0, 0, data, 4096, false,
			      NULL) >= 0)
			again++;
		else
			pair_poll(pair);
	}
	POLL_UNTIL(pair, to->packets - before == taken + 2000);
	is_int(again, 1000, "%s: once released, data flows again", name);
	is_int(to->faults, 0, "%s: nothing was lost", name);
}

/* Half of the credits held forever: the rest still goes round. */
static void held_half(struct pair *pair, const char *name)
{
	struct side *to = &pair->side[1];
	uint64_t before = to->packets;
	unsigned sent = 0;

	to->keep = true;
	while (to->kept_count < (unsigned)fabric_cvar.credits - 3) {
		sent += side_send(&pair->side[0], 1, 0, 0, data, 10, false,
				  NULL) >= 0;
		pair_poll(pair);
	}
	to->keep = false;
	while (sent < 2000) {
		if (side_send(&pair->side[0], 1, 0, 0, data, 10, false, NULL) >=
		    0)
			sent++;
		else
			pair_poll(pair);
	}
	POLL_UNTIL(pair, to->packets - before == sent);
	is_int(to->faults, 0,
	       "%s: with three credits that are not held data still flows",
	       name);
	side_release(to);
}

/* Short payloads that are kept move out of the packets for the longest. */
static void moved(struct pair *pair, const char *name)
{
	struct side *to = &pair->side[1];
	const struct fabric_port_pvars *pvars =
		vm_port_pvars(vm_fabric_port(to->fabric, 0));
	uint64_t large, moves = pvars->kept_moved;

	POLL_UNTIL(pair, pvars->kept == 0);
	large = pvars->large_used;
	to->keep = true;
	while (to->kept_count < 30) {
		side_send(&pair->side[0], 1, 0, 0, data, 20, false, NULL);
		pair_poll(pair);
	}
	is_int((int)(pvars->kept_moved - moves), (int)to->kept_count,
	       "%s: short kept packets are moved", name);
	is_int((int)pvars->large_used, (int)large,
	       "%s: so that no long ones are taken", name);
	to->keep = false;
	side_release(to);
}

/* The link model makes control packets pile up at the sender's side. */
static void shrinks(struct pair *pair, const char *name)
{
	struct vm_port *port = vm_fabric_port(pair->side[0].fabric, 0);
	const struct fabric_port_pvars *pvars = vm_port_pvars(port);
	uint64_t before = pair->side[1].packets, grown;
	struct vm_sleep sleep;

	for (int i = 0; i < 3000; i++)
		side_send(&pair->side[0], 1, 0, 0, data, 1500, true, NULL);
	grown = pvars->pool_bytes;
	POLL_UNTIL(pair, pair->side[1].packets - before == 3000);
	ok(pvars->pool_grows > 3 && grown > 3000 * 1500,
	   "%s: the pool grows with what waits", name);
	while (pvars->pool_bytes >= grown / 2) {
		pair_poll(pair);
		if (vm_fabric_sleep_begin(pair->side[0].fabric, &sleep) == 0)
			vm_fabric_sleep_end(pair->side[0].fabric);
		usleep(1000);
	}
	ok(pvars->pool_shrinks > 0, "%s: and shrinks when idle", name);
	is_int((int)pvars->backlog, 0, "%s: nothing waits any more", name);
}

static void run(const char *provider)
{
	struct pair pair;

	pair_open(&pair, 1, NULL);
	stopped(&pair, provider);
	held_half(&pair, provider);
	moved(&pair, provider);
	shrinks(&pair, provider);
	ok(pair_stop(&pair), "%s: both sides end in order", provider);
	pair_close(&pair);
}

int main(void)
{
	vm_clock_init();
	providers_and_shm(run);
	return done_testing();
}
