/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounds on overlap: all cases in the small, each with the numbers of the
 * definition; sections, bins, the ring, many threads.
 */
#include "introspect/measure/overlap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static struct vm_overlap_setup setup = {
	.bins = 1,
	.edge = { UINT64_MAX },
	.table = { .count = { 2, 2, 2 },
		   .point = { { { 1, 1 }, { 1000, 1000 } },
			      { { 1, 1 }, { 1000, 1000 } },
			      { { 1, 1 }, { 1000, 1000 } } } },
};

static struct vm_overlap overlap;
static struct vm_overlap_core core;

static void begin(void)
{
	memset(&overlap, 0, sizeof(overlap));
	memset(&core, 0, sizeof(core));
	vm_overlap_init(&overlap, &setup, &core, 0, true);
}

static struct vm_overlap_row sum(void)
{
	struct vm_overlap_row all = { 0 };

	vm_overlap_fold(&overlap);
	for (int s = 0; s < VM_OVERLAP_SECTIONS; s++)
		for (int side = 0; side < VM_SIDES; side++)
			for (unsigned bin = 0; bin < setup.bins; bin++)
				vm_overlap_row_add(&all,
						   &overlap.rows[s][side][bin]);
	return all;
}

static void is_bounds(uint64_t data, uint64_t min, uint64_t max,
		      const char *what)
{
	struct vm_overlap_row all = sum();

	ok(all.data == data && all.min == min && all.max == max,
	   "%s: %ld of %ld to %ld of %ld", what, (long)all.min, (long)all.data,
	   (long)all.max, (long)all.data);
}

static void test_start(void)
{
	begin();
	vm_overlap_half(&overlap, VM_SIDE_RECEIVE, VM_PATH_FABRIC, 60);
	vm_overlap_start(&overlap, 100);
	vm_overlap_exit(&overlap, 110);
	is_int((long)overlap.list[0].call, 10,
	       "what passed before the task started was not its time");
	vm_overlap_start(&overlap, 130); /* ignored: it computes */
	vm_overlap_enter(&overlap, 140, 1);
	vm_overlap_start(&overlap, 150); /* ignored: its next body */
	vm_overlap_exit(&overlap, 160);
	ok(overlap.list[0].user == 30 && overlap.list[0].call == 30,
	   "all later time is");
	is_int((long)sum().half, 1,
	       "a packet that arrived before that is counted");
}

/* Begins in a call at 10, computes from 20 until `back`, ends in the call after
 * that at `end`. */
static void two_calls(uint64_t bytes, uint64_t back, uint64_t end)
{
	struct vm_overlap_xfer xfer;

	begin();
	vm_overlap_begin(&overlap, &xfer, 10, VM_SIDE_SEND, VM_PATH_NODE,
			 bytes);
	vm_overlap_exit(&overlap, 20);
	vm_overlap_enter(&overlap, back, 3);
	vm_overlap_end(&xfer, end);
}

static void test_cases(void)
{
	struct vm_overlap_xfer xfer;

	begin();
	vm_overlap_begin(&overlap, &xfer, 10, VM_SIDE_SEND, VM_PATH_NODE, 50);
	vm_overlap_end(&xfer, 110);
	is_bounds(50, 0, 0, "case 1: both in one call");
	is_int((long)sum().same_call, 1, "it is counted as that");

	two_calls(50, 100, 110);
	is_bounds(50, 30, 50, "case 2: enough computing");
	two_calls(50, 40, 200);
	is_bounds(50, 0, 20, "case 2: little computing");
	two_calls(50, 40, 65);
	is_bounds(50, 15, 20, "case 2: little of both");
	two_calls(50, 35, 40);
	is_bounds(30, 15, 15, "no transfer takes longer than it took");
	is_int((long)sum().capped, 1, "and that is counted");

	begin();
	vm_overlap_exit(&overlap, 5);
	vm_overlap_half(&overlap, VM_SIDE_RECEIVE, VM_PATH_FABRIC, 50);
	is_bounds(50, 0, 50, "case 3: only the end");
	begin();
	vm_overlap_begin(&overlap, &xfer, 10, VM_SIDE_SEND, VM_PATH_NODE, 50);
	is_bounds(50, 0, 50, "case 3: only the begin");
	is_int((long)sum().half, 1, "it is counted as that");
	vm_overlap_forget(&xfer);
	is_bounds(0, 0, 0, "a transfer that was none is forgotten");
}

static void test_other_ends(void)
{
	struct vm_overlap_xfer xfer;

	begin();
	vm_overlap_exit(&overlap, 5);
	vm_overlap_copied(&overlap, VM_SIDE_RECEIVE, VM_PATH_NODE, 40);
	is_bounds(40, 40, 40, "a copy while the rank computes is overlapped");
	begin();
	vm_overlap_copied(&overlap, VM_SIDE_RECEIVE, VM_PATH_NODE, 40);
	is_bounds(40, 0, 0, "a copy inside a call is not");

	begin();
	vm_overlap_mark(&overlap, &xfer, 10, VM_SIDE_RECEIVE, VM_PATH_FABRIC);
	vm_overlap_part(&xfer, 30, 15);
	vm_overlap_exit(&overlap, 40);
	vm_overlap_enter(&overlap, 60, 0);
	vm_overlap_part(&xfer, 65, 15);
	is_bounds(30, 0, 15, "parts of a message are transfers of their own");
	is_int((long)sum().transfers, 2, "two of them");
}

/* Equal copies are counted together; different ones are not lost in them. */
static void test_copies(void)
{
	struct vm_overlap_row all;

	begin();
	for (int i = 0; i < 3 * UINT16_MAX; i++) {
		vm_overlap_copied(&overlap, VM_SIDE_SEND, VM_PATH_NODE, 40);
		vm_overlap_copied(&overlap, VM_SIDE_RECEIVE, VM_PATH_NODE, 8);
	}
	ok(overlap.used < VM_OVERLAP_RING && !overlap.folds,
	   "many copies take few places in the ring");
	vm_overlap_copied(&overlap, VM_SIDE_SEND, VM_PATH_NODE, 50);
	vm_overlap_copied(&overlap, VM_SIDE_SEND, VM_PATH_WORKER, 50);
	vm_overlap_exit(&overlap, 5);
	vm_overlap_copied(&overlap, VM_SIDE_SEND, VM_PATH_WORKER, 50);
	all = sum();
	is_int((long)all.transfers, 6L * UINT16_MAX + 3, "each is counted");
	is_int((long)all.bytes, 3L * UINT16_MAX * 48 + 150, "with its bytes");
	is_int((long)all.same_call, 6L * UINT16_MAX + 2, "those in calls too");
	ok(all.data == 3UL * UINT16_MAX * 48 + 150 && all.min == 50 &&
		   all.max == 50,
	   "and only the one while the rank computed is overlapped");
	vm_overlap_copied(&overlap, VM_SIDE_SEND, VM_PATH_WORKER, 50);
	is_int((long)sum().transfers, 6L * UINT16_MAX + 4,
	       "after a fold they go on");
}

static void test_switch(void)
{
	struct vm_overlap_xfer early, late;

	begin();
	vm_overlap_begin(&overlap, &early, 10, VM_SIDE_SEND, VM_PATH_NODE, 5);
	vm_overlap_switch(&overlap, 20, false);
	vm_overlap_begin(&overlap, &late, 25, VM_SIDE_SEND, VM_PATH_NODE, 5);
	vm_overlap_copied(&overlap, VM_SIDE_SEND, VM_PATH_NODE, 5);
	vm_overlap_exit(&overlap, 28);
	vm_overlap_enter(&overlap, 40, 1);
	vm_overlap_end(&early, 45);
	is_bounds(5, 0, 5, "one that ends while switched off is half known");
	vm_overlap_switch(&overlap, 50, true);
	vm_overlap_end(&late, 60);
	is_bounds(10, 0, 10, "one that began then too");
	is_int((long)overlap.list[0].user, 0,
	       "computing is not counted while switched off");
	is_int((long)overlap.list[0].call, 20, "calls are not either");
}

static void test_sections(void)
{
	char path[128];

	begin();
	vm_overlap_section_begin(&overlap, 10, "solve");
	vm_overlap_exit(&overlap, 20);
	vm_overlap_enter(&overlap, 50, 1);
	vm_overlap_section_begin(&overlap, 60, "faces");
	is_int(vm_overlap_section_end(&overlap, 61, "solve"), -VMPI_EINVAL,
	       "the outer section cannot end first");
	vm_overlap_copied(&overlap, VM_SIDE_SEND, VM_PATH_NODE, 7);
	vm_overlap_exit(&overlap, 70);
	vm_overlap_enter(&overlap, 90, 1);
	is_int(vm_overlap_section_end(&overlap, 95, "faces"), 0,
	       "the inner one can");
	is_int(vm_overlap_section_end(&overlap, 96, NULL), 0,
	       "without a name it is the innermost");
	is_int(vm_overlap_section_end(&overlap, 97, NULL), -VMPI_EINVAL,
	       "when none is open there is none to end");
	vm_overlap_section_path(&overlap, 2, path, sizeof(path));
	is_string(path, "solve/faces", "a section has a path");
	is_int((long)overlap.list[1].user, 30, "computing in the outer one");
	is_int((long)overlap.list[2].user, 20, "computing in the inner one");
	is_int((long)overlap.list[2].call, 15, "calls in the inner one");
	vm_overlap_fold(&overlap);
	is_int((long)overlap.rows[2][VM_SIDE_SEND][0].transfers, 1,
	       "a transfer belongs to the innermost");
}

static void test_leader(void)
{
	static const int time[] = { 10, 5, 7, 1, 90, 2, 30 };
	static const unsigned call[] = { 3, 4, 3, 5, 7, 3, 8 };
	uint64_t now = 0;

	begin();
	vm_overlap_exit(&overlap, now);
	for (int i = 0; i < 7; i++) {
		vm_overlap_enter(&overlap, now, call[i]);
		now += (unsigned)time[i];
		vm_overlap_exit(&overlap, now);
	}
	is_int(overlap.list[0].leader, 7,
	       "the call with most of the time, not the last or most frequent");
	vm_overlap_section_begin(&overlap, now, "other");
	vm_overlap_enter(&overlap, now, 4);
	vm_overlap_exit(&overlap, now + 1);
	is_int(overlap.list[1].leader, 4, "each section has its own");
}

static void test_section_limits(void)
{
	char name[16];
	int rc = 0;

	begin();
	for (int i = 0; i < 2 * VM_OVERLAP_SECTIONS; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		vm_overlap_section_begin(&overlap, 10, name);
	}
	is_int((long)overlap.sections_lost, VM_OVERLAP_SECTIONS + 1,
	       "sections beyond the limit are counted");
	for (int i = 2 * VM_OVERLAP_SECTIONS; i-- > VM_OVERLAP_SECTIONS;)
		rc |= vm_overlap_section_end(&overlap, 10, NULL);
	is_int(rc, 0, "and ended");
	is_int((long)overlap.depth, VM_OVERLAP_SECTIONS,
	       "those inside the limit are still open");
	vm_overlap_section_end(&overlap, 10, NULL);
	vm_overlap_section_end(&overlap, 10, "s30");
	is_int((long)overlap.section, 30, "their order is kept");
}

static void test_bins(void)
{
	struct vm_overlap_setup bins;
	char why[128];

	is_int(vm_overlap_bins_parse(&bins, "1K,16K,1M", why, sizeof(why)), 0,
	       "sizes of bins are read");
	is_int(bins.bins, 4, "there is one more for all larger ones");
	is_int(vm_overlap_bin(&bins, 1024), 0, "an edge belongs below");
	is_int(vm_overlap_bin(&bins, 1025), 1, "what is larger above");
	is_int(vm_overlap_bin(&bins, UINT64_MAX), 3, "the last has no limit");
	is_int(vm_overlap_bins_parse(&bins, "", why, sizeof(why)), 0,
	       "no sizes make one bin");
	is_int(vm_overlap_bins_parse(&bins, "4K,1K", why, sizeof(why)),
	       -VMPI_EINVAL, "sizes ascend");
	ok(strstr(why, "ascending") != NULL, "and that is said");
	is_int(vm_overlap_bins_parse(&bins, "4K,,8K", why, sizeof(why)),
	       -VMPI_EINVAL, "an empty size is none");
	is_int(vm_overlap_bins_parse(&bins,
				     "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
				     why, sizeof(why)),
	       -VMPI_EINVAL, "there are not too many");
}

#define THREADS 4
#define EACH 20000

static void *thread_main(void *arg)
{
	for (int i = 0; i < EACH; i++) {
		struct vm_overlap_xfer xfer;

		vm_overlap_begin(&overlap, &xfer, (uint64_t)i, VM_SIDE_SEND,
				 VM_PATH_NODE, 3);
		vm_overlap_end(&xfer, (uint64_t)i + 3);
	}
	return arg;
}

static void test_threads(void)
{
	pthread_t threads[THREADS];

	begin();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread_main, NULL);
	for (int i = 1; i < EACH; i++) {
		vm_overlap_exit(&overlap, (uint64_t)i);
		vm_overlap_move(&overlap, i % 2 ? &overlap.own : &core,
				(uint64_t)i);
		vm_overlap_enter(&overlap, (uint64_t)i, 1);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	is_int((long)sum().transfers, THREADS * EACH,
	       "no transfer that a thread reports is lost");
	is_int((long)sum().open, 0, "and none stays open");
	ok(overlap.folds > THREADS * EACH / VM_OVERLAP_RING,
	   "the ring was folded again and again");
}

static void test_ranks_core(void)
{
	struct vm_overlap_xfer xfer;
	struct vm_overlap_row all;

	begin();
	vm_overlap_begin(&overlap, &xfer, 10, VM_SIDE_RECEIVE, VM_PATH_FABRIC,
			 60);
	vm_overlap_sum_on(&core.user, 20); /* another rank */
	vm_overlap_sum_off(&core.user, 100);
	vm_overlap_end(&xfer, 110);
	all = sum();
	is_int((long)all.max, 0,
	       "a rank that waits in a call overlaps nothing");
	ok(all.core_min == 40 && all.core_max == 60,
	   "its core, which ran another rank, does: %ld to %ld of 60",
	   (long)all.core_min, (long)all.core_max);
}

int main(void)
{
	test_start();
	test_cases();
	test_other_ends();
	test_copies();
	test_switch();
	test_sections();
	test_leader();
	test_section_limits();
	test_bins();
	test_ranks_core();
	test_threads();
	return done_testing();
}
