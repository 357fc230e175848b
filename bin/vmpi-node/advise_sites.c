/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where in the program the ranks of this process wait, with the lines of the
 * source, and what another placement of them could gain.
 *
 * Copies of a program lie at different addresses: places are the same if their
 * offsets in the file are.
 */
#include "advise.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/image/image.h"
#include "core/image/tied.h"
#include "core/instrument/intercept.h"
#include "core/instrument/profiler.h"
#include "core/local/engine.h"
#include "core/rank/state.h"
#include "introspect/measure/sites.h"
#include "node.h"
#include "report/advice.h"
#include "report/live/lines.h"

#define PLACES_MAX 512

/* A place of a call in a file. */
struct place {
	const char *path; /* "": unknown */
	size_t offset;
	uint32_t call;
	struct vm_advice_site site;
};

struct places {
	struct place list[PLACES_MAX];
	int count;
};

/* The file of an address, and the offset in it. */
static const char *file_of(const void *address, size_t *offset)
{
	Dl_info info;

	*offset = 0;
	if (!address)
		return "";
	if (node.image && vm_image_find(node.image, address, offset) >= 0)
		return vm_image_path(node.image);
	if (!dladdr(address, &info) || !info.dli_fname)
		return "";
	*offset =
		(size_t)((const char *)address - (const char *)info.dli_fbase);
	return info.dli_fname;
}

static struct place *place_find(struct places *places,
				const struct vm_site *site)
{
	size_t offset;
	const char *path = file_of(site->from, &offset);
	struct place *place = places->list;

	for (int i = 0; i < places->count; i++, place++)
		if (place->offset == offset && place->call == site->call &&
		    !strcmp(place->path, path))
			return place;
	if (places->count == PLACES_MAX)
		return NULL;
	places->count++;
	*place = (struct place){ .path = path,
				 .offset = offset,
				 .call = site->call,
				 .site = { .peer = VM_SITES_NOBODY } };
	snprintf(place->site.name, sizeof(place->site.name), "%s",
		 vm_intercept_call_name(site->call));
	return place;
}

static void site_add(struct places *places, const struct vm_site *site)
{
	struct place *place = place_find(places, site);
	struct vm_advice_site more;

	if (!place)
		return;
	more = place->site;
	more.count = site->count;
	more.time_ns = vm_clock_span_ns(site->time);
	more.idle_ns = vm_clock_span_ns(site->idle);
	more.idle_sends_ns = vm_clock_span_ns(site->idle_sends);
	more.peer = site->peer;
	more.idle_peer_ns = vm_clock_span_ns(site->idle_peer);
	vm_advice_site_fold(&place->site, &more);
}

/* Gives the places the lines of their source; those of one file share its debug
 * information. */
static void lines_find(struct places *places)
{
	struct vm_lines *source = NULL;
	const char *path = "";

	for (int i = 0; i < places->count; i++) {
		struct place *place = &places->list[i];

		if (place->path[0] && strcmp(place->path, path)) {
			vm_lines_close(source);
			path = place->path;
			source = vm_lines_open(path);
		}
		if (place->path[0] && source)
			vm_lines_caller(source, place->site.place,
					sizeof(place->site.place),
					place->offset);
	}
	vm_lines_close(source);
}

static int sites_take(struct vm_advice_facts *facts)
{
	struct places *places = calloc(1, sizeof(*places));

	if (!places)
		return -VMPI_ENOMEM;
	for (int i = 0; i < node.ranks; i++) {
		const struct vm_sites *sites =
			vm_profiler_sites(vm_node->own[i]);

		for (unsigned s = 0; sites && s < sites->count; s++)
			if (sites->list[s].count)
				site_add(places, &sites->list[s]);
	}
	lines_find(places);
	for (int i = 0; i < places->count; i++)
		vm_advice_site_add(facts, &places->list[i].site);
	free(places);
	return 0;
}

/* The slices of all ranks here get the same width. */
static void slices_even(void)
{
	uint64_t width = 0;

	for (int i = 0; i < node.ranks; i++) {
		const struct vm_sites *sites =
			vm_profiler_sites(vm_node->own[i]);

		width = sites && sites->width > width ? sites->width : width;
	}
	for (int i = 0; i < node.ranks; i++) {
		struct vm_sites *sites = vm_profiler_sites(vm_node->own[i]);

		if (sites)
			vm_sites_widen(sites, width);
	}
}

static int balance_take(struct vm_advice_facts *facts)
{
	size_t count = (size_t)node.ranks;
	uint64_t *loads = calloc(count * VM_SITES_SLICES, sizeof(*loads));
	unsigned *workers = calloc(count, sizeof(*workers));
	int rc = loads && workers ? 0 : -VMPI_ENOMEM;

	slices_even();
	for (size_t i = 0; i < count && !rc; i++) {
		const struct vm_sites *sites =
			vm_profiler_sites(vm_node->own[i]);

		workers[i] = (unsigned)vm_node->own[i]->engine->index;
		for (int s = 0; sites && s < VM_SITES_SLICES; s++)
			loads[i * VM_SITES_SLICES + (size_t)s] =
				vm_clock_span_ns(sites->slices[s]);
	}
	if (!rc)
		rc = vm_advice_balance(&facts->moments_ns, &facts->placed_ns,
				       loads, (unsigned)count, VM_SITES_SLICES,
				       workers,
				       (unsigned)vm_node->engine_count);
	free(loads);
	free(workers);
	return rc;
}

int advise_sites_take(struct vm_advice_facts *facts)
{
	int rc = sites_take(facts);

	facts->tied = node.image && vm_image_tied(node.image);
	return rc ? rc : balance_take(facts);
}
