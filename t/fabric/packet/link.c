/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link model's arithmetic, and the heap against sorting.
 */
#include "fabric/packet/link.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define MANY 5000

static void arithmetic(void)
{
	struct vm_link link = { 0 };
	uint64_t left;

	ok(!vm_link_active(), "the model is off unless it is asked for");
	fabric_cvar.link_latency_ns = 1000;
	ok(vm_link_active(), "a latency switches it on");
	is_int((int)vm_link_send(&link, &left, 5000, 1 << 20), 6000,
	       "a latency alone delays, whatever the size");
	is_int((int)left, 5000, "and occupies nobody");
	fabric_cvar.link_bandwidth = 1000000000; /* a byte per ns */
	is_int((int)vm_link_send(&link, &left, 5000, 300), 6300,
	       "bandwidth adds to it");
	is_int((int)left, 5300, "the link is busy meanwhile");
	is_int((int)vm_link_send(&link, NULL, 5100, 100), 6400,
	       "the next message waits for the link");
	is_int((int)vm_link_rma(&link, VM_LINK_READ, 5100, 100), 7200,
	       "the other direction is free: a read asks, then comes");
	is_int((int)vm_link_rma(&link, VM_LINK_WRITE, 5100, 100), 7500,
	       "a write waits for the link and is confirmed");
	is_int((int)vm_link_rma(&link, VM_LINK_PUT, 5100, 100), 5600,
	       "a put is done when it has left");
	fabric_cvar.link_message_ns = 50;
	is_int((int)vm_link_send(&link, NULL, 9000, 100), 10150,
	       "each message costs");
	is_int((int)vm_link_send(&link, NULL, 20000, 0), 21050,
	       "an idle link begins at once");
}

struct thing {
	struct vm_due due;
	uint64_t when;
	int number;
};

static int by_time(const void *a, const void *b)
{
	const struct thing *x = *(const struct thing *const *)a;
	const struct thing *y = *(const struct thing *const *)b;

	if (x->when != y->when)
		return x->when < y->when ? -1 : 1;
	return x->number - y->number;
}

static void heap(void)
{
	static struct thing things[MANY];
	static struct thing *order[MANY];
	struct vm_due_heap due = { 0 };
	int wrong = 0, early = 0;

	srand(7);
	for (int i = 0; i < MANY; i++) {
		things[i].number = i;
		things[i].when = 1 + (uint64_t)(rand() % 300);
		order[i] = &things[i];
		vm_due_put(&due, &things[i].due, things[i].when);
	}
	qsort(order, MANY, sizeof(order[0]), by_time);
	early = vm_due_take(&due, order[0]->when - 1) != NULL;
	for (int i = 0; i < MANY; i++)
		wrong += vm_due_take(&due, order[i]->when) != &order[i]->due;
	is_int(early, 0, "nothing comes before its time");
	is_int(wrong, 0, "by time, and by age at the same time");
	ok(!vm_due_take(&due, UINT64_MAX), "then nothing is left");
}

int main(void)
{
	char text[100];

	heap();
	ok(!vm_link_on(text, sizeof(text)), "there is nothing to say");
	arithmetic();
	ok(vm_link_on(text, sizeof(text)), "there is now");
	is_string(text, "latency 1 us, 0.05 us a message, 1000 MB/s",
		  "in words");
	return done_testing();
}
