/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping until the network has something.
 */
#include "fabric/end/sleep.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "fabric/conn.h"
#include "fabric/near.h"
#include "fabric/state.h"

/*
 * One descriptor stands for all: an epoll of the ports' wait descriptors and of
 * the one that a kick writes to.  Some versions of a provider leave their
 * descriptor readable forever after the first message, others while they
 * connect: a port with wakes that turn out to be spurious waits once by the
 * provider's own means, which clears that; where it does not help, sleeps are
 * short and without the descriptor until something comes.
 */

#define RETRY_NS 1000000 /* the network is full, or cannot be waited for */
#define RETRY_NS_MAX 20000000
#define CLEAR_MS 1	 /* less does not clear the descriptor */
#define SPURIOUS_CLEAR 2 /* spurious wakes in a row until we clear it */
#define SPURIOUS_BLIND 8 /* ... until we poll periodically instead */
#define BLIND_SLEEPS 32

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

/* Under lock.  0: sleep for this port is possible, no longer than *until, by
 * *fd. */
static int port_settle(struct vm_port *port, int *fd, uint64_t *until,
		       uint64_t now)
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
	if (port->wait_fd < 0) {
		earlier(until, now + RETRY_NS);
		return 0;
	}
	if (port->spurious >= SPURIOUS_BLIND) {
		/* After some time it gets another chance. */
		if (++port->spurious > SPURIOUS_BLIND + BLIND_SLEEPS)
			port->spurious = 0;
		earlier(until, now + RETRY_NS);
		*fd = port->fabric->kick_fd;
		return 0;
	}
	if (port->spurious >= SPURIOUS_CLEAR && wait_clear(port) < 0)
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
	int rc = 0, fd = fabric->epoll_fd, awake = VM_FABRIC_AWAKE;

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
		if (left && left[i])
			continue;
		if (!vm_bias_try(&port->lock)) {
			rc = -VMPI_EAGAIN;
			break;
		}
		rc = port_settle(port, &fd, &until, now);
		vm_port_unlock(port);
	}
	if (rc < 0) {
		vm_fabric_sleep_end(fabric);
		return rc;
	}
	sleep->fd = fd;
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
	struct pollfd fd = { .fd = sleep->fd, .events = POLLIN };
	uint64_t until = sleep->until_ns;
	struct timespec limit;
	uint64_t now;

	earlier(&until, until_ns);
	if (until == UINT64_MAX)
		return ppoll(&fd, 1, NULL, NULL) != 0;
	now = vm_clock_ns();
	if (until <= now)
		return false;
	limit.tv_sec = (time_t)((until - now) / 1000000000);
	limit.tv_nsec = (long)((until - now) % 1000000000);
	return ppoll(&fd, 1, &limit, NULL) != 0;
}

void vm_fabric_sleep_end(struct vm_fabric *fabric)
{
	struct epoll_event events[32];
	bool woken = false;
	uint64_t kicks;
	int n = epoll_wait(fabric->epoll_fd, events, 32, 0);

	for (int i = 0; i < n; i++) {
		struct vm_port *port = events[i].data.ptr;

		if (events[i].data.ptr == fabric->shm && fabric->shm) {
			woken = true;
			continue;
		}
		if (!port) {
			/* It is empty only if another thread has read it. */
			if (read(fabric->kick_fd, &kicks, sizeof(kicks)) < 0 &&
			    errno != EAGAIN)
				vm_panic("cannot read an event counter");
			continue;
		}
		vm_port_lock(port);
		port->woken = true;
		port->unasked = 0;
		vm_port_unlock(port);
	}
	vm_shm_sleep_end(fabric->shm, woken);
	/* Pairs with the exchange in vm_fabric_sleep_begin(). */
	atomic_store_explicit(&fabric->sleeping, VM_FABRIC_AWAKE,
			      memory_order_release);
}
