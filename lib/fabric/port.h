/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: an endpoint each, its connections, and the threads that move packets.
 *
 * Two locks.  `polling` is taken by try-lock by the poller and held while it
 * calls back: so callbacks of a port come one at a time and in order.  `lock`
 * is short, no callback runs under it; it guards all else, and every call of
 * the network for this port.  Order: polling, then lock, then inbox_lock; a
 * thread holds `lock` of one port at a time.
 */
#ifndef FABRIC_PORT_H
#define FABRIC_PORT_H

#include <stdatomic.h>

#include "base/bias.h"
#include "base/list.h"
#include "base/lock.h"
#include "fabric/fabric.h"
#include "fabric/inlets.h"
#include "fabric/ofi/fi.h"
#include "fabric/packet/link.h"
#include "fabric/packet/pkt.h"
#include "fabric/packet/vars.h"

/*
 * A poll reads events under `lock` into two lists, arrived and ended, and
 * delivers those without it.  A port is a domain of its own, so
 * FI_THREAD_DOMAIN is all that the network is asked for.
 *
 * Most polls find nothing, and take no lock to see that.  A poll that has left
 * nothing undone says that the port is calm; whoever has held `lock` since may
 * have left something, unless he says otherwise.  While it is calm and the
 * network silent a poll looks at the rings, and at what other ports write.
 */

struct vm_port {
	/* Constant after the open. */
	struct vm_fabric *fabric;
	unsigned index;
	const struct vm_fi *fi; /* NULL: only the loop */
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_av *av;
	struct fid_cq *cq;
	int wait_fd; /* -1: none, sleepers poll now and then, or ... */
	bool listed; /* ... several, which the provider tells */
	unsigned tx_depth, rx_depth;
	size_t inject_bytes, wire_bytes; /* largest injected; of a packet */
	bool by_reference;		 /* header and data may lie apart */

	struct vm_bias polling VM_ALIGNED(VM_CACHELINE);
	bool taken;		  /* under polling: the packet was kept */
	uint64_t counted;	  /* ... bytes received up to the last poll */
	_Atomic uint32_t looks;	  /* polls that took no lock; any poller */
	struct vm_inlets inlets;  /* also under lock where they change */
	struct vm_packet *record; /* stands for what lies in a ring */
	/* Written under lock, too. */
	struct vm_conn *hoped;	  /* who looks wants what comes from there */
	struct vm_packet *looked; /* ... and has got it; or NULL */
	size_t looked_bytes;	  /* ... bytes of its message */
	/* Under lock, and `polling` where it is taken away. */
	struct vm_packet *spare; /* for what is kept when there is no memory */
	/* Under lock. */
	struct vm_bias lock VM_ALIGNED(VM_CACHELINE);
	_Atomic bool calm; /* nothing below is for the next poll; see there */
	_Atomic bool left; /* who sleeps leaves it to others; not under lock */
	bool closing;
	bool ending;	  /* we wait for all to be confirmed */
	bool goodbye;	  /* was said to all we know */
	unsigned tx_used; /* what the network has of ours */
	unsigned orphans; /* ... that failed already */
	unsigned rx_posted, rx_target;
	unsigned conns; /* connections that exist */
	/* Credits of each sender, and of each that has a ring; updated from time
	 * to time. */
	uint32_t window, near_window;
	struct vm_pkts pkts;
	struct vm_list arrived;	 /* packets to be delivered */
	struct vm_list spent;	 /* ... that were: to be posted again */
	struct vm_packet *took;	 /* ... of which the connection does not know */
	struct vm_list ended;	 /* sends, chunks, operations to be reported */
	struct vm_list inflight; /* sends and chunks the network has */
	struct vm_list waiting;	 /* connections with a backlog */
	struct vm_list gone;	 /* processes to be reported as down */
	struct vm_list room;	 /* connections that accept data again */
	struct vm_list brim;	 /* ... whose data take the whole window */
	struct vm_list rma;	 /* operations with chunks to be posted */
	struct vm_list unsure;	 /* connections with something to confirm */
	struct vm_due_heap held;
	struct vm_contact **contacts; /* by process, or NULL */
	_Atomic uint32_t deaths;      /* of fabric->deaths that were seen */
	uint64_t asked;		      /* the poll that last asked the network */
	uint32_t unasked;	      /* polls until it is asked again */
	uint64_t shrunk_ns;	      /* when the pool was last checked */
	bool woken;		      /* a sleeper was woken for this port */
	unsigned spurious;	      /* times in a row there was nothing */
	bool leavers;		      /* somebody has said goodbye */
	struct fabric_port_pvars pvars;
	/* Written by other ports: what they send us by the loop. */
	struct vm_lock inbox_lock VM_ALIGNED(VM_CACHELINE);
	struct vm_list inbox;
	_Atomic bool inbox_full; /* there is something in it */
};

/* Whether the network may copy a packet of so many bytes at once. */
static inline bool vm_port_injects(const struct vm_port *port, size_t bytes)
{
	return bytes <= port->inject_bytes;
}

static inline void vm_port_lock(struct vm_port *port)
{
	vm_bias_take(&port->lock);
}

/* The caller has left nothing for the next poll, or stirred the port. */
static inline void vm_port_unlock_calm(struct vm_port *port)
{
	vm_bias_give(&port->lock);
}

/* Under lock: there is something for the next poll. */
static inline void vm_port_stir(struct vm_port *port)
{
	/* Pairs with the load in is_vain(), at some later poll. */
	atomic_store_explicit(&port->calm, false, memory_order_relaxed);
}

static inline void vm_port_unlock(struct vm_port *port)
{
	vm_port_stir(port);
	vm_port_unlock_calm(port);
}

/* Under lock: something of the port waits for room, or for its time.  Who sleeps
 * does not know of it, and whoever has left it may not poll again; unless others
 * look after the port. */
void vm_port_owe(struct vm_port *port);

/* Under lock: holds a packet back until then. */
void vm_port_hold(struct vm_port *port, struct vm_due *due, uint64_t when);

/* Opens and closes the network's objects of the port; for the fabric. */
int vm_port_init(struct vm_port *port, struct vm_fabric *fabric,
		 unsigned index);
void vm_port_fini(struct vm_port *port);

/* Under lock: whether the network may get one more.  Packets that it still has
 * for dead processes do not count: it may have those forever. */
static inline bool vm_port_room(const struct vm_port *port)
{
	unsigned used = port->tx_used - port->orphans;

	return used < port->tx_depth &&
	       used < (uint64_t)fabric_cvar.send_inflight;
}

/* Under lock: the network has got one more, or is done with one. */
static inline void vm_port_inflight_add(struct vm_port *port)
{
	port->tx_used++;
	vm_pvar_add(port->pvars.inflight, 1);
	vm_pvar_max(port->pvars.inflight_max, port->pvars.inflight);
}

static inline void vm_port_landed(struct vm_port *port)
{
	port->tx_used--;
	vm_pvar_add(port->pvars.inflight, (uint64_t)-1);
}

/* Under lock: leaves a send or chunk that the network still has to it: its owner
 * is told otherwise. */
static inline void vm_port_orphan(struct vm_port *port, struct vm_packet *pkt)
{
	vm_list_remove(&pkt->link);
	if (pkt->use == VM_PKT_SEND && pkt->watched) {
		vm_overlap_forget(&pkt->xfer);
		pkt->watched = false;
	}
	pkt->orphan = true;
	port->orphans++;
}

/* Under lock: gives unused packets back once in a while. */
void vm_port_shrink(struct vm_port *port, uint64_t now);

/* Under lock: posts receives up to the target, of spent packets first. */
void vm_port_fill(struct vm_port *port);
/* Under lock: posts an arrived packet again after use, or frees it. */
void vm_port_recycle(struct vm_port *port, struct vm_packet *pkt);
/* Under lock: adapts window and target to the settings and the number of
 * connections. */
void vm_port_retarget(struct vm_port *port);

/* Returns a packet of the loop to the port that sent it; under no lock. */
void vm_loop_release(struct vm_packet *pkt);

/* Under lock: waits for an event of the network and handles it (poll.c).
 * Returns how many there were. */
int vm_port_read_wait(struct vm_port *port, int wait_ms);

/* Under lock: handles a message of the network, or of a ring (arrive.c): one
 * packet, or several, which are handled one by one. */
void vm_packet_arrived(struct vm_port *port, struct vm_packet *pkt,
		       size_t bytes);

/* Under lock: counts why a packet was rejected. */
void vm_port_reject(struct vm_port *port, enum vm_reject why);

/* Under lock: whether a poll has something to do besides the network. */
bool vm_port_busy(const struct vm_port *port);

#endif
