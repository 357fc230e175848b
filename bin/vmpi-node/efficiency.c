/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One piece of memory, which is also the blob: the sections, outer ones before
 * inner ones, then the cores of each.
 */
#include "efficiency.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "boot/boot.h"
#include "core/instrument/intercept.h"
#include "core/instrument/profiler.h"
#include "core/rank/vars.h"
#include "introspect/vars/cvar.h"
#include "node.h"
#include "report/profile_report.h"

#define BLOB "efficiency"
#define SECTIONS_MAX 64 /* of a job; further ones are not printed */
#define BYTES_MAX 60000 /* of one process */

struct section {
	char name[VM_PROFILE_NAME];
	int32_t parent; /* -1: it is the whole */
	uint32_t ranks; /* that were in it */
	double elapsed; /* ns, of that which was longest in it */
};

struct efficiency {
	uint32_t sections, cores;
	struct section section[SECTIONS_MAX];
	struct vm_pop_core core[]; /* `cores` of each section */
};

static size_t bytes_of(uint32_t sections, uint32_t cores)
{
	return sizeof(struct efficiency) +
	       (size_t)sections * cores * sizeof(struct vm_pop_core);
}

int efficiency_prepare(void)
{
	if (core_cvar.profile[0])
		return 0;
	return vm_cvar_set("core_profile", VM_PROFILER_NONE, VM_SOURCE_COMMAND);
}

static void sections_take(struct efficiency *own,
			  const struct vm_profile_job *job)
{
	for (uint32_t s = 0; s < own->sections; s++) {
		const struct vm_profile_part *part = &job->parts[s];
		struct section *section = &own->section[s];

		snprintf(section->name, sizeof(section->name), "%s",
			 part->name);
		section->parent = part->parent;
		section->ranks = part->ranks;
		section->elapsed = part->pop.elapsed;
	}
	memcpy(own->core, job->cores,
	       (size_t)own->sections * own->cores * sizeof(own->core[0]));
}

struct efficiency *efficiency_take(void)
{
	struct vm_profile_job job = { .call_name = vm_intercept_call_name };
	struct vm_profile_file *file = vm_profiler_file();
	struct efficiency *own = NULL;
	uint32_t sections;

	if (!file || vm_profile_job_of(&job, file)) {
		vm_profile_job_fini(&job);
		return NULL;
	}
	sections = job.part_count < SECTIONS_MAX ? job.part_count :
						   SECTIONS_MAX;
	while (sections > 1 && bytes_of(sections, job.core_count) > BYTES_MAX)
		sections--;
	own = calloc(1, bytes_of(sections, job.core_count));
	if (own) {
		own->sections = sections;
		own->cores = job.core_count;
		sections_take(own, &job);
	}
	vm_profile_job_fini(&job);
	return own;
}

int efficiency_put(const struct efficiency *own)
{
	return vm_boot_put(node.boot, BLOB, own,
			   bytes_of(own->sections, own->cores));
}

/* The section of the sum for one of another process; -1: no room. */
static int section_find(struct efficiency *all, const struct section *section,
			int parent)
{
	for (uint32_t s = 0; s < all->sections; s++)
		if (all->section[s].parent == parent &&
		    !strcmp(all->section[s].name, section->name))
			return (int)s;
	if (all->sections == SECTIONS_MAX ||
	    (section->parent >= 0 && parent < 0))
		return -1;
	all->section[all->sections] = *section;
	all->section[all->sections].parent = parent;
	all->section[all->sections].ranks = 0;
	return (int)all->sections++;
}

/* Room for all sections, with more cores behind those that there are. */
static struct efficiency *widen(const struct efficiency *all, uint32_t cores)
{
	struct efficiency *wide =
		calloc(1, bytes_of(SECTIONS_MAX, all->cores + cores));

	if (!wide)
		return NULL;
	*wide = *all;
	wide->cores += cores;
	for (uint32_t s = 0; s < all->sections; s++)
		memcpy(&wide->core[s * wide->cores], &all->core[s * all->cores],
		       all->cores * sizeof(all->core[0]));
	return wide;
}

static void merge(struct efficiency *all, const struct efficiency *more)
{
	uint32_t first = all->cores - more->cores;
	int index[SECTIONS_MAX];

	for (uint32_t s = 0; s < more->sections; s++) {
		const struct section *section = &more->section[s];
		int parent = section->parent < 0 ? -1 : index[section->parent];
		struct section *sum;

		index[s] = section_find(all, section, parent);
		if (index[s] < 0)
			continue;
		sum = &all->section[index[s]];
		sum->ranks += section->ranks;
		if (sum->elapsed < section->elapsed)
			sum->elapsed = section->elapsed;
		memcpy(&all->core[(uint32_t)index[s] * all->cores + first],
		       &more->core[s * more->cores],
		       more->cores * sizeof(more->core[0]));
	}
}

static bool is_sound(const struct efficiency *more, size_t bytes)
{
	if (bytes < sizeof(*more) || more->sections > SECTIONS_MAX ||
	    bytes != bytes_of(more->sections, more->cores))
		return false;
	for (uint32_t s = 0; s < more->sections; s++)
		if (more->section[s].parent >= (int32_t)s)
			return false;
	return true;
}

int efficiency_add(struct efficiency **all, int p)
{
	struct efficiency *more = malloc(VM_BOOT_BLOB_MAX), *wide = NULL;
	size_t bytes;
	int rc = more ? vm_boot_get(node.boot, more, &bytes, VM_BOOT_BLOB_MAX,
				    p, BLOB) :
			-VMPI_ENOMEM;

	if (!rc && !is_sound(more, bytes))
		rc = -VMPI_EINVAL;
	if (!rc) {
		wide = widen(*all, more->cores);
		rc = wide ? 0 : -VMPI_ENOMEM;
	}
	if (rc) {
		vm_log(VM_ERROR,
		       "--summary: the efficiency of node %d is not known", p);
	} else {
		merge(wide, more);
		free(*all);
		*all = wide;
	}
	free(more);
	return rc;
}

/* "section solve/halo: ", from the outermost one on. */
static void path_print(const struct efficiency *all, int s, FILE *out)
{
	int parent = all->section[s].parent;

	fputs(parent > 0 ? "" : "section ", out);
	if (parent > 0) {
		path_print(all, parent, out);
		fputc('/', out);
	}
	fputs(all->section[s].name, out);
}

void efficiency_print(const struct efficiency *all, const char *begin,
		      FILE *out)
{
	for (uint32_t s = 0; s < all->sections; s++) {
		struct vm_pop pop;

		if (!vm_pop_of(&pop, &all->core[s * all->cores], all->cores,
			       all->section[s].elapsed, s == 0))
			continue;
		fputs(begin, out);
		if (s) {
			path_print(all, (int)s, out);
			fputs(": ", out);
		}
		fprintf(out,
			"parallel efficiency %.1f %% = load balance %.1f %% x "
			"serialisation %.1f %% x transfer %.1f %%\n",
			100 * pop.parallel, 100 * pop.balance,
			100 * pop.serialisation, 100 * pop.transfer);
	}
}
