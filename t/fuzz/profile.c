/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: the files that processes leave of a profile, merged and written
 * as tables and as JSON.
 *
 *	make fuzz TARGET=profile SECONDS=60
 *
 * Inputs change a good file (input.h), which has two ranks.
 */
#include "introspect/measure/profile_file.h"

#include <stdlib.h>
#include <string.h>

#include "core/instrument/intercept.h"
#include "input.h"
#include "report/profile_report.h"

#define RANKS 2
#define BYTES \
	(sizeof(struct vm_profile_file) + RANKS * sizeof(struct vm_profile))

static void rank_make(struct vm_profile *rank, int number)
{
	uint64_t values[2] = { 0, 0 };

	vm_profile_init(rank, number, 2);
	vm_profile_begin(rank, 100, values);
	vm_profile_section_begin(rank, 200, values, "outer");
	vm_profile_enter(rank, 300, values, 1);
	values[0] = 7;
	vm_profile_exit(rank, 400, values);
	vm_profile_section_begin(rank, 500, values, "inner");
	vm_profile_enter(rank, 600, values, 2);
	values[1] = 9;
	vm_profile_exit(rank, 700, values);
	vm_profile_section_end(rank, 800, values, NULL);
	vm_profile_section_end(rank, 900, values, NULL);
	vm_profile_end(rank, 1000, values);
}

static struct vm_profile_file *good_make(void)
{
	struct vm_profile_file *good = aligned_alloc(
		VM_CACHELINE,
		(BYTES + VM_CACHELINE - 1) / VM_CACHELINE * VM_CACHELINE);

	if (!good)
		abort();
	memset(good, 0, BYTES);
	memcpy(good->magic, VM_PROFILE_MAGIC, sizeof(good->magic));
	good->rank_bytes = sizeof(struct vm_profile);
	good->rank_count = RANKS;
	good->words = 3;
	good->workers = 1;
	good->tick_ns = 1;
	for (int i = 0; i < 2; i++) {
		memcpy(good->vars[i].name, "core_sends", 11);
		memcpy(good->vars[i].unit, "messages", 9);
	}
	for (int i = 0; i < RANKS; i++)
		rank_make(&good->rank[i], i);
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct vm_profile_file *good;
	struct vm_profile_job job = { .call_name = vm_intercept_call_name };
	FILE *out;

	if (!good)
		good = good_make();
	fuzz_changed("profile.0.raw", good, BYTES, data, bytes);
	if (!vm_profile_job_read(&job, "/fuzz", 2)) {
		out = fopen("/dev/null", "we");
		if (!out)
			abort();
		vm_profile_job_print(&job, out);
		vm_profile_job_json(&job, out);
		fclose(out);
	} else if (fuzz_unchanged(data, bytes)) {
		abort();
	}
	vm_profile_job_fini(&job);
	return 0;
}
