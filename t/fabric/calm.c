/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polls that would find nothing take no lock to see that, and seldom ask a
 * network that is silent; what comes, and what was left undone, is seen all the
 * same.
 */
#include "fabric/near.h"
#include "pair.h"

enum {
	SETTLED = 3000 /* polls, until the network is known to be silent */,
	LOOKS = 63 /* the most in a row without a lock */
};

static struct pair pair;
static char data[200];

/* Until the last poll of the port has looked at everything. */
static void settle(struct vm_port *port)
{
	for (int i = 0; i < SETTLED; i++)
		pair_poll(&pair);
	while (port->looks)
		vm_port_poll(port, true);
}

/* So many polls of a port that somebody else polls; how many found that out. */
static int polls_refused(struct vm_port *port, int polls)
{
	int refused = 0;

	if (!vm_bias_try(&port->polling))
		bail("somebody polls");
	for (int i = 0; i < polls; i++)
		refused += vm_port_poll(port, true) == -VMPI_EAGAIN;
	vm_bias_give(&port->polling);
	return refused;
}

static void send_one(int from)
{
	is_int(side_send(&pair.side[from], (uint32_t)!from, 0, 0, data, 100,
			 false, NULL),
	       VM_DONE, "process %d sends", from);
}

static void come(struct vm_port *port)
{
	uint64_t before;

	settle(port);
	is_int(polls_refused(port, 10), 0, "no poll wants a lock");
	send_one(1);
	is_int(polls_refused(port, 10), 10, "each does when a packet has come");
	is_int(vm_port_poll(port, true), 1, "which is then found");
	is_int((int)pair.side[0].packets, 1, "once");
	settle(port);
	before = port->pvars.polls;
	for (int i = 0; i < 1000; i++)
		vm_port_poll(port, true);
	ok(port->pvars.polls > before + 1000 - LOOKS - 1 &&
		   port->pvars.polls <= before + 1000 + LOOKS,
	   "all polls are counted (%d of 1000)",
	   (int)(port->pvars.polls - before));
	ok(polls_refused(port, LOOKS + 1) > 0, "now and then one wants a lock");
}

static void help(struct vm_port *port)
{
	settle(port);
	send_one(1);
	vm_port_lock(port);
	is_int(vm_port_poll(port, false), -VMPI_EAGAIN,
	       "who helps does not wait for one that sends");
	vm_port_unlock_calm(port);
	is_int(vm_port_poll(port, false), 1, "but helps when it has sent");
}

static void undone(struct vm_port *port)
{
	settle(port);
	vm_port_lock(port);
	vm_port_unlock(port);
	is_int(polls_refused(port, 1), 1, "after another one had the lock");
	settle(port);
	send_one(0);
	is_int(polls_refused(port, 1), 0, "but not after a send by the ring");
	vm_peer_fail(pair.side[0].fabric, 1, -VMPI_EPEER, "a test");
	is_int(polls_refused(port, 1), 1, "after a death");
	for (int i = 0; i < 10; i++)
		vm_port_poll(port, true);
	is_int((int)pair.side[0].downs, 1, "which is reported");
}

static struct vm_fi counting;
static unsigned asked;

static ssize_t cq_read_count(struct fid_cq *cq,
			     struct fi_cq_data_entry *entries, size_t count)
{
	asked++;
	return vm_fi_real.cq_read(cq, entries, count);
}

/* How often a port has asked the network in so many polls. */
static unsigned polls_asked(struct vm_port *port, int polls)
{
	asked = 0;
	for (int i = 0; i < polls; i++)
		vm_port_poll(port, true);
	return asked;
}

static void network(struct vm_port *port)
{
	counting = *port->fi;
	counting.cq_read = cq_read_count;
	port->fi = &counting;
	settle(port);
	vm_port_lock(port);
	port->unasked = 0;
	vm_port_unlock(port);
	ok(polls_asked(port, 1) == 1, "a network that has woken us is asked");
	asked = polls_asked(port, 10000);
	ok(asked > 2 && asked < 10,
	   "and while it is silent, more and more seldom (%u of 10000)", asked);
	polls_asked(port, 200000);
	asked = polls_asked(port, 200000);
	ok(asked >= 2 && asked < 5, "but not for ever (%u of 200000)", asked);
	port->fi = &vm_fi_real;
}

int main(void)
{
	struct vm_port *port;

	vm_clock_init();
	pair_shm = true;
	pair_open(&pair, 1, NULL);
	port = vm_fabric_port(pair.side[0].fabric, 0);
	if (!vm_near_all(pair.side[0].fabric)) {
		skip(1, "no memory can be shared here");
		return done_testing();
	}
	come(port);
	help(port);
	network(port);
	undone(port);
	pair_close(&pair);
	return done_testing();
}
