/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric over a network in memory that refuses, delays, reorders, loses and
 * changes: every packet comes once and in order, unless the other process is
 * given up; every operation ends.
 */
#include "fabric/packet/wire.h"
#include "fake_fabric.h"
#include "pair.h"

enum { PORTS = 3, PACKETS = 6000, OPS = 300 };

static unsigned sends_ended, sends_failed, reads_ended, reads_failed;
/* Moves with a notice, by it: how often they have told, and are sure to have. */
static unsigned told[PACKETS + 1], sure[PACKETS + 1], unsure;
static char memory[2][300000];

static void send_done(struct vm_send_op *op, int error)
{
	sends_ended++;
	sends_failed += error != 0;
	free(op);
}

/* A read or write of ours, with what it must have moved. */
struct move {
	struct vm_rma rma;
	struct vm_mr mr;
	uint64_t number;
	char *remote;
};

static void move_done(struct vm_rma *rma, int error)
{
	struct move *move = vm_container_of(rma, struct move, rma);
	const char *result = rma->write ? move->remote : rma->local;

	reads_ended++;
	if (rma->notice && error == -VMPI_ENOTSUP) {
		unsure++;
	} else {
		reads_failed += error ||
				!pattern_fits(result, move->number, rma->bytes);
		sure[rma->notice] = rma->notice != 0;
	}
	vm_mr_close(&move->mr);
	free(rma->local);
	free(move->remote);
	free(move);
}

static void tell(struct side *side, uint32_t notice)
{
	(void)side;
	if (!notice || notice > PACKETS)
		bail("nobody tells of %u", notice);
	told[notice]++;
}

/* Notices that have not come, or more than once. */
static unsigned untold(void)
{
	unsigned count = 0;

	for (int i = 0; i <= PACKETS; i++)
		count += told[i] > 1 || told[i] < sure[i];
	return count;
}

static void move_start(struct pair *pair, int s, uint64_t number)
{
	struct move *move = calloc(1, sizeof(*move));
	size_t bytes = (size_t)rand() % 30000;
	struct vm_rma *rma = &move->rma;
	unsigned at = (unsigned)rand() % PORTS;

	rma->done = move_done;
	rma->local = malloc(bytes + 1);
	move->remote = malloc(bytes + 1);
	move->number = number;
	rma->bytes = bytes;
	if (bytes && number % 4 == 1)
		rma->notice = (uint32_t)number;
	pattern_fill(number % 2 ? rma->local : move->remote, number, bytes);
	rma->to = (struct vm_to){ (uint32_t)!s, at };
	if (vm_mr_open(vm_fabric_port(pair->side[!s].fabric, at), &move->mr,
		       (uint32_t)s, move->remote, bytes,
		       number % 2 ? VM_MR_WRITE : VM_MR_READ) < 0)
		bail("cannot register memory");
	rma->remote = move->mr.remote;
	if ((number % 2 ? vm_rma_write :
			  vm_rma_read)(vm_fabric_port(pair->side[s].fabric,
						      (unsigned)rand() % PORTS),
				       rma) < 0)
		bail("a remote operation is refused");
}

/* The data of sends by reference; freed when nothing is under way. */
static char *referred[PACKETS];
static unsigned referred_count;

static void data_keep(char *data)
{
	referred[referred_count++] = data;
}

static void data_free(void)
{
	while (referred_count)
		free(referred[--referred_count]);
}

/* One random thing to do; how many operations were started. */
static unsigned act(struct pair *pair, uint64_t number, bool rma)
{
	int s = rand() % 2;
	uint32_t most = vm_fabric_limits(pair->side[s].fabric)->packet_bytes;
	uint32_t bytes = (uint32_t)rand() % (rand() % 4 ? 300 : most);
	struct vm_send_op *op = NULL;
	char *data = memory[s];

	if (rma && rand() % (PACKETS / OPS) == 0) {
		move_start(pair, s, number);
		return 1;
	}
	if (rand() % 3 == 0) {
		op = malloc(sizeof(*op));
		op->done = send_done;
		/* Memory that is not written to again. */
		data = malloc(bytes + 1);
	}
	for (;;) {
		int rc = side_send(&pair->side[s], (uint32_t)!s,
				   (unsigned)rand() % PORTS,
				   (unsigned)rand() % PORTS, data, bytes,
				   rand() % 2, op);

		if (rc == VM_PENDING) {
			sends_ended--;
			data_keep(data);
			return 0;
		}
		if (rc == VM_DONE)
			break;
		/* Not soon, it says, but here the receiver releases all. */
		if (rc != -VMPI_EAGAIN && rc != -VMPI_ELIMIT)
			bail("a packet is refused: %s", vmpi_strerror(rc));
		pair_poll(pair);
	}
	if (op) {
		free(op);
		free(data);
	}
	return 0;
}

/* The sum of a counter over the ports of both sides. */
static uint64_t sum_of(const struct pair *pair, size_t counter)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < 2 * PORTS; i++) {
		const void *pvars = vm_port_pvars(vm_fabric_port(
			pair->side[i / PORTS].fabric, i % PORTS));

		sum += vm_pvar_read(pvars, (unsigned)counter);
	}
	return sum;
}

#define COUNTER(field) \
	(offsetof(struct fabric_port_pvars, field) / sizeof(uint64_t))

static void storm(const char *name, unsigned seed, struct fake_faults faults)
{
	struct pair pair;
	unsigned moves = 0, packets = 0;

	fake_seed(seed);
	srand(seed);
	fake_faults = faults;
	sends_ended = sends_failed = reads_ended = reads_failed = unsure = 0;
	memset(told, 0, sizeof(told));
	memset(sure, 0, sizeof(sure));
	pair_open(&pair, PORTS, &fake_fabric);
	pair.side[0].noticed = pair.side[1].noticed = tell;
	for (int i = 0; i < PACKETS; i++) {
		unsigned moved = act(&pair, (uint64_t)i, !faults.no_rma);

		moves += moved;
		packets += !moved;
		if (rand() % 3 == 0)
			pair_poll(&pair);
		if (rand() % 500 == 0) {
			pair.side[0].keep = !pair.side[0].keep;
			side_release(&pair.side[0]);
		}
	}
	pair.side[0].keep = false;
	side_release(&pair.side[0]);
	POLL_UNTIL(&pair,
		   pair.side[0].packets + pair.side[1].packets == packets &&
			   reads_ended == moves && sends_ended == 0 &&
			   untold() == 0);
	is_int((int)(pair.side[0].faults + pair.side[1].faults), 0,
	       "%s: %u packets come once, in order and whole", name, packets);
	is_int((int)(sends_failed + reads_failed), 0,
	       "%s: %u remote operations succeed", name, moves);
	ok((unsure > 0) == (faults.rma_fail_percent > 0),
	   "%s: writes that were to tell, and were lost, are not repeated (%u)",
	   name, unsure);
	ok((sum_of(&pair, COUNTER(notices)) > 0) == !faults.no_rma,
	   "%s: others have told", name);
	ok((sum_of(&pair, COUNTER(again)) > 0) == (faults.again_percent > 0),
	   "%s: what the network refused for now is counted", name);
	is_int((int)sum_of(&pair, COUNTER(errors)), 0, "%s: and is no error",
	       name);
	ok((sum_of(&pair, COUNTER(resent)) > 0) == faults.lossy,
	   "%s: so is what is sent again (%llu)", name,
	   (unsigned long long)sum_of(&pair, COUNTER(resent)));
	ok(pair_stop(&pair), "%s: both sides end in order", name);
	pair_close(&pair);
	data_free();
	is_int((int)fake_open_objects(), 0, "%s: everything is closed", name);
}

/* Strangers are counted and dropped; the job goes on. */
static void strangers(void)
{
	static char data[100];
	struct pair pair;
	char noise[300];
	const struct fabric_port_pvars *pvars;

	fake_seed(9);
	srand(9);
	pair_open(&pair, 1, &fake_fabric);
	pvars = vm_port_pvars(vm_fabric_port(pair.side[1].fabric, 0));
	for (int i = 0; i < 1000; i++) {
		struct vm_wire wire = { .magic = VM_WIRE_MAGIC,
					.version = VM_WIRE_VERSION,
					.kind = VM_WIRE_CONTROL,
					.job_key = 4711 };

		for (size_t b = 0; b < sizeof(noise); b++)
			noise[b] = (char)rand();
		fake_inject(1, noise, (size_t)rand() % sizeof(noise));
		fake_inject(1, "GET / HTTP/1.1\r\nHost: vmpi\r\n\r\n", 30);
		fake_inject(1, &wire, sizeof(wire));
		side_send(&pair.side[0], 1, 0, 0, data, 100, true, NULL);
		pair_poll(&pair);
	}
	POLL_UNTIL(&pair,
		   pair.side[1].packets == 1000 && pvars->reject_key == 1000);
	POLL_UNTIL(&pair, pvars->reject_short + pvars->reject_magic == 2000);
	is_int((int)pair.side[1].faults, 0, "strangers do not disturb us");
	is_int((int)pair.side[1].downs, 0, "nobody is given up for them");
	ok(true, "they are counted: short or no magic, another job");
	ok(pair_stop(&pair), "both sides end in order");
	pair_close(&pair);
}

/* Endpoint 0 dies with a lot under way. */
static void lost_peer(unsigned seed)
{
	unsigned moves = 0, started = 0;
	struct pair pair;
	static char data[9000];

	fake_seed(seed);
	srand(seed);
	fake_faults.delay_max = 10;
	sends_ended = sends_failed = reads_ended = reads_failed = 0;
	pair_open(&pair, PORTS, &fake_fabric);
	for (int i = 0; i < 100; i++) {
		struct vm_send_op *op = malloc(sizeof(*op));
		int rc;

		op->done = send_done;
		rc = side_send(&pair.side[0], 1, 0, 1, data, 9000, true, op);
		started += rc == VM_PENDING;
		if (rc != VM_PENDING)
			free(op);
		move_start(&pair, 0, (uint64_t)i);
		moves++;
		if (i % 10 == 0)
			pair_poll(&pair);
	}
	for (unsigned i = PORTS; i < 2 * PORTS; i++)
		fake_kill(i);
	vm_fabric_peer_dead(pair.side[0].fabric, 1);
	while (sends_ended < started || reads_ended < moves)
		side_poll(&pair.side[0]);
	ok(sends_failed > 0 && reads_failed > 0,
	   "seed %u: what waits for a dead process ends with an error (%u of "
	   "%u sends, %u of %u reads)",
	   seed, sends_failed, started, reads_failed, moves);
	is_int((int)pair.side[0].downs, PORTS, "seed %u: each port is told",
	       seed);
	is_int(side_send(&pair.side[0], 1, 0, 0, data, 1, true, NULL),
	       -VMPI_EPEER, "seed %u: it gets nothing more", seed);
	is_int(vm_fabric_stop(pair.side[0].fabric, 10000000000u), 0,
	       "seed %u: we end without it", seed);
	pair_close(&pair);
	is_int((int)fake_open_objects(), 0, "seed %u: everything is closed",
	       seed);
}

/* What the other side has got, and said so, while the network never says that it
 * has left: it ends, by questions or with the other side. */
static void got_but_kept(bool dies)
{
	const char *name = dies ? "its receiver dies" : "it is asked for";
	static char data[9000], answer[1];
	unsigned started = 0;
	struct pair pair;

	fake_seed(30);
	fake_faults.lossy = true;
	fake_faults.send_stuck_percent = 100;
	sends_ended = sends_failed = 0;
	pair_open(&pair, 1, &fake_fabric);
	for (int i = 0; i < 20; i++) {
		struct vm_send_op *op = malloc(sizeof(*op));

		op->done = send_done;
		/* The next one writes the same bytes to it, but for its number:
		 * the network in memory has copied them. */
		started += side_send(&pair.side[0], 1, 0, 0, data, sizeof(data),
				     true, op) == VM_PENDING;
	}
	POLL_UNTIL(&pair, pair.side[1].packets == 20);
	side_send(&pair.side[1], 0, 0, 0, answer, 1, true, NULL);
	POLL_UNTIL(&pair, pair.side[0].packets == 1);
	if (dies) {
		fake_kill(1);
		vm_fabric_peer_dead(pair.side[0].fabric, 1);
	}
	POLL_UNTIL(&pair, sends_ended == started);
	is_int((int)started, 20, "a packet that has come, %s: was referred to",
	       name);
	is_int((int)sends_failed, 0,
	       "a packet that has come, %s: has not failed", name);
	if (dies)
		vm_fabric_stop(pair.side[0].fabric, 10000000000u);
	else
		ok(pair_stop(&pair), "%s: both sides end in order", name);
	pair_close(&pair);
	is_int((int)fake_open_objects(), 0, "%s: everything is closed", name);
}

int main(void)
{
	vm_clock_init();
	set("fabric_provider", "fake");
	storm("no faults", 1, (struct fake_faults){ 0 });
	storm("again", 2, (struct fake_faults){ .again_percent = 40 });
	storm("delays", 3, (struct fake_faults){ .delay_max = 20 });
	storm("narrow", 4,
	      (struct fake_faults){
		      .again_percent = 20, .delay_max = 5, .small = true });
	storm("local registration", 5,
	      (struct fake_faults){
		      .again_percent = 5, .delay_max = 5, .local_mr = true });
	storm("no remote memory", 6,
	      (struct fake_faults){ .delay_max = 5, .no_rma = true });
	storm("losses", 7,
	      (struct fake_faults){ .again_percent = 5,
				    .delay_max = 5,
				    .lossy = true,
				    .lose_percent = 2,
				    .double_percent = 2,
				    .fail_percent = 2,
				    .send_stuck_percent = 2,
				    .rma_fail_percent = 20,
				    .rma_stuck_percent = 1 });
	storm("losses, narrow", 8,
	      (struct fake_faults){ .again_percent = 5,
				    .delay_max = 3,
				    .small = true,
				    .lossy = true,
				    .lose_percent = 5,
				    .fail_percent = 5,
				    .rma_fail_percent = 10 });
	set("fabric_credits", "2");
	storm("losses, two credits", 9,
	      (struct fake_faults){ .again_percent = 5,
				    .delay_max = 3,
				    .lossy = true,
				    .lose_percent = 3,
				    .double_percent = 3,
				    .fail_percent = 3 });
	set("fabric_credits", "64");
	strangers();
	for (unsigned seed = 20; seed < 25; seed++)
		lost_peer(seed);
	got_but_kept(true);
	got_but_kept(false);
	return done_testing();
}
