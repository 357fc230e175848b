/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the slices are used up, each two become one.
 */
#include "introspect/measure/sites.h"

#include <stddef.h>

void vm_sites_init(struct vm_sites *sites, uint64_t begin)
{
	sites->begin = begin;
	sites->width = VM_SITES_WIDTH;
	sites->last = begin;
	sites->count = 1; /* of all that have no room */
}

static void double_width(struct vm_sites *sites)
{
	for (int i = 0; i < VM_SITES_SLICES; i++) {
		uint64_t two = 0;

		for (int k = 2 * i; k < 2 * i + 2 && k < VM_SITES_SLICES; k++)
			two += sites->slices[k];
		sites->slices[i] = two;
	}
	sites->width *= 2;
}

void vm_sites_widen(struct vm_sites *sites, uint64_t width)
{
	while (sites->width < width)
		double_width(sites);
}

/* The run time since the last time, spread evenly over the slices since. */
static void slices_add(struct vm_sites *sites, uint64_t now, uint64_t had)
{
	uint64_t from = sites->last - sites->begin, to = now - sites->begin;
	double part, run = (double)(had - sites->had);

	if (now <= sites->last)
		return;
	while (to / sites->width >= VM_SITES_SLICES)
		double_width(sites);
	part = run / (double)(to - from);
	for (uint64_t i = from / sites->width; i <= to / sites->width; i++) {
		uint64_t begin = i * sites->width, end = begin + sites->width;

		begin = begin > from ? begin : from;
		end = end < to ? end : to;
		sites->slices[i] += (uint64_t)((double)(end - begin) * part);
	}
	sites->last = now;
	sites->had = had;
}

/* The first one is that of all for which there is no room. */
static struct vm_site *site_find(struct vm_sites *sites, uint32_t call,
				 const void *from)
{
	struct vm_site *site;

	for (unsigned i = 1; i < sites->count; i++)
		if (sites->list[i].from == from && sites->list[i].call == call)
			return &sites->list[i];
	if (sites->count == VM_SITES_MAX)
		return &sites->list[0];
	site = &sites->list[sites->count++];
	*site = (struct vm_site){ .from = from,
				  .call = call,
				  .peer = VM_SITES_NOBODY };
	return site;
}

void vm_sites_enter(struct vm_sites *sites, uint64_t now, uint64_t idle,
		    uint64_t had, uint32_t call, const void *from)
{
	slices_add(sites, now, had);
	sites->open = site_find(sites, call, from);
	sites->open->count++;
	sites->time = now;
	sites->idle = idle;
}

/* Whoever is more than half of all is left in the end. */
static void peer_add(struct vm_site *site, int32_t peer, uint64_t idle)
{
	if (peer == site->peer) {
		site->idle_peer += idle;
	} else if (site->idle_peer >= idle) {
		site->idle_peer -= idle;
	} else {
		site->idle_peer = idle - site->idle_peer;
		site->peer = peer;
	}
}

void vm_sites_exit(struct vm_sites *sites, uint64_t now, uint64_t idle,
		   uint64_t had, int32_t peer, bool sends)
{
	struct vm_site *site = sites->open;
	uint64_t waited = idle - sites->idle;

	slices_add(sites, now, had);
	sites->open = NULL;
	if (!site)
		return;
	site->time += now - sites->time;
	site->idle += waited;
	if (sends)
		site->idle_sends += waited;
	if (waited)
		peer_add(site, peer, waited);
}
