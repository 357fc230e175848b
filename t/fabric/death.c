/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other process is killed: everything that waits for it ends with an error,
 * whether the launcher reports it or not, and nothing hangs.
 */
#include "fabric/shm/shm.h"
#include "fork.h"

enum { SENDS = 40, READS = 4 };

static int ended, refused;

static void send_done(struct vm_send_op *op, int error)
{
	(void)op;
	ended++;
	refused += error == -VMPI_EPEER;
}

static void rma_done(struct vm_rma *rma, int error)
{
	(void)rma;
	ended++;
	refused += error == -VMPI_EPEER;
}

/* Connects, so that what follows is under way when the other one dies. */
static void connect_first(struct child *child, struct side *side)
{
	child_send(child, 's');
	while (side->packets == 0)
		side_poll(side);
	char answer;
	bytes_receive(child->socket, &answer, 1);
}

static struct vm_send_op ops[SENDS];
static struct vm_rma rmas[READS];
static char data[40000];
static char *near;

/* Starts a lot; how many ends there will be. */
static int start_all(struct child *child, struct side *side)
{
	struct vm_port *port = vm_fabric_port(side->fabric, 0);
	int expected = 0;

	ended = refused = 0;
	for (int i = 0; i < READS; i++) {
		rmas[i] = (struct vm_rma){ .done = rma_done,
					   .to = { 1, 0 },
					   .remote = child->remote,
					   .local = near,
					   .bytes = CHILD_BYTES };
		expected += vm_rma_read(port, &rmas[i]) == VM_PENDING;
	}
	for (int i = 0; i < SENDS; i++) {
		ops[i].done = send_done;
		expected += side_send(side, 1, 0, 0, data, 16000, true,
				      &ops[i]) == VM_PENDING;
	}
	return expected;
}

static void after(struct side *side, const char *name)
{
	struct vm_rma rma = rmas[0];

	is_int(side_send(side, 1, 0, 0, data, 10, true, NULL), -VMPI_EPEER,
	       "%s: sends are refused from then on", name);
	is_int(vm_rma_read(vm_fabric_port(side->fabric, 0), &rma), -VMPI_EPEER,
	       "%s: so are reads", name);
	is_int((int)side->downs, 2, "%s: each port was told once", name);
	is_int(side->down_error, -VMPI_EPEER, "%s: as an error", name);
	ok(!vm_fabric_peer_alive(side->fabric, 1), "%s: it is not alive", name);
	is_int(vm_fabric_stop(side->fabric, 5000000000u), 0,
	       "%s: we end without waiting for it", name);
	vm_fabric_close(side->fabric);
}

static void told(const char *name)
{
	struct side side;
	struct child child;
	int expected;

	child_open(&child, &side, 2);
	connect_first(&child, &side);
	child_send(&child, 'b');
	expected = start_all(&child, &side);
	kill(child.pid, SIGKILL);
	is_int(child_wait(&child), -1, "%s: the other process is killed", name);
	vm_fabric_peer_dead(side.fabric, 1);
	while (ended < expected || side.downs < 2)
		side_idle(&side, vm_clock_ns() + 1000000);
	is_int(ended, expected, "%s: all operations end", name);
	ok(refused > 0, "%s: those that were not done fail (%d of %d)", name,
	   refused, ended);
	after(&side, name);
}

static void untold(const char *name)
{
	struct side side;
	struct child child;
	int expected;

	child_open(&child, &side, 2);
	connect_first(&child, &side);
	child_send(&child, 'b');
	expected = start_all(&child, &side);
	kill(child.pid, SIGKILL);
	is_int(child_wait(&child), -1, "%s: another one is killed", name);
	while (ended < expected || side.downs < 2)
		side_idle(&side, NEVER_NS);
	is_int(ended, expected, "%s: all operations end though nobody tells us",
	       name);
	after(&side, name);
}

/* Nothing but short packets, sent after the death. */
static void silent(const char *name)
{
	struct side side;
	struct child child;
	int rc = 1;

	child_open(&child, &side, 2);
	connect_first(&child, &side);
	kill(child.pid, SIGKILL);
	is_int(child_wait(&child), -1, "%s: a third one is killed", name);
	while (rc >= 0) {
		rc = side_send(&side, 1, 0, 0, data, 10, true, NULL);
		side_idle(&side, vm_clock_ns() + 10000000);
	}
	is_int(rc, -VMPI_EPEER, "%s: packets into the void are noticed", name);
	while (side.downs < 2)
		side_idle(&side, NEVER_NS);
	after(&side, name);
}

/* A read from the memory of one that has died, before anybody else says so. */
static void moved(const char *name)
{
	struct side side;
	struct child child;
	struct vm_port *port;

	child_open(&child, &side, 2);
	connect_first(&child, &side);
	port = vm_fabric_port(side.fabric, 0);
	kill(child.pid, SIGKILL);
	is_int(child_wait(&child), -1, "%s: a fourth one is killed", name);
	ended = refused = 0;
	rmas[0] = (struct vm_rma){ .done = rma_done,
				   .to = { 1, 0 },
				   .remote = child.remote,
				   .local = near,
				   .bytes = CHILD_BYTES };
	is_int(vm_rma_read(port, &rmas[0]), VM_PENDING, "%s: a read starts",
	       name);
	if (vm_shm_near(side.fabric->shm, 1))
		ok(!vm_fabric_peer_alive(side.fabric, 1),
		   "%s: who finds no memory gives the process up", name);
	while (ended < 1 || side.downs < 2)
		side_idle(&side, NEVER_NS);
	is_int(refused, 1, "%s: the read fails", name);
	after(&side, name);
}

static void run(const char *provider)
{
	told(provider);
	untold(provider);
	silent(provider);
	moved(provider);
}

int main(void)
{
	vm_clock_init();
	near = malloc(CHILD_BYTES);
	providers_and_shm(run);
	free(near);
	return done_testing();
}
