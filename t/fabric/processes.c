/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Three processes, all to all: packets of random sizes, some kept for a while,
 * and reads of each other's memory, by workers that sleep when there is nothing
 * to do.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "pair.h"

enum { PROCESSES = PAIR_PROCESSES, PORTS = 2, PACKETS = 4000, READS = 100 };
#define BYTES (1u << 20)

/* Shared by the processes: addresses, and the progress of each. */
struct shared {
	struct {
		_Atomic int bytes;
		_Atomic bool connected, opened;
		unsigned char address[VM_ADDRESS_MAX];
		struct vm_remote remote[PORTS];
		/* Packets for the others, when it has sent all. */
		_Atomic uint64_t sent_to[PROCESSES];
		_Atomic bool sent_all, done;
	} of[PROCESSES];
};

static struct shared *shared;
static struct vm_mr regions[2][PORTS]; /* for the others, for ourselves */
static unsigned reads_ended, reads_failed;
static uint64_t packets_from[PROCESSES];

struct reading {
	struct vm_rma rma;
	size_t offset;
};

static void read_done(struct vm_rma *rma, int error)
{
	struct reading *reading = vm_container_of(rma, struct reading, rma);
	const unsigned char *bytes = rma->local;
	bool right = true;

	for (size_t i = 0; i < rma->bytes; i++)
		right &= bytes[i] ==
			 pattern(rma->to.process, reading->offset + i);
	reads_ended++;
	reads_failed += error || !right;
	free(rma->local);
	free(reading);
}

static void read_start(struct side *side, unsigned process)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	struct vm_rma *rma = &reading->rma;
	unsigned port = (unsigned)rand() % PORTS;

	reading->offset = (size_t)rand() % BYTES;
	rma->bytes = (size_t)rand() % (BYTES - reading->offset);
	rma->local = malloc(rma->bytes + 1);
	rma->done = read_done;
	rma->to = (struct vm_to){ process, port };
	rma->remote = process == side->process ?
			      regions[1][port].remote :
			      shared->of[process].remote[port];
	rma->remote.address += reading->offset;
	if (vm_rma_read(vm_fabric_port(side->fabric, (unsigned)rand() % PORTS),
			rma) < 0)
		_exit(10);
}

static void arrived(struct vm_port *port, struct vm_pkt *pkt)
{
	packets_from[pkt->process]++;
	side_arrived(port, pkt);
}

static void idle(struct side *side)
{
	struct vm_sleep sleep;

	if (side_poll(side))
		return;
	if (vm_fabric_sleep_begin(side->fabric, &sleep) < 0)
		return;
	vm_fabric_sleep_wait(side->fabric, &sleep, vm_clock_ns() + 2000000);
	vm_fabric_sleep_end(side->fabric);
}

static void regions_open(struct side *side, const unsigned char *memory,
			 unsigned me)
{
	for (unsigned p = 0; p < PORTS; p++) {
		struct vm_port *port = vm_fabric_port(side->fabric, p);

		if (vm_mr_open(port, &regions[0][p], (me + 1) % PROCESSES,
			       memory, BYTES, VM_MR_READ) < 0 ||
		    vm_mr_open(port, &regions[1][p], me, memory, BYTES,
			       VM_MR_READ) < 0)
			_exit(12);
		shared->of[me].remote[p] = regions[0][p].remote;
	}
}

static void exchange(struct side *side, const unsigned char *memory,
		     unsigned me)
{
	int n = vm_fabric_address(side->fabric, shared->of[me].address,
				  VM_ADDRESS_MAX);

	if (n < 0)
		_exit(11);
	shared->of[me].bytes = n;
	for (unsigned i = 0; i < PROCESSES; i++) {
		while (!shared->of[i].bytes)
			usleep(100);
		if (vm_fabric_connect(side->fabric, i, shared->of[i].address,
				      (size_t)shared->of[i].bytes) < 0)
			_exit(13);
	}
	shared->of[me].connected = true;
	for (unsigned i = 0; i < PROCESSES; i++)
		while (!shared->of[i].connected)
			usleep(100);
	regions_open(side, memory, me);
	shared->of[me].opened = true;
	for (unsigned i = 0; i < PROCESSES; i++)
		while (!shared->of[i].opened)
			usleep(100);
}

/* Sends one packet or read to any process, ourselves included. */
static void act(struct side *side, unsigned me, int i)
{
	static char data[40000];
	unsigned to = (unsigned)rand() % PROCESSES;
	uint32_t bytes = (uint32_t)rand() % (rand() % 5 ? 200 : 16000);

	if (i % (PACKETS / READS) == 0)
		read_start(side, to);
	while (side_send(side, to, (unsigned)rand() % PORTS,
			 (unsigned)rand() % PORTS, data, bytes, rand() % 2,
			 NULL) < 0)
		idle(side);
	shared->of[me].sent_to[to]++;
	if (rand() % 4 == 0)
		side_poll(side);
	if (rand() % 300 == 0) {
		side->keep = !side->keep;
		side_release(side);
	}
}

/* Whether all messages to us have come. */
static bool all_here(unsigned me)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if (!shared->of[i].sent_all ||
		    shared->of[i].sent_to[me] != packets_from[i])
			return false;
	return reads_ended == READS;
}

static bool all_done(void)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if (!shared->of[i].done)
			return false;
	return true;
}

static _Noreturn void member(unsigned me)
{
	unsigned char *memory = malloc(BYTES);
	static struct side side;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	srand(me + 1);
	pattern_fill(memory, me, BYTES);
	if (side_open_of(&side, me, PROCESSES, PORTS, NULL) < 0)
		_exit(14);
	exchange(&side, memory, me);
	for (int i = 0; i < PACKETS; i++)
		act(&side, me, i);
	side.keep = false;
	side_release(&side);
	shared->of[me].sent_all = true;
	while (!all_here(me))
		idle(&side);
	shared->of[me].done = true;
	while (!all_done())
		idle(&side);
	for (unsigned p = 0; p < PORTS; p++) {
		vm_mr_close(&regions[0][p]);
		vm_mr_close(&regions[1][p]);
	}
	if (side.faults || reads_failed)
		_exit(15);
	if (vm_fabric_stop(side.fabric, 20000000000u) < 0)
		_exit(16);
	vm_fabric_close(side.fabric);
	_exit(0);
}

static void run(const char *provider)
{
	pid_t pid[PROCESSES];
	uint64_t packets = 0;
	int failed = 0;

	memset(shared, 0, sizeof(*shared));
	for (unsigned i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			bail("fork: %s", strerror(errno));
		if (pid[i] == 0)
			member(i);
	}
	for (unsigned i = 0; i < PROCESSES; i++) {
		int status = -1;

		waitpid(pid[i], &status, 0);
		failed += status != 0;
		if (status)
			diag("process %u ended with %d", i,
			     WIFEXITED(status) ? WEXITSTATUS(status) : -1);
		for (unsigned k = 0; k < PROCESSES; k++)
			packets += shared->of[i].sent_to[k];
	}
	is_int(failed, 0,
	       "%s: %d processes exchange %d packets and %d reads and end",
	       provider, PROCESSES, (int)packets, PROCESSES * READS);
	is_int((int)packets, PROCESSES * PACKETS, "%s: all of them", provider);
}

int main(void)
{
	vm_clock_init();
	pair_handler = arrived;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		bail("no shared memory");
	providers_and_shm(run);
	return done_testing();
}
