/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: the files that processes leave of overlap, merged, with their
 * reports and the advice.
 *
 *	make fuzz TARGET=overlap SECONDS=60
 *
 * Inputs change a good file (input.h), which has a rank.
 */
#include "introspect/measure/overlap_file.h"

#include <stdlib.h>
#include <string.h>

#include "core/instrument/intercept.h"
#include "input.h"
#include "report/overlap_report.h"

#define BYTES (sizeof(struct vm_overlap_file) + sizeof(struct vm_overlap))

static void setup_make(struct vm_overlap_setup *setup)
{
	char why[200];

	if (vm_overlap_bins_parse(setup, "1K,64K", why, sizeof(why)))
		abort();
	for (int path = 0; path < VM_PATHS; path++) {
		setup->table.count[path] = 2;
		setup->table.point[path][0] = (struct vm_xfer_point){ 64, 10 };
		setup->table.point[path][1] =
			(struct vm_xfer_point){ 65536, 1000 };
	}
}

/* Sections, calls, and messages of each kind, some of which are still in the
 * ring. */
static void rank_make(struct vm_overlap *rank,
		      const struct vm_overlap_setup *setup)
{
	struct vm_overlap_xfer xfer[3];

	vm_overlap_init(rank, setup, NULL, 0, true);
	vm_overlap_start(rank, 10);
	vm_overlap_exit(rank, 20);
	vm_overlap_section_begin(rank, 30, "outer");
	vm_overlap_enter(rank, 40, 1);
	vm_overlap_begin(rank, &xfer[0], 50, VM_SIDE_SEND, VM_PATH_WORKER, 100);
	vm_overlap_begin(rank, &xfer[1], 55, VM_SIDE_RECEIVE, VM_PATH_NODE,
			 5000);
	vm_overlap_exit(rank, 60);
	vm_overlap_end(&xfer[0], 900);
	vm_overlap_half(rank, VM_SIDE_RECEIVE, VM_PATH_NODE, 70000);
	vm_overlap_copied(rank, VM_SIDE_SEND, VM_PATH_WORKER, 8);
	vm_overlap_section_end(rank, 1000, NULL);
}

static struct vm_overlap_file *good_make(void)
{
	struct vm_overlap_file *good = aligned_alloc(
		VM_CACHELINE,
		(BYTES + VM_CACHELINE - 1) / VM_CACHELINE * VM_CACHELINE);

	if (!good)
		abort();
	memset(good, 0, BYTES);
	memcpy(good->magic, VM_OVERLAP_MAGIC, sizeof(good->magic));
	good->rank_bytes = sizeof(struct vm_overlap);
	good->processes = 1;
	good->rank_count = good->ranks = good->workers = 1;
	good->tick_ns = 1;
	setup_make(&good->setup);
	rank_make(&good->rank[0], &good->setup);
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct vm_overlap_file *good;
	struct vm_overlap_job job = { .call_name = vm_intercept_call_name };
	FILE *out;

	if (!good)
		good = good_make();
	fuzz_changed("process.0.raw", good, BYTES, data, bytes);
	if (!vm_overlap_job_read(&job, "/fuzz", 2)) {
		out = fopen("/dev/null", "we");
		if (!out)
			abort();
		vm_overlap_job_write(&job, "/fuzz");
		vm_overlap_job_print(&job, out, "");
		fclose(out);
	} else if (fuzz_unchanged(data, bytes)) {
		abort();
	}
	vm_overlap_job_fini(&job);
	return 0;
}
