/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of two jobs that are connected while their fabrics are used: each
 * knows the other as a guest, by a number of its own.
 */
#include "fabric/near.h"
#include "pair.h"

enum { GUESTS = 1, LONG = 60000 };

static struct pair pair;
static char data[LONG];

/* The numbers by which the sides know each other: those after their own jobs'. */
static uint32_t number[2];

static int job_open(unsigned which, uint32_t process, uint32_t processes)
{
	struct side *side = &pair.side[which];
	struct vm_fabric_config config = { .process = process,
					   .processes = processes,
					   .guests = GUESTS,
					   .ports = 2,
					   .job_key = 0x1111 + which,
					   .one_host = true,
					   .arrived = pair_handlers(),
					   .down = side_down,
					   .arg = side };

	memset(side, 0, sizeof(*side));
	side->process = process;
	number[!which] = processes;
	return vm_fabric_open(&side->fabric, &config);
}

/* Makes side `to` know the other one; 0 or an error. */
static int introduce(unsigned to)
{
	struct vm_fabric *other = pair.side[!to].fabric;
	unsigned char address[VM_ADDRESS_MAX];
	struct vm_fabric_guest guest = { .address = address,
					 .job_key = vm_fabric_key(other),
					 .there = number[to] };
	int n = vm_fabric_address(other, address, sizeof(address));

	if (n < 0)
		bail("no address");
	guest.bytes = (size_t)n;
	return vm_fabric_connect_guest(pair.side[to].fabric, number[!to],
				       &guest);
}

static void packets(const char *name)
{
	unsigned sent = 0;

	for (unsigned i = 0; i < 200; i++) {
		struct side *from = &pair.side[i % 2];

		sent += side_send(from, number[!(i % 2)], i / 2 % 2, i / 4 % 2,
				  data, i * 13, i % 3 != 0, NULL) >= 0;
		pair_poll(&pair);
	}
	POLL_UNTIL(&pair, pair.side[0].packets + pair.side[1].packets == sent);
	is_int((int)sent, 200, "%s: packets are sent both ways", name);
	is_int((int)(pair.side[0].faults + pair.side[1].faults), 0,
	       "%s: and come whole, in order, from who sent them", name);
}

static bool read_ended;

static void read_done(struct vm_rma *rma, int error)
{
	(void)rma;
	read_ended = error == 0;
}

/* Reads memory of side 1. */
static void reading(const char *name)
{
	static unsigned char there[LONG], here[LONG];
	struct vm_port *port = vm_fabric_port(pair.side[0].fabric, 0);
	struct vm_rma rma = { .done = read_done,
			      .to = { number[1], 0 },
			      .local = here,
			      .bytes = LONG };
	struct vm_mr mr;

	if (!vm_fabric_moves(pair.side[1].fabric, number[0])) {
		skip(1, "%s: memory cannot be moved here", name);
		return;
	}
	pattern_fill(there, 7, LONG);
	if (vm_mr_open(vm_fabric_port(pair.side[1].fabric, 0), &mr, number[0],
		       there, LONG, VM_MR_READ))
		bail("memory cannot be registered");
	rma.remote = mr.remote;
	read_ended = false;
	if (vm_rma_read(port, &rma) == VM_PENDING)
		POLL_UNTIL(&pair, read_ended);
	ok(read_ended && pattern_fits(here, 7, LONG),
	   "%s: and memory of a guest is read", name);
	vm_mr_close(&mr);
}

/* side: the one that is one of two processes. */
static void run(const char *name, int side)
{
	if (job_open(0, 0, side == 0 ? 2 : 1) ||
	    job_open(1, side == 1, side == 1 ? 2 : 1))
		bail("cannot open a fabric");
	is_int(side_send(&pair.side[0], number[1], 0, 0, data, 8, true, NULL),
	       -VMPI_EINVAL, "%s: nothing is sent to who is not known", name);
	is_int(introduce(0), 0, "%s: a guest becomes known", name);
	is_int(introduce(1), 0, "%s: on both sides", name);
	is_int(introduce(1), -VMPI_ESTATE, "%s: once", name);
	ok(vm_fabric_near(pair.side[0].fabric, number[1]), "%s: it is near",
	   name);
	packets(name);
	reading(name);
	is_int(vm_fabric_stop(pair.side[0].fabric, 20000000000u), 0,
	       "%s: who stops does not wait for guests", name);
	POLL_UNTIL(&pair, pair.side[1].downs > 0);
	is_int(pair.side[1].down_error, 0, "%s: they learn of it", name);
	is_int(side_send(&pair.side[1], number[0], 0, 0, data, 8, true, NULL),
	       -VMPI_EPEER, "%s: and send nothing more", name);
	is_int(vm_fabric_stop(pair.side[1].fabric, 20000000000u), 0,
	       "%s: and stop when they like", name);
	pair_close(&pair);
}

static void refusals(void)
{
	struct vm_address head;
	struct vm_fabric_guest guest = { .address = &head,
					 .bytes = sizeof(head) };

	if (job_open(0, 0, 1) || job_open(1, 0, 1))
		bail("cannot open a fabric");
	vm_fabric_address(pair.side[1].fabric, &head, sizeof(head));
	is_int(vm_fabric_connect_guest(pair.side[0].fabric, 0, &guest),
	       -VMPI_EINVAL, "a number of the own job is refused");
	is_int(vm_fabric_connect_guest(pair.side[0].fabric, 1 + GUESTS, &guest),
	       -VMPI_EINVAL, "one that there is no room for, too");
	head.version++;
	is_int(vm_fabric_connect_guest(pair.side[0].fabric, 1, &guest),
	       -VMPI_EINVAL, "another version is refused");
	head.version--;
	head.shm.space++;
	is_int(vm_fabric_connect_guest(pair.side[0].fabric, 1, &guest),
	       -VMPI_ENOTSUP, "one on another host, to which there is no way");
	head.shm.space--;
	guest.there = 77;
	is_int(vm_fabric_connect_guest(pair.side[0].fabric, 1, &guest),
	       -VMPI_ENOTSUP, "and one that has no place for us");
	guest.there = 1;
	is_int(vm_fabric_connect_guest(pair.side[0].fabric, 1, &guest), 0,
	       "after that the right one can come");
	pair_close(&pair);
}

int main(void)
{
	vm_clock_init();
	vm_fabric_vars_add();
	if (job_open(0, 0, 1))
		bail("cannot open a fabric");
	if (!pair.side[0].fabric->shm)
		bail("no memory can be shared here");
	vm_fabric_close(pair.side[0].fabric);
	run("two processes alone", -1);
	run("one of two, and one alone", 0);
	run("one alone, and one of two", 1);
	refusals();
	return done_testing();
}
