/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several threads send by, poll, and release packets of the same ports, and
 * sleep in between: the packets of each pair of ports stay in order.
 */
#include <pthread.h>

#include "pair.h"

enum { THREADS = 4, COUNT = 3000 };

static struct pair pair;
static pthread_mutex_t sending[2] = { PTHREAD_MUTEX_INITIALIZER,
				      PTHREAD_MUTEX_INITIALIZER };
static _Atomic unsigned reads_ended, reads_failed;
static struct vm_mr regions[2][2];
static unsigned char memory[2][65536];

/* Kept packets wait here for any thread that releases them. */
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;
static struct vm_pkt *kept[64];
static unsigned kept_count;

static void arrived(struct vm_port *port, struct vm_pkt *pkt)
{
	struct vm_pkt *old = NULL;

	side_arrived(port, pkt);
	if (pkt->bytes % 3)
		return;
	pkt = vm_pkt_keep(pkt);
	pthread_mutex_lock(&keeping);
	if (kept_count == 20) {
		old = kept[(unsigned)pkt->bytes % 20];
		kept[(unsigned)pkt->bytes % 20] = pkt;
	} else {
		kept[kept_count++] = pkt;
	}
	pthread_mutex_unlock(&keeping);
	if (old)
		vm_pkt_release(old);
}

static void release_one(void)
{
	struct vm_pkt *pkt = NULL;

	pthread_mutex_lock(&keeping);
	if (kept_count)
		pkt = kept[--kept_count];
	pthread_mutex_unlock(&keeping);
	if (pkt)
		vm_pkt_release(pkt);
}

static void read_done(struct vm_rma *rma, int error)
{
	atomic_fetch_add(&reads_failed, error != 0);
	atomic_fetch_add(&reads_ended, 1);
	free(rma);
}

static void read_some(int s, unsigned random)
{
	struct vm_rma *rma = calloc(1, sizeof(*rma));
	uint32_t to = random & 1;

	rma->done = read_done;
	rma->to = (struct vm_to){ to, random >> 1 & 1 };
	rma->remote = regions[to][random >> 1 & 1].remote;
	rma->bytes = 1;
	rma->local = &memory[s][40000 + random % 20000];
	if (vm_rma_read(vm_fabric_port(pair.side[s].fabric, random >> 2 & 1),
			rma) < 0) {
		atomic_fetch_add(&reads_failed, 1);
		atomic_fetch_add(&reads_ended, 1);
		free(rma);
	}
}

static void idle(struct vm_fabric *fabric)
{
	struct vm_sleep sleep;

	if (vm_fabric_sleep_begin(fabric, &sleep) < 0)
		return;
	vm_fabric_sleep_wait(fabric, &sleep, vm_clock_ns() + 200000);
	vm_fabric_sleep_end(fabric);
}

/* One of the threads of a side. */
static void *worker(void *arg)
{
	int number = (int)(intptr_t)arg, s = number & 1;
	struct side *side = &pair.side[s];
	unsigned random = (unsigned)number * 7919 + 1;
	static __thread char data[9000];
	int sent = 0, reads = 0;

	for (;;) {
		int events = 0;

		random = random * 1103515245 + 12345;
		if (sent < COUNT) {
			unsigned bits = random >> 16;

			pthread_mutex_lock(&sending[s]);
			/* Half of them to ourselves. */
			sent += side_send(side, bits >> 2 & 1, bits & 1,
					  bits >> 1 & 1, data,
					  (bits >> 3) % 50 ? bits % 64 :
							     bits % 9000,
					  false, NULL) >= 0;
			pthread_mutex_unlock(&sending[s]);
		}
		if (reads < COUNT / 10 && random >> 28 == 0) {
			reads++;
			read_some(s, random >> 8);
		}
		for (unsigned p = 0; p < 2; p++) {
			int n = vm_port_poll(vm_fabric_port(side->fabric, p),
					     p == (unsigned)number / 2 % 2);

			events += n > 0 ? n : 0;
		}
		release_one();
		if (!events)
			idle(side->fabric);
		if (pair.side[0].packets + pair.side[1].packets ==
		    THREADS * COUNT)
			break;
	}
	return (void *)(intptr_t)reads;
}

static void run(const char *provider)
{
	pthread_t threads[THREADS];
	unsigned reads = 0, helped = 0;

	kept_count = 0;
	reads_ended = reads_failed = 0;
	pair_open(&pair, 2, NULL);
	for (int s = 0; s < 2; s++)
		for (unsigned p = 0; p < 2; p++)
			vm_mr_open(vm_fabric_port(pair.side[s].fabric, p),
				   &regions[s][p], !s, memory[s], 30000,
				   VM_MR_READ);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++) {
		void *result;

		pthread_join(threads[i], &result);
		reads += (unsigned)(intptr_t)result;
	}
	POLL_UNTIL(&pair, reads_ended == reads);
	is_int((int)(pair.side[0].packets + pair.side[1].packets),
	       THREADS * COUNT, "%s: all packets of %d threads arrive",
	       provider, THREADS);
	is_int((int)(pair.side[0].faults + pair.side[1].faults), 0,
	       "%s: in order, and whole", provider);
	is_int((int)reads_failed, 0, "%s: their %u reads succeed", provider,
	       reads);
	for (int s = 0; s < 2; s++) {
		for (unsigned p = 0; p < 2; p++) {
			vm_mr_close(&regions[s][p]);
			helped += vm_port_pvars(vm_fabric_port(
							pair.side[s].fabric, p))
					  ->events_helped > 0;
		}
	}
	ok(helped > 0, "%s: threads have polled for each other", provider);
	while (kept_count)
		release_one();
	ok(pair_stop(&pair), "%s: both sides end in order", provider);
	pair_close(&pair);
}

int main(void)
{
	vm_clock_init();
	pair_handler = arrived;
	providers_and_shm(run);
	return done_testing();
}
