/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The merged table, and advice for its worst row.
 */
#include "report/overlap_merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/whole.h"
#include "introspect/vars/value.h"
#include "report/json.h"

#define PATH_BYTES 512
#define SECTIONS_MAX 256 /* of all ranks; more are not shown */

/* The sums of one section over all ranks; times in ns. */
struct section {
	char path[PATH_BYTES];
	double user, call;
	struct vm_overlap_row row[VM_SIDES][VM_OVERLAP_BINS];
};

struct overlap_merge {
	struct section *sections;
	unsigned count;
	const struct vm_overlap_setup *setup; /* all have the same bins */
	int ranks, ranks_all, processes, workers, missing;
	uint64_t open, sections_lost, capped, transfers;
};

void vm_overlap_edge_text(char text[24], uint64_t edge)
{
	const struct vm_cvar row = { .type = VM_VAR_SIZE };

	if (edge == UINT64_MAX)
		memcpy(text, "more", 5);
	else
		vm_value_pretty(&row, text, (int64_t)edge);
}

/* "16K..128K" */
void vm_overlap_range_text(char text[64], const struct vm_overlap_setup *setup,
			   unsigned bin, const struct vm_overlap_range *words)
{
	char low[24], high[24];

	vm_overlap_edge_text(high, setup->edge[bin]);
	if (bin)
		vm_overlap_edge_text(low, setup->edge[bin - 1]);
	if (setup->bins == 1)
		snprintf(text, 64, "%s", words->all);
	else if (!bin)
		snprintf(text, 64, words->first, high);
	else if (bin == setup->bins - 1)
		snprintf(text, 64, words->last, low);
	else
		snprintf(text, 64, words->middle, low, high);
}

static void bin_text(char text[64], const struct vm_overlap_setup *setup,
		     unsigned bin)
{
	static const struct vm_overlap_range words = { "all", "..%s", "%s..%s",
						       "%s.." };

	vm_overlap_range_text(text, setup, bin, &words);
}

static struct section *section_of(struct overlap_merge *merge, const char *path)
{
	for (unsigned i = 0; i < merge->count; i++)
		if (!strcmp(merge->sections[i].path, path))
			return &merge->sections[i];
	if (merge->count == SECTIONS_MAX)
		return NULL;
	snprintf(merge->sections[merge->count].path, PATH_BYTES, "%s", path);
	return &merge->sections[merge->count++];
}

/* In nanoseconds, since each process has its own ticks. */
static void row_scale(struct vm_overlap_row *row, double tick_ns)
{
	uint64_t *const times[] = { &row->data,	    &row->min,
				    &row->max,	    &row->core_min,
				    &row->core_max, &row->open_data };

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		*times[i] = vm_whole((double)*times[i] * tick_ns);
}

static void rank_merge(struct overlap_merge *merge,
		       const struct vm_overlap *rank, double tick_ns)
{
	char path[PATH_BYTES];

	for (unsigned s = 0; s < rank->sections; s++) {
		struct section *section;

		vm_overlap_section_path(rank, s, path, sizeof(path));
		section = section_of(merge, path);
		if (!section)
			continue;
		section->user += (double)rank->list[s].user * tick_ns;
		section->call += (double)rank->list[s].call * tick_ns;
		for (int side = 0; side < VM_SIDES; side++)
			for (unsigned bin = 0; bin < merge->setup->bins;
			     bin++) {
				struct vm_overlap_row row =
					rank->rows[s][side][bin];

				row_scale(&row, tick_ns);
				vm_overlap_row_add(&section->row[side][bin],
						   &row);
				merge->open += row.open;
				merge->capped += row.capped;
				merge->transfers += row.transfers + row.open;
			}
	}
	merge->sections_lost += rank->sections_lost;
	merge->ranks++;
}

/* To be freed: merge->sections. */
static bool merge_make(struct overlap_merge *merge,
		       const struct vm_overlap_job *job)
{
	*merge = (struct overlap_merge){ 0 };
	merge->sections = calloc(SECTIONS_MAX, sizeof(*merge->sections));
	if (!merge->sections)
		return false;
	for (int p = 0; p < job->count; p++) {
		const struct vm_overlap_file *file = job->files[p];

		if (!file) {
			merge->missing++;
			continue;
		}
		if (!merge->setup)
			merge->setup = &file->setup;
		merge->processes++;
		merge->workers += file->workers;
		merge->ranks_all = file->ranks;
		for (int i = 0; i < file->rank_count; i++)
			if (file->rank[i].sections)
				rank_merge(merge, &file->rank[i],
					   file->tick_ns);
	}
	return merge->setup != NULL;
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static void row_print(FILE *file, const char *prefix, const char *section,
		      const char *side, const char *bin,
		      const struct vm_overlap_row *row)
{
	double data = (double)row->data;

	fprintf(file,
		"%s%-20s %-8s %-10s %10" PRIu64 " %11.3f  %5.1f .. %5.1f"
		"  %5.1f .. %5.1f\n",
		prefix, section[0] ? section : "/", side, bin, row->transfers,
		data / 1e6, percent((double)row->min, data),
		percent((double)row->max, data),
		percent((double)row->core_min, data),
		percent((double)row->core_max, data));
}

static void section_print(const struct overlap_merge *merge,
			  const struct section *section, FILE *file,
			  const char *prefix)
{
	fprintf(file,
		"%s%-20s user computation %.3f ms, communication calls %.3f "
		"ms\n",
		prefix, section->path[0] ? section->path : "/",
		section->user / 1e6, section->call / 1e6);
	for (int side = 0; side < VM_SIDES; side++)
		for (unsigned bin = 0; bin < merge->setup->bins; bin++) {
			char text[64];

			bin_text(text, merge->setup, bin);
			if (section->row[side][bin].transfers)
				row_print(file, prefix, section->path,
					  vm_overlap_side_name(
						  (enum vm_side)side),
					  text, &section->row[side][bin]);
		}
}

/* Prints the reasons why the numbers may be too low. */
static void doubts_print(const struct overlap_merge *merge, FILE *file,
			 const char *prefix)
{
	if (merge->missing)
		fprintf(file, "%sno data from %d process(es)\n", prefix,
			merge->missing);
	if (merge->open)
		fprintf(file,
			"%s%" PRIu64
			" transfers had started and not finished\n",
			prefix, merge->open);
	if (merge->sections_lost)
		fprintf(file,
			"%s%" PRIu64
			" sections beyond the limit are counted in the enclosing "
			"ones\n",
			prefix, merge->sections_lost);
	if (merge->capped * 10 > merge->transfers)
		fprintf(file,
			"%s%" PRIu64 " of %" PRIu64 " transfers took less than "
			"the table of transfer times says: run vmpi_info "
			"--calibrate again on this machine\n",
			prefix, merge->capped, merge->transfers);
}

void vm_overlap_job_print(const struct vm_overlap_job *job, FILE *file,
			  const char *prefix)
{
	char advice[512];
	struct overlap_merge merge;

	if (!merge_make(&merge, job)) {
		free(merge.sections);
		return;
	}
	fprintf(file,
		"%soverlap of %d rank%s on %d worker%s in %d process%s; of the "
		"data transfer time that much was overlapped:\n",
		prefix, merge.ranks, merge.ranks == 1 ? "" : "s", merge.workers,
		merge.workers == 1 ? "" : "s", merge.processes,
		merge.processes == 1 ? "" : "es");
	fprintf(file, "%s%-20s %-8s %-10s %10s %11s  %-14s  %-14s\n", prefix,
		"section", "side", "bytes", "transfers", "time ms",
		"by the rank %", "by its core %");
	for (unsigned i = 0; i < merge.count; i++)
		section_print(&merge, &merge.sections[i], file, prefix);
	doubts_print(&merge, file, prefix);
	vm_overlap_advice(job, advice, sizeof(advice));
	fprintf(file, "%s%s\n", prefix, advice);
	free(merge.sections);
}

void vm_overlap_job_json(const struct vm_overlap_job *job, FILE *file)
{
	char advice[512];
	struct overlap_merge merge;
	unsigned lines = 0;

	if (!merge_make(&merge, job)) {
		free(merge.sections);
		return;
	}
	fprintf(file,
		"{\"format\": \"vmpi-overlap 1\", \"ranks\": %d, \"measured\": "
		"%d, \"processes\": %d, \"workers\": %d,\n \"rows\": [",
		merge.ranks_all, merge.ranks, merge.processes, merge.workers);
	for (unsigned i = 0; i < merge.count; i++)
		for (int side = 0; side < VM_SIDES; side++)
			for (unsigned bin = 0; bin < merge.setup->bins; bin++) {
				const struct vm_overlap_row *row =
					&merge.sections[i].row[side][bin];
				char text[64];

				if (!row->transfers)
					continue;
				bin_text(text, merge.setup, bin);
				fprintf(file, "%s\n  {\"section\": ",
					lines++ ? "," : "");
				vm_json_string(file, merge.sections[i].path);
				fprintf(file,
					", \"side\": \"%s\", \"bin\": \"%s\"",
					vm_overlap_side_name(
						(enum vm_side)side),
					text);
#define FIELD(name, text) fprintf(file, ", \"" #name "\": %" PRIu64, row->name);
				VM_OVERLAP_ROW(FIELD)
#undef FIELD
				fputc('}', file);
			}
	vm_overlap_advice(job, advice, sizeof(advice));
	fprintf(file, "],\n \"advice\": ");
	vm_json_string(file, advice);
	fprintf(file, "}\n");
	free(merge.sections);
}
