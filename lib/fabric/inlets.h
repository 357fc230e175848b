/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings that come in at a port.  A poll looks at few of them
 * (base/watch.h), and now and then at all.
 */
#ifndef FABRIC_INLETS_H
#define FABRIC_INLETS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/watch.h"
#include "fabric/shm/ring.h"

struct vm_conn;
struct vm_port;

/* Records of a ring that were handed up where they lie, and of which their
 * connection does not know yet. */
struct vm_took {
	uint32_t data, control;
	uint32_t credits;
	uint64_t bytes;
};

/* A ring that comes in at a port. */
struct vm_inlet {
	struct vm_shm_reader reader;
	struct vm_conn *conn; /* NULL: not found yet */
	uint32_t process, from;
	bool open; /* its sender is known */
	/* Under polling. */
	struct vm_took took;
	uint32_t later; /* how many data records it may have */
};

#define VM_INLETS_FOUND 64

struct vm_inlets {
	struct vm_inlet *list;
	uint32_t count, room;
	uint32_t closed; /* of the first `count`: not open yet */
	/* For who takes no lock: how many senders there are, and how many of
	 * them the list shows. */
	const _Atomic uint32_t *taken;
	_Atomic uint32_t shown;
	struct vm_watch watch;	/* changed under polling, like: */
	_Atomic bool uncounted; /* some rings have `took` */
	struct vm_inlet *found[VM_INLETS_FOUND]; /* by sender */
	struct vm_inlet *looked; /* whose record was looked at, */
	uint16_t credits;	 /* ... and those that came with it */
	/* The one from which something came last; NULL: none.  Changed under
	 * polling. */
	_Atomic(struct vm_inlet *) last;
};

/* Of one port: 0 or -VMPI_ENOMEM. */
int vm_inlets_init(struct vm_port *port);
void vm_inlets_fini(struct vm_port *port);

static inline struct vm_shm_reader *
vm_inlets_watched(const struct vm_inlets *inlets, uint32_t i)
{
	return vm_container_of(vm_watch_at(&inlets->watch, i),
			       struct vm_shm_reader, watched);
}

/* Whether nothing is in the watched rings, and the bell was not rung. */
static inline bool vm_inlets_calm(const struct vm_inlets *inlets)
{
	uint32_t count = vm_watch_count(&inlets->watch);

	if (VM_UNLIKELY(vm_watch_rung(&inlets->watch)))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (vm_shm_peek(vm_inlets_watched(inlets, i)))
			return false;
	return true;
}

/* Under no lock.  Whether there is nothing to be read. */
static inline bool vm_inlets_silent(const struct vm_inlets *inlets)
{
	if (!inlets->room)
		return true;
	/* Pairs with the store in inlets_open(). */
	return VM_LIKELY(atomic_load_explicit(inlets->taken,
					      memory_order_relaxed) ==
			 atomic_load_explicit(&inlets->shown,
					      memory_order_acquire)) &&
	       vm_inlets_calm(inlets);
}

/* Under polling.  Hands short packets up; returns how many. */
int vm_inlets_deliver(struct vm_port *port, bool own);

/* Under polling.  The ring of that sender, once something came from it; or
 * NULL. */
struct vm_inlet *vm_inlet_find(struct vm_port *port, uint32_t process,
			       uint32_t from);

/*
 * Under polling, in a port that is still: the oldest record from there that can
 * be handed up where it lies, as port->record.  VM_DONE, -VMPI_EAGAIN: nothing came, from nobody; VM_PENDING: a poll is to see what did.
 */
int vm_inlets_look(struct vm_port *port, uint32_t process, uint32_t from,
		   int looks);

/* ... which has been taken. */
void vm_inlets_took(struct vm_port *port);

/* Under lock and polling.  Takes the other packets; returns how many. */
int vm_inlets_take(struct vm_port *port);

/* Under lock.  Whether there is something in the rings; in those of one
 * process. */
bool vm_inlets_busy(const struct vm_port *port);
bool vm_inlets_pending(const struct vm_port *port, uint32_t process);

#endif
