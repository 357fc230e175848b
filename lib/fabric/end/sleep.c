/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping until the network has something.
 */
#include "fabric/end/sleep.h"

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "fabric/conn.h"
#include "fabric/near.h"
#include "fabric/state.h"

/*
 * The sleeper waits for a list of descriptors: the one that a kick writes to,
 * that of the shared memory, and those of each port.  An epoll of them would
 * stand between them and the sockets also while nobody sleeps, and cost each
 * packet that comes.
 *
 * Some versions of a provider leave their descriptor readable forever after the
 * first message, others while they connect: a port with wakes that turn out to be
 * spurious waits once by the provider's own means, which clears that; where it
 * does not help, sleeps are short and without the descriptor until something
 * comes.
 */

#define RETRY_NS 1000000 /* the network is full, or cannot be waited for */
#define RETRY_NS_MAX 20000000
#define CLEAR_MS 1	 /* less does not clear the descriptor */
#define SPURIOUS_CLEAR 2 /* spurious wakes in a row until we clear it */
#define SPURIOUS_BLIND 8 /* ... until we poll periodically instead */
#define BLIND_SLEEPS 32

static struct pollfd *port_waits(const struct vm_port *port)
{
	return &port->fabric->waits[VM_WAITS(port->index)];
}

static void earlier(uint64_t *until, uint64_t when)
{
	if (when < *until)
		*until = when;
}

/* Under lock: the descriptor was readable for no event. */
static int wait_clear(struct vm_port *port)
{
	__atomic_fetch_add(&port->fabric->pvars.spurious, 1, __ATOMIC_RELAXED);
	return vm_port_read_wait(port, CLEAR_MS) ? -VMPI_EAGAIN : 0;
}

/* What comes for the port wakes nobody. */
static void port_ignore(struct vm_port *port)
{
	for (unsigned i = 0; i < VM_PORT_WAITS; i++)
		port_waits(port)[i].fd = -1;
}

/* What the provider waits for itself; how many descriptors that are. */
static size_t list_ask(struct vm_port *port)
{
	struct fi_wait_pollfd list = { .nfds = VM_PORT_WAITS,
				       .fd = port_waits(port) };

	port_ignore(port); /* it may be shorter than the last one */
	return port->fi->cq_fds(port->cq, &list) ? 0 : list.nfds;
}

/*
 * Under lock: by what a sleeper is woken for the port, if not later than *until.
 * Libfabric 1.17 completes its list when it first waits by itself; before, there
 * is one descriptor of the list's own.
 */
static int port_watch(struct vm_port *port, uint64_t *until, uint64_t now)
{
	size_t count;

	if (!port->listed) {
		port_waits(port)->fd = port->wait_fd;
		return 0;
	}
	count = list_ask(port);
	if (VM_UNLIKELY(count == 1)) {
		if (vm_port_read_wait(port, CLEAR_MS))
			return -VMPI_EAGAIN;
		count = list_ask(port);
	}
	if (VM_UNLIKELY(count < 2))
		earlier(until, now + RETRY_NS);
	return 0;
}

/* When to retry what the network refuses: the longer it has refused, the
 * later. */
static uint64_t retry_ns(const struct vm_port *port, uint64_t now)
{
	const struct vm_conn *oldest = vm_container_of(
		port->waiting.next, const struct vm_conn, waiting);
	uint64_t age =
		oldest->since && now > oldest->since ? now - oldest->since : 0;

	if (age / 4 < RETRY_NS)
		return RETRY_NS;
	return age / 4 < RETRY_NS_MAX ? age / 4 : RETRY_NS_MAX;
}

/* Under lock.  0: sleep for this port is possible, no longer than *until. */
static int port_settle(struct vm_port *port, uint64_t *until, uint64_t now)
{
	if (!vm_list_empty(&port->unsure))
		earlier(until, vm_resend_look(port, now));
	if (vm_port_busy(port))
		return -VMPI_EAGAIN;
	vm_port_shrink(port, now);
	if (port->held.top)
		earlier(until, port->held.top->when);
	if (!vm_list_empty(&port->brim))
		earlier(until, vm_conns_brim(port, now));
	if (!vm_list_empty(&port->waiting))
		earlier(until, now + retry_ns(port, now));
	if (!vm_list_empty(&port->rma))
		earlier(until, now + RETRY_NS);
	if (!port->fi)
		return 0;
	if (port->rx_posted == 0) {
		/* They were refused, and nothing comes without them. */
		vm_port_fill(port);
		earlier(until, now + RETRY_NS);
	}
	if (port->wait_fd < 0 && !port->listed) {
		earlier(until, now + RETRY_NS);
		return 0;
	}
	if (port->spurious >= SPURIOUS_BLIND) {
		/* After some time it gets another chance. */
		if (++port->spurious > SPURIOUS_BLIND + BLIND_SLEEPS)
			port->spurious = 0;
		earlier(until, now + RETRY_NS);
		port_ignore(port);
		return 0;
	}
	if (port->spurious >= SPURIOUS_CLEAR && wait_clear(port) < 0)
		return -VMPI_EAGAIN;
	if (port_watch(port, until, now) < 0)
		return -VMPI_EAGAIN;
	if (port->fi->trywait(port->fabric->fid, port->cq) == 0)
		return 0;
	port->unasked = 0;
	port->spurious++;
	return -VMPI_EAGAIN;
}

int vm_fabric_sleep_beside(struct vm_fabric *fabric, struct vm_sleep *sleep,
			   const bool *left)
{
	uint64_t now = vm_clock_ns();
	uint64_t until = UINT64_MAX;
	int rc = 0, awake = VM_FABRIC_AWAKE;

	if (!atomic_compare_exchange_strong(&fabric->sleeping, &awake,
					    VM_FABRIC_SLEEPS))
		return -VMPI_ESTATE;
	if (VM_UNLIKELY(!vm_shm_sleep_begin(fabric->shm, left)))
		earlier(&until, now + RETRY_NS);
	/* Pairs with the fence in vm_fabric_kick(). */
	atomic_thread_fence(memory_order_seq_cst);
	for (unsigned i = 0; rc == 0 && i < fabric->limits.ports; i++) {
		struct vm_port *port = &fabric->ports[i];

		atomic_store_explicit(&port->left, left && left[i],
				      memory_order_relaxed);
		if (left && left[i]) {
			port_ignore(port);
			continue;
		}
		if (!vm_bias_try(&port->lock)) {
			rc = -VMPI_EAGAIN;
			break;
		}
		rc = port_settle(port, &until, now);
		vm_port_unlock(port);
	}
	if (rc < 0) {
		vm_fabric_sleep_end(fabric);
		return rc;
	}
	sleep->until_ns = until;
	__atomic_fetch_add(&fabric->pvars.sleeps, 1, __ATOMIC_RELAXED);
	return 0;
}

int vm_fabric_sleep_begin(struct vm_fabric *fabric, struct vm_sleep *sleep)
{
	return vm_fabric_sleep_beside(fabric, sleep, NULL);
}

bool vm_fabric_sleep_wait(struct vm_fabric *fabric,
			  const struct vm_sleep *sleep, uint64_t until_ns)
{
	nfds_t count = VM_WAITS(fabric->limits.ports);
	uint64_t until = sleep->until_ns;
	struct timespec limit;
	uint64_t now;

	earlier(&until, until_ns);
	if (until == UINT64_MAX)
		return ppoll(fabric->waits, count, NULL, NULL) != 0;
	now = vm_clock_ns();
	if (until <= now)
		return false;
	limit.tv_sec = (time_t)((until - now) / 1000000000);
	limit.tv_nsec = (long)((until - now) % 1000000000);
	return ppoll(fabric->waits, count, &limit, NULL) != 0;
}

/* Something has come for the port. */
static void port_wake(struct vm_port *port)
{
	vm_port_lock(port);
	port->woken = true;
	port->unasked = 0;
	vm_port_unlock(port);
}

void vm_fabric_sleep_end(struct vm_fabric *fabric)
{
	struct pollfd *waits = fabric->waits;
	int n = poll(waits, VM_WAITS(fabric->limits.ports), 0);
	uint64_t kicks;

	/* It is empty only if another thread has read it. */
	if (n > 0 && waits[VM_WAIT_KICK].revents &&
	    read(fabric->kick_fd, &kicks, sizeof(kicks)) < 0 && errno != EAGAIN)
		vm_panic("cannot read an event counter");
	for (unsigned i = 0; n > 0 && i < fabric->limits.ports; i++) {
		struct vm_port *port = &fabric->ports[i];

		for (unsigned j = 0; j < VM_PORT_WAITS; j++)
			if (port_waits(port)[j].revents) {
				port_wake(port);
				break;
			}
	}
	vm_shm_sleep_end(fabric->shm, n > 0 && waits[VM_WAIT_SHM].revents);
	/* Pairs with the exchange in vm_fabric_sleep_begin(). */
	atomic_store_explicit(&fabric->sleeping, VM_FABRIC_AWAKE,
			      memory_order_release);
}
