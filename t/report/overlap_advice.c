/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sentence about the worst row of made-up measures: where it is, by how
 * much, and what helps there.
 */
#include <stdio.h>
#include <string.h>

#include "report/overlap_report.h"
#include "tap.h"

#define MS UINT64_C(1000000)
#define SEND 1
#define RECEIVE 2
#define WAIT 3

static const char *call_name(uint32_t call)
{
	static const char *const names[] = { "", "MPI_Send", "MPI_Recv",
					     "MPI_Waitall" };

	return names[call];
}

/* A process of so many ranks and workers; each rank computes for 90 ms, and is
 * in calls for 10 ms. */
static struct vm_overlap_file *process_new(int process, int ranks, int workers,
					   const char *bins)
{
	struct vm_overlap_file head = { .process = process,
					.processes = 2,
					.rank_first = 10 * process,
					.rank_count = ranks,
					.ranks = 20,
					.workers = workers,
					.tick_ns = 1 };
	struct vm_overlap_file *file;
	char why[200];

	if (vm_overlap_bins_parse(&head.setup, bins, why, sizeof(why)) ||
	    vm_overlap_file_new(&file, "", &head))
		bail("no measures of process %d", process);
	for (int i = 0; i < ranks; i++) {
		struct vm_overlap *rank = &file->rank[i];

		rank->rank = head.rank_first + i;
		rank->sections = 3;
		rank->list[0].parent = -1;
		rank->list[0].user = 90 * MS;
		rank->list[0].call = 10 * MS;
		rank->list[2].parent = 1;
		strcpy(rank->list[1].name, "outer");
		strcpy(rank->list[2].name, "inner");
	}
	return file;
}

/* Transfers of which so much was not overlapped, of so much time. */
static struct vm_overlap_row row_of(uint64_t lost_ns, uint64_t data_ns)
{
	return (struct vm_overlap_row){ .transfers = 10,
					.bytes = 640,
					.data = data_ns,
					.max = data_ns - lost_ns };
}

static void says(struct vm_overlap_file *first, struct vm_overlap_file *second,
		 const char *want, const char *name)
{
	struct vm_overlap_file *files[] = { first, NULL, second };
	const struct vm_overlap_job job = { .files = files,
					    .count = 3,
					    .call_name = call_name };
	char text[600];

	vm_overlap_advice(&job, text, sizeof(text));
	is_string(text, want, "%s", name);
}

static void nothing(void)
{
	struct vm_overlap_file *file = process_new(0, 2, 1, "1K");
	struct vm_overlap_row *row = &file->rank[1].rows[0][VM_SIDE_RECEIVE][0];

	says(file, NULL, "all transfers may have been overlapped",
	     "there are no transfers");
	*row = row_of(0, 50 * MS);
	says(file, NULL, "all transfers may have been overlapped",
	     "all are overlapped");
	*row = row_of(MS - 1, 50 * MS);
	says(file, NULL,
	     "no rank spends 1 % or more of its time on transfers of one kind "
	     "that are not overlapped",
	     "a little less than 1 % of the time is not");
	vm_overlap_file_free(file);
}

/* The worst of all rows, ranks and processes; each one is worse. */
static void worst(void)
{
	struct vm_overlap_file *one = process_new(0, 4, 2, "1K,16K");
	struct vm_overlap_file *other = process_new(1, 9, 2, "");

	one->rank[1].rows[0][VM_SIDE_SEND][0] = row_of(MS, 4 * MS);
	says(one, other,
	     "rank 1: 25 % of the transfer time of its sends of up to 1K was "
	     "not overlapped (1.000 ms), and most of its call time there was "
	     "spent in : compute longer between the start and the wait, and "
	     "call MPI_Test in between, or run V >= 3 ranks per core",
	     "1 % of the time is not overlapped");
	one->rank[3].list[1].leader = SEND;
	one->rank[3].rows[1][VM_SIDE_SEND][1] = row_of(2 * MS, 2 * MS);
	one->rank[3].rows[1][VM_SIDE_SEND][1].same_call = 5;
	says(one, other,
	     "rank 3: 100 % of the transfer time of its sends of 1K to 16K in "
	     "section outer was not overlapped (2.000 ms), and most of its "
	     "call time there was spent in MPI_Send: send with MPI_Isend and "
	     "compute before the wait, or run V >= 3 ranks per core",
	     "sends within a call");
	one->rank[0].list[2].leader = RECEIVE;
	one->rank[0].rows[2][VM_SIDE_RECEIVE][2] = row_of(3 * MS, 6 * MS);
	one->rank[0].rows[2][VM_SIDE_RECEIVE][2].same_call = 10;
	says(one, other,
	     "rank 0: 50 % of the transfer time of its receives of more than "
	     "16K in section outer/inner was not overlapped (3.000 ms), and "
	     "most of its call time there was spent in MPI_Recv: post receives "
	     "earlier (MPI_Irecv) and compute before the wait, or run V >= 3 "
	     "ranks per core",
	     "receives within a call");
	other->rank[8].list[0].leader = WAIT;
	other->rank[8].rows[0][VM_SIDE_RECEIVE][0] = row_of(4 * MS, 8 * MS);
	other->rank[8].rows[0][VM_SIDE_RECEIVE][0].same_call = 10;
	says(one, other,
	     "rank 18: 50 % of the transfer time of its receives was not "
	     "overlapped (4.000 ms), and most of its call time there was spent "
	     "in MPI_Waitall: the data is transferred only during the wait; "
	     "call MPI_Test or MPI_Iprobe while computing, or run V >= 6 ranks "
	     "per core",
	     "transfers within a wait, of a process with more ranks per core");
	other->rank[8].rows[0][VM_SIDE_RECEIVE][0].core_min = 4 * MS;
	says(one, other,
	     "rank 18: 50 % of the transfer time of its receives was not "
	     "overlapped (4.000 ms), and most of its call time there was spent "
	     "in MPI_Waitall: its core ran other ranks meanwhile, so little is "
	     "lost",
	     "the core overlaps what the rank does not");
	vm_overlap_file_free(one);
	vm_overlap_file_free(other);
}

/* A process whose workers are unknown has one; ticks are its own. */
static void units(void)
{
	struct vm_overlap_file *file = process_new(0, 1, 0, "1K");

	file->tick_ns = 0.5;
	file->rank[0].list[0].leader = SEND;
	file->rank[0].rows[0][VM_SIDE_SEND][0] = row_of(6 * MS, 8 * MS);
	file->rank[0].rows[0][VM_SIDE_SEND][0].same_call = 4;
	says(file, NULL,
	     "rank 0: 75 % of the transfer time of its sends of up to 1K was "
	     "not overlapped (3.000 ms), and most of its call time there was "
	     "spent in MPI_Send: compute longer between the start and the "
	     "wait, and call MPI_Test in between, or run V >= 3 ranks per core",
	     "one rank per core is not advised to stay alone");
	vm_overlap_file_free(file);
}

int main(void)
{
	nothing();
	worst();
	units();
	return done_testing();
}
