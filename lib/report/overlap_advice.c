/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One sentence: where most time of transfers was certainly not overlapped, and
 * what helps there.
 */
#include <string.h>

#include "report/overlap_merge.h"

/* The row of one rank with the most time that was not overlapped. */
struct worst {
	const struct vm_overlap_file *process;
	const struct vm_overlap *rank;
	unsigned section, bin;
	enum vm_side side;
	struct vm_overlap_row row;
	double lost_ns; /* data - max */
};

static void worst_offer(struct worst *worst, const struct worst *other)
{
	if (other->lost_ns > worst->lost_ns)
		*worst = *other;
}

static void rank_offer(struct worst *worst, const struct vm_overlap_file *file,
		       const struct vm_overlap *rank)
{
	struct worst one = { .process = file, .rank = rank };

	for (one.section = 0; one.section < rank->sections; one.section++)
		for (int side = 0; side < VM_SIDES; side++)
			for (one.bin = 0; one.bin < file->setup.bins;
			     one.bin++) {
				one.side = (enum vm_side)side;
				one.row = (struct vm_overlap_row){ 0 };
				vm_overlap_row_add(&one.row,
						   &rank->rows[one.section]
							      [side][one.bin]);
				one.lost_ns =
					(double)(one.row.data - one.row.max) *
					file->tick_ns;
				worst_offer(worst, &one);
			}
}

/* The rank's use of its time, all sections together, in ns. */
static double rank_time(const struct worst *worst)
{
	double sum = 0;

	for (unsigned s = 0; s < worst->rank->sections; s++)
		sum += (double)(worst->rank->list[s].user +
				worst->rank->list[s].call);
	return sum * worst->process->tick_ns;
}

/* Writes what would help. */
static void remedy(char *text, size_t bytes, const struct worst *worst,
		   const char *call)
{
	const struct vm_overlap_row *row = &worst->row;
	int workers = worst->process->workers ? worst->process->workers : 1;
	int v = (worst->process->rank_count + workers - 1) / workers;
	bool same = row->same_call * 2 >= row->transfers;
	const char *what;

	if (row->core_min * 2 >= row->data) {
		snprintf(text, bytes,
			 "its core ran other ranks meanwhile, so little is "
			 "lost");
		return;
	}
	if (same && strcasestr(call, "wait"))
		what = "the data is transferred only during the wait; call MPI_Test or "
		       "MPI_Iprobe while computing";
	else if (same && worst->side == VM_SIDE_RECEIVE)
		what = "post receives earlier (MPI_Irecv) and compute before "
		       "the wait";
	else if (same)
		what = "send with MPI_Isend and compute before the wait";
	else
		what = "compute longer between the start and the wait, and call "
		       "MPI_Test in between";
	snprintf(text, bytes, "%s, or run V >= %d ranks per core", what,
		 v < 2 ? 3 : v + 1);
}

static void range_text(char text[64], const struct vm_overlap_setup *setup,
		       unsigned bin)
{
	static const struct vm_overlap_range words = { "", " of up to %s",
						       " of %s to %s",
						       " of more than %s" };

	vm_overlap_range_text(text, setup, bin, &words);
}

static void sentence(char *text, size_t bytes, const struct worst *worst,
		     const struct vm_overlap_job *job)
{
	const struct vm_overlap_row *row = &worst->row;
	char range[64], path[256], where[300] = "", help[192];
	const char *call =
		job->call_name(worst->rank->list[worst->section].leader);

	range_text(range, &worst->process->setup, worst->bin);
	vm_overlap_section_path(worst->rank, worst->section, path,
				sizeof(path));
	if (path[0])
		snprintf(where, sizeof(where), " in section %s", path);
	remedy(help, sizeof(help), worst, call);
	snprintf(text, bytes,
		 "rank %d: %.0f %% of the transfer time of its %ss%s%s was not "
		 "overlapped (%.3f ms), and most of its call time there was "
		 "spent in %s: %s",
		 worst->rank->rank,
		 100 * (double)(row->data - row->max) / (double)row->data,
		 worst->side == VM_SIDE_SEND ? "send" : "receive", range, where,
		 worst->lost_ns / 1e6, call, help);
}

#define SMALL 0.01 /* of a rank's time: not worth a change */

void vm_overlap_advice(const struct vm_overlap_job *job, char *text,
		       size_t bytes)
{
	struct worst worst = { 0 };

	for (int p = 0; p < job->count; p++)
		for (int i = 0; job->files[p] && i < job->files[p]->rank_count;
		     i++)
			rank_offer(&worst, job->files[p],
				   &job->files[p]->rank[i]);
	if (!worst.rank)
		snprintf(text, bytes, "all transfers may have been overlapped");
	else if (worst.lost_ns < SMALL * rank_time(&worst))
		snprintf(text, bytes,
			 "no rank spends 1 %% or more of its time on transfers "
			 "of one kind that are not overlapped");
	else
		sentence(text, bytes, &worst, job);
}
