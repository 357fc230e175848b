/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the known name that a misspelt one meant.
 */
#include "base/nearest.h"

#include "tap.h"

static const char *among_names(struct vm_nearest *nearest, const char *wanted)
{
	static const char *const names[] = { "sched_workers", "sched_bind",
					     "sched_stack_bytes",
					     "core_copy_limit",
					     "core_inline_limit" };

	vm_nearest_init(nearest, wanted);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		vm_nearest_offer(nearest, names[i]);
	return vm_nearest_name(nearest);
}

int main(void)
{
	static const struct {
		const char *wanted, *meant, *why;
	} cases[] = {
		{ "sched_workers", "sched_workers", "the name itself" },
		{ "sched_worker", "sched_workers", "a letter is missing" },
		{ "sched_workerss", "sched_workers", "a letter is too many" },
		{ "shced_workers", "sched_workers", "two letters swapped" },
		{ "sched_wirkers", "sched_workers", "a wrong letter" },
		{ "SCHED_WORKERS", "sched_workers", "capitals" },
		{ "sched-workers", "sched_workers", "a hyphen" },
		{ "stack_bytes", "sched_stack_bytes", "no layer" },
		{ "copy_limit", "core_copy_limit", "no layer" },
		{ "inline_limit", "core_inline_limit", "no layer" },
		{ "elephants_in_a_row", NULL, "nothing like it" },
		{ "x", NULL, "too short to tell" },
		{ "", NULL, "nothing" },
	};
	struct vm_nearest nearest;
	char wide[4096];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *got = among_names(&nearest, cases[i].wanted);

		is_string(got ? got : "none",
			  cases[i].meant ? cases[i].meant : "none", "'%s': %s",
			  cases[i].wanted, cases[i].why);
	}
	for (unsigned i = 0; i < sizeof(wide) - 1; i++)
		wide[i] = 'w';
	wide[sizeof(wide) - 1] = '\0';
	ok(!among_names(&nearest, wide), "a name of 4095 letters is no danger");
	vm_nearest_init(&nearest, wide);
	vm_nearest_offer(&nearest, wide);
	ok(vm_nearest_name(&nearest), "nor is offering one");
	return done_testing();
}
