/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote reads and writes of 0 to 8 MiB, several at a time, over each provider
 * of TCP and to ourselves.
 */
#include "pair.h"

#define BYTES_MAX (8u << 20)
#define OPS 8

static int ended, failed;

static void rma_done(struct vm_rma *rma, int error)
{
	(void)rma;
	ended++;
	failed += error != 0;
}

/* One operation of each size; whether the bytes and only those have moved. */
static bool moved(struct pair *pair, bool write, uint32_t owner, size_t bytes,
		  unsigned char *local, unsigned char *remote)
{
	struct vm_port *port = vm_fabric_port(pair->side[0].fabric, 0);
	struct vm_port *there = vm_fabric_port(pair->side[owner].fabric, 1);
	struct vm_rma rma = { .done = rma_done,
			      .to = { owner, 1 },
			      .local = local,
			      .bytes = bytes };
	unsigned char *from = write ? local : remote,
		      *to = write ? remote : local;
	struct vm_mr mr;

	pattern_fill(from, bytes, bytes + 1);
	memset(to, 0xee, bytes + 1);
	ended = failed = 0;
	if (vm_mr_open(there, &mr, 0, remote, bytes,
		       write ? VM_MR_WRITE : VM_MR_READ) < 0)
		return false;
	rma.remote = mr.remote;
	if ((write ? vm_rma_write : vm_rma_read)(port, &rma) < 0)
		return false;
	POLL_UNTIL(pair, ended == 1);
	vm_mr_close(&mr);
	return failed == 0 && pattern_fits(to, bytes, bytes) &&
	       to[bytes] == 0xee;
}

static void sizes(struct pair *pair, const char *name, unsigned char *local,
		  unsigned char *remote)
{
	static const size_t list[] = { 1,	  8,	   4096,    65537,
				       1048575,	  1048576, 1048577, 3000001,
				       BYTES_MAX, 0 };
	int wrong[4] = { 0 };

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		for (int k = 0; k < 4; k++)
			wrong[k] += !moved(pair, k & 1, k < 2, list[i], local,
					   remote);
	is_int(wrong[0], 0, "%s: remote reads of all sizes", name);
	is_int(wrong[1], 0, "%s: remote writes of all sizes", name);
	is_int(wrong[2], 0, "%s: reads of our own memory", name);
	is_int(wrong[3], 0, "%s: writes to our own memory", name);
}

/* Several operations at a time, both ways, packets between them. */
static void many(struct pair *pair, const char *name, unsigned char *local,
		 unsigned char *remote)
{
	size_t each = BYTES_MAX / OPS - 1;
	struct vm_rma rma[2][OPS];
	struct vm_mr mr[2];
	int wrong = 0;

	pattern_fill(local, 1, BYTES_MAX / 2);
	pattern_fill(remote, 2, BYTES_MAX / 2);
	ended = failed = 0;
	/* Side 0 reads the first half of `remote`, side 1 that of `local`; each
	 * into its second half. */
	for (int s = 0; s < 2; s++)
		wrong += vm_mr_open(vm_fabric_port(pair->side[s].fabric, 0),
				    &mr[s], !s, s ? remote : local,
				    BYTES_MAX / 2, VM_MR_READ) < 0;
	each /= 2;
	for (int i = 0; i < OPS; i++) {
		for (int s = 0; s < 2; s++) {
			struct vm_rma *r = &rma[s][i];
			static char data[100];

			*r = (struct vm_rma){
				.done = rma_done,
				.to = { !s, 0 },
				.remote = mr[!s].remote,
				.local = (s ? remote : local) + BYTES_MAX / 2 +
					 (size_t)i * each,
				.bytes = each,
			};
			r->remote.address += (size_t)i * each;
			wrong += vm_rma_read(vm_fabric_port(
						     pair->side[s].fabric, 0),
					     r) < 0;
			side_send(&pair->side[s], !s, 0, 0, data, sizeof(data),
				  true, NULL);
		}
	}
	POLL_UNTIL(pair, ended == 2 * OPS);
	for (int s = 0; s < 2; s++)
		vm_mr_close(&mr[s]);
	wrong += failed;
	wrong += memcmp(local + BYTES_MAX / 2, remote, OPS * each) != 0;
	wrong += memcmp(remote + BYTES_MAX / 2, local, OPS * each) != 0;
	is_int(wrong, 0, "%s: many reads both ways, with packets between them",
	       name);
	is_int(pair->side[0].faults + pair->side[1].faults, 0,
	       "%s: and those packets arrive in order", name);
}

/* What the writes of a test have told, or sent once their data were there. */
static struct {
	const unsigned char *data; /* that the write brings */
	size_t bytes;
	uint32_t notice;
	unsigned told, wrong, there;
} news;

static void tell(struct side *side, uint32_t notice)
{
	(void)side;
	news.told++;
	news.wrong += notice != news.notice ||
		      !pattern_fits(news.data, notice, news.bytes);
}

static void there(struct vm_rma *rma)
{
	news.there++;
	news.wrong += !pattern_fits(news.data, rma->notice, rma->bytes);
}

/* A write tells of its end there: once, and not before all of it is there. */
static void notices(struct pair *pair, const char *name, unsigned char *local,
		    unsigned char *remote)
{
	static const size_t sizes[] = { 1, 4096, 1048577, BYTES_MAX };
	struct vm_fabric *fabric = pair->side[0].fabric;
	bool tells = vm_fabric_notices(fabric, 1);
	const struct fabric_port_pvars *pvars =
		vm_port_pvars(vm_fabric_port(pair->side[1].fabric, 1));
	unsigned count = 0;
	struct vm_mr mr;

	memset(&news, 0, sizeof(news));
	news.data = remote;
	ended = failed = 0;
	pair->side[1].noticed = tell;
	for (uint32_t i = 0; i < 4 * sizeof(sizes) / sizeof(*sizes); i++) {
		struct vm_rma rma = { .done = rma_done,
				      .to = { 1, 1 },
				      .local = local,
				      .bytes = sizes[i % 4],
				      .notice = 0xabcd00 + i,
				      .there = there };

		pattern_fill(local, rma.notice, rma.bytes);
		news.bytes = rma.bytes;
		news.notice = rma.notice;
		if (vm_mr_open(vm_fabric_port(pair->side[1].fabric, 1), &mr, 0,
			       remote, rma.bytes, VM_MR_WRITE) < 0)
			bail("cannot register memory");
		rma.remote = mr.remote;
		count++;
		failed += vm_rma_write(vm_fabric_port(fabric, 0), &rma) < 0;
		POLL_UNTIL(pair, ended == (int)count &&
					 news.told == (tells ? count : 0));
		vm_mr_close(&mr);
	}
	is_int((int)news.there, pair_shm ? (int)count : 0,
	       "%s: writes into shared memory are there at once", name);
	is_int((int)pvars->notices, tells ? (int)count : 0,
	       "%s: others tell there of their end", name);
	is_int((int)news.wrong + failed, 0, "%s: when all is there", name);
	ok(tells != pair_shm, "%s: one of these ways there is", name);
	pair->side[1].noticed = NULL;
}

static void refusals(struct pair *pair, const char *name, unsigned char *local,
		     unsigned char *remote)
{
	struct vm_port *port = vm_fabric_port(pair->side[0].fabric, 0);
	struct vm_rma rma = {
		.done = rma_done, .to = { 0, 1 }, .local = local, .bytes = 100
	};
	struct vm_mr mr;

	vm_mr_open(vm_fabric_port(pair->side[0].fabric, 1), &mr, 0, remote, 64,
		   VM_MR_READ);
	rma.remote = mr.remote;
	ended = failed = 0;
	vm_rma_read(port, &rma);
	POLL_UNTIL(pair, ended == 1);
	is_int(failed, 1, "%s: a read beyond the region fails", name);
	rma.bytes = 10;
	ended = failed = 0;
	vm_rma_write(port, &rma);
	POLL_UNTIL(pair, ended == 1);
	is_int(failed, 1, "%s: a write to what may be read fails", name);
	vm_mr_close(&mr);
	ended = failed = 0;
	vm_rma_read(port, &rma);
	POLL_UNTIL(pair, ended == 1);
	is_int(failed, 1, "%s: a region that is closed is gone", name);
	rma.to.process = 7;
	is_int(vm_rma_read(port, &rma), -VMPI_EINVAL,
	       "%s: there is no process 7", name);
}

static void run(const char *provider)
{
	unsigned char *local = malloc(BYTES_MAX + 1);
	unsigned char *remote = malloc(BYTES_MAX + 1);
	struct pair pair;

	pair_open(&pair, 2, NULL);
	ok(vm_fabric_limits(pair.side[0].fabric)->rma,
	   "%s: there is remote memory", provider);
	sizes(&pair, provider, local, remote);
	many(&pair, provider, local, remote);
	notices(&pair, provider, local, remote);
	refusals(&pair, provider, local, remote);
	ok(pair_stop(&pair), "%s: both sides end in order", provider);
	pair_close(&pair);
	free(local);
	free(remote);
}

int main(void)
{
	vm_clock_init();
	providers_and_shm(run);
	return done_testing();
}
