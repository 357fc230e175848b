/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slabs of packets: mapped, cut, given back.
 */
#include "fabric/packet/pkt.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define SMALL_BYTES 256
#define MEDIUM_BYTES 2048
#define SLAB_HEAD 128
#define SLAB_PACKETS_LEAST 8
#define SLAB_LONG_LEAST 2		 /* of those above the wire's */
#define LONG_BYTES_LEAST UINT32_C(32768) /* payload of the first of them */

VM_STATIC_ASSERT(sizeof(struct vm_slab) <= SLAB_HEAD, "the head fits");

static size_t packet_bytes(uint32_t wire_bytes)
{
	return (sizeof(struct vm_packet) + wire_bytes + 63) & ~(size_t)63;
}

uint32_t vm_pool_payload(unsigned size)
{
	const uint32_t payload[VM_PKT_WIRE + 1] = {
		SMALL_BYTES, MEDIUM_BYTES, (uint32_t)fabric_cvar.packet_bytes
	};

	return size <= VM_PKT_WIRE ?
		       payload[size] :
		       LONG_BYTES_LEAST << (size - VM_PKT_WIRE - 1);
}

void vm_pkts_init(struct vm_pkts *pkts, struct vm_port *port,
		  struct fabric_port_pvars *pvars, uint32_t wire_bytes,
		  int (*reg)(struct vm_port *, struct vm_slab *, bool),
		  void (*changed)(struct vm_port *, int64_t, uint64_t))
{
	const uint32_t room[VM_PKT_WIRE + 1] = { SMALL_BYTES, MEDIUM_BYTES,
						 wire_bytes };

	*pkts = (struct vm_pkts){
		.port = port, .pvars = pvars, .reg = reg, .changed = changed
	};
	for (int i = 0; i < VM_PKT_CLASSES; i++) {
		struct vm_pkt_class *class = &pkts->class_[i];

		vm_list_init(&class->some);
		vm_list_init(&class->none);
		class->wire_bytes =
			i <= VM_PKT_WIRE ?
				room[i] :
				VM_WIRE_MAX + (LONG_BYTES_LEAST
					       << (i - VM_PKT_WIRE - 1));
	}
}

/* Reports the change before it is counted. */
static void pool_changes(struct vm_pkts *pkts, int64_t bytes)
{
	if (pkts->changed)
		pkts->changed(pkts->port, bytes,
			      pkts->pvars->pool_bytes + (uint64_t)bytes);
	vm_pvar_keep(pkts->pvars->pool_bytes, (uint64_t)bytes);
}

static void slab_free(struct vm_pkts *pkts, struct vm_slab *slab)
{
	vm_list_remove(&slab->link);
	if (pkts->reg)
		pkts->reg(pkts->port, slab, false);
	pool_changes(pkts, -(int64_t)slab->bytes);
	vm_pvar_add(pkts->pvars->pool_packets[slab->class_],
		    -(uint64_t)slab->packets);
	munmap(slab, slab->bytes);
}

void vm_pkts_fini(struct vm_pkts *pkts)
{
	for (int i = 0; i < VM_PKT_CLASSES; i++) {
		struct vm_list *lists[2] = { &pkts->class_[i].some,
					     &pkts->class_[i].none };

		for (int l = 0; l < 2; l++)
			while (!vm_list_empty(lists[l]))
				slab_free(pkts, vm_container_of(lists[l]->next,
								struct vm_slab,
								link));
	}
}

VM_STATIC_ASSERT(LONG_BYTES_LEAST << (VM_PKT_CLASSES - VM_PKT_WIRE - 2) ==
			 VM_LONG_BYTES_MAX,
		 "the last class takes the longest payload");

/* The number of packets of a new slab. */
static unsigned slab_packets(unsigned class_, size_t each)
{
	size_t packets = ((size_t)fabric_cvar.slab_bytes - SLAB_HEAD) / each;
	size_t least = class_ > VM_PKT_WIRE ? SLAB_LONG_LEAST :
					      SLAB_PACKETS_LEAST;

	return (unsigned)(packets < least ? least : packets);
}

static struct vm_slab *slab_new(struct vm_pkts *pkts, unsigned class_)
{
	struct vm_pkt_class *class = &pkts->class_[class_];
	size_t each = packet_bytes(class->wire_bytes);
	unsigned packets = slab_packets(class_, each);
	size_t bytes = SLAB_HEAD + each * packets;
	struct vm_slab *slab = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (slab == MAP_FAILED)
		return NULL;
	vm_list_init(&slab->free);
	slab->class_ = class_;
	slab->packets = packets;
	slab->bytes = bytes;
	if (pkts->reg && pkts->reg(pkts->port, slab, true) < 0) {
		munmap(slab, bytes);
		return NULL;
	}
	for (unsigned i = 0; i < packets; i++) {
		struct vm_packet *pkt =
			(void *)((char *)slab + SLAB_HEAD + i * each);

		pkt->port = pkts->port;
		pkt->slab = slab;
		vm_list_append(&slab->free, &pkt->link);
	}
	vm_list_append(&class->some, &slab->link);
	class->idle++;
	pool_changes(pkts, (int64_t)bytes);
	vm_pvar_add(pkts->pvars->pool_packets[class_], packets);
	vm_pvar_add(pkts->pvars->pool_grows, 1);
	vm_pvar_max(pkts->pvars->pool_bytes_max, pkts->pvars->pool_bytes);
	return slab;
}

/* The counter of used packets of a class. */
static uint64_t *used_of(struct vm_pkts *pkts, unsigned class_)
{
	uint64_t *const used[VM_PKT_WIRE + 2] = { &pkts->pvars->small_used,
						  &pkts->pvars->medium_used,
						  &pkts->pvars->large_used,
						  &pkts->pvars->long_used };

	return used[class_ <= VM_PKT_WIRE ? class_ : VM_PKT_WIRE + 1];
}

static unsigned class_of(const struct vm_pkts *pkts, size_t wire_bytes)
{
	unsigned i = 0;

	while (i < VM_PKT_CLASSES - 1 &&
	       wire_bytes > pkts->class_[i].wire_bytes)
		i++;
	return i;
}

struct vm_packet *vm_packet_get(struct vm_pkts *pkts, size_t wire_bytes)
{
	unsigned i = class_of(pkts, wire_bytes);
	struct vm_pkt_class *class = &pkts->class_[i];
	struct vm_slab *slab;
	struct vm_list *link;

	VM_ASSERT(wire_bytes <= class->wire_bytes);
	if (!vm_list_empty(&class->some))
		slab = vm_container_of(class->some.next, struct vm_slab, link);
	else
		slab = slab_new(pkts, i);
	if (!slab)
		return NULL;
	link = vm_list_pop(&slab->free);
	if (slab->used++ == 0)
		class->idle--;
	if (vm_list_empty(&slab->free)) {
		vm_list_remove(&slab->link);
		vm_list_append(&class->none, &slab->link);
	}
	if (++class->used > class->peak)
		class->peak = class->used;
	vm_pvar_add(*used_of(pkts, i), 1);
	return vm_container_of(link, struct vm_packet, link);
}

/* Puts the packet first: the one used last is used next, and is in cache. */
static void list_push(struct vm_list *list, struct vm_list *link)
{
	vm_list_append(list->next, link);
}

void vm_packet_put(struct vm_pkts *pkts, struct vm_packet *pkt)
{
	struct vm_slab *slab = pkt->slab;
	struct vm_pkt_class *class = &pkts->class_[slab->class_];

	VM_ASSERT(pkt->use != VM_PKT_FREE);
	pkt->use = VM_PKT_FREE;
	if (vm_list_empty(&slab->free)) {
		vm_list_remove(&slab->link);
		list_push(&class->some, &slab->link);
	}
	list_push(&slab->free, &pkt->link);
	if (--slab->used == 0)
		class->idle++;
	class->used--;
	vm_pvar_add(*used_of(pkts, slab->class_), (uint64_t)-1);
}

bool vm_packet_oversized(const struct vm_pkts *pkts,
			 const struct vm_packet *pkt, size_t wire_bytes)
{
	return class_of(pkts, wire_bytes) < pkt->slab->class_;
}

/* The number of idle slabs of a class that stay. */
static uint64_t slabs_kept(const struct vm_pkts *pkts, unsigned class_)
{
	if (class_ > VM_PKT_WIRE && !pkts->class_[class_].peak)
		return 0;
	return (uint64_t)fabric_cvar.pool_keep;
}

static void class_shrink(struct vm_pkts *pkts, unsigned class_)
{
	struct vm_pkt_class *class = &pkts->class_[class_];
	uint64_t kept = slabs_kept(pkts, class_);
	struct vm_list *link = class->some.next;

	while (class->idle > kept && link != &class->some) {
		struct vm_slab *slab =
			vm_container_of(link, struct vm_slab, link);

		link = link->next;
		if (slab->used)
			continue;
		slab_free(pkts, slab);
		class->idle--;
		vm_pvar_add(pkts->pvars->pool_shrinks, 1);
	}
}

void vm_pkts_shrink(struct vm_pkts *pkts)
{
	for (unsigned i = 0; i < VM_PKT_CLASSES; i++) {
		struct vm_pkt_class *class = &pkts->class_[i];

		class_shrink(pkts, i);
		__atomic_store_n(&pkts->pvars->pool_peak[i], class->peak,
				 __ATOMIC_RELAXED);
		class->peak = class->used;
	}
}

void vm_packet_move(struct vm_packet *to, struct vm_packet *from)
{
	ptrdiff_t shift = to->wire - from->wire;

	memcpy(to->wire, from->wire, from->wire_bytes);
	to->view = from->view;
	to->view.upper = (const char *)from->view.upper + shift;
	to->view.data = (const char *)from->view.data + shift;
	to->conn = from->conn;
	to->parts = from->parts;
	to->use = VM_PKT_RECEIVE;
	to->orphan = false;
	from->moved = true;
}
