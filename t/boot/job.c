/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job goes through the environment and comes back the same; what cannot be
 * a job is refused.
 */
#include "boot/job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "vmpi.h"

static void default_test(void)
{
	struct vm_job job;

	vm_job_clear_env();
	ok(!vm_job_present(), "without variables there is no job");
	is_int(vm_job_from_env(&job), 0, "no job can be read all the same");
	is_int(job.ranks, 1, "and has one rank");
	is_int(job.nodes, 1, "on one node");
	ok(!job.label && !job.summary && !job.report_bindings &&
		   !job.display_map && !job.output_dir && !job.set,
	   "for which nothing is asked");
	vm_job_fini(&job);
}

static void round_trip_test(void)
{
	struct vm_job job, back;

	vm_job_init(&job);
	job.ranks = VM_JOB_RANKS_MAX;
	job.label = true;
	job.report_bindings = true;
	job.nodes = 3;
	vm_job_text(&job.blocks, "1,2,3");
	vm_job_text(&job.key, "00112233445566778899aabbccddeeff");
	vm_job_text(&job.output_dir, "/a b/'c'");
	vm_job_set_add(&job, "sched_workers", "2");
	vm_job_set_add(&job, "debug_text", "x=y z");
	is_int(vm_job_to_env(&job), 0, "a job goes into the environment");
	ok(vm_job_present(), "where it is seen");
	is_int(vm_job_from_env(&back), 0, "and from which it is read");
	is_int(back.ranks, VM_JOB_RANKS_MAX, "the number of ranks is the same");
	ok(back.label && back.report_bindings, "flags that were set are set");
	ok(!back.summary && !back.display_map, "the others are not");
	is_int(back.nodes, 3, "so is the number of nodes");
	is_string(back.blocks, "1,2,3", "and the ranks of each");
	is_string(back.key, "00112233445566778899aabbccddeeff", "and the key");
	is_string(back.output_dir, "/a b/'c'", "a text is the same");
	is_string(back.set, "sched_workers=2\ndebug_text=x=y z",
		  "the settings stand in lines in their order");
	vm_job_fini(&back);
	is_int(back.ranks, 1, "a job that was freed is an empty one");
	vm_job_fini(&job);
}

static void processes_test(void)
{
	struct vm_job job, back;

	vm_job_init(&job);
	job.ranks = job.nodes = 4;
	unsetenv("GLIBC_TUNABLES");
	is_int(vm_job_to_env(&job), 0, "a job of node processes");
	ok(getenv("GLIBC_TUNABLES"), "has room for their images");
	unsetenv("GLIBC_TUNABLES");
	job.processes = true;
	is_int(vm_job_to_env(&job), 0, "one of ranks that are processes");
	ok(!getenv("GLIBC_TUNABLES"), "needs none");
	is_int(vm_job_from_env(&back), 0, "and comes back");
	ok(back.processes, "as such");
	vm_job_fini(&back);
	vm_job_clear_env();
}

static void replace_test(void)
{
	struct vm_job job, back;

	vm_job_init(&job);
	job.summary = true;
	setenv("VMPI_JOB_LABEL", "1", 1);
	setenv("VMPI_JOB_OUTPUT", "/old", 1);
	setenv("VMPI_JOB_FROM_THE_FUTURE", "1", 1);
	setenv("VMPI_JOBLESS", "1", 1);
	is_int(vm_job_to_env(&job), 0, "a job replaces another");
	is_int(vm_job_from_env(&back), 0, "of which nothing is left");
	ok(back.summary && !back.label && !back.output_dir,
	   "neither its flags nor its texts");
	vm_job_fini(&back);
	vm_job_clear_env();
	ok(!vm_job_present(), "a job can be removed");
	is_string(getenv("VMPI_JOBLESS"), "1",
		  "and other variables stay where they are");
}

static void tunables_test(void)
{
	struct vm_job job;
	const char *const tunable = "glibc.rtld.optional_static_tls=300000";

	vm_job_init(&job);
	unsetenv("GLIBC_TUNABLES");
	vm_job_to_env(&job);
	is_string(getenv("GLIBC_TUNABLES"), tunable,
		  "the node process gets room for thread-local variables");
	vm_job_to_env(&job);
	is_string(getenv("GLIBC_TUNABLES"), tunable, "once");
	setenv("GLIBC_TUNABLES", "glibc.malloc.check=1", 1);
	vm_job_to_env(&job);
	is_string(getenv("GLIBC_TUNABLES"),
		  "glibc.malloc.check=1:glibc.rtld.optional_static_tls=300000",
		  "after the tunables that are there");
	setenv("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=9", 1);
	vm_job_to_env(&job);
	is_string(getenv("GLIBC_TUNABLES"), "glibc.rtld.optional_static_tls=9",
		  "unless somebody has chosen the room");
}

static void refuse_test(void)
{
	static const struct {
		const char *name, *value;
	} rows[] = {
		{ "VMPI_JOB_RANKS", "" },
		{ "VMPI_JOB_RANKS", "0" },
		{ "VMPI_JOB_RANKS", "-1" },
		{ "VMPI_JOB_RANKS", "+4" },
		{ "VMPI_JOB_RANKS", " 4" },
		{ "VMPI_JOB_RANKS", "4x" },
		{ "VMPI_JOB_RANKS", "1000001" },
		{ "VMPI_JOB_RANKS", "1e3" },
		{ "VMPI_JOB_RANKS", "99999999999999999999" },
		{ "VMPI_JOB_LABEL", "" },
		{ "VMPI_JOB_LABEL", "yes" },
		{ "VMPI_JOB_LABEL", "11" },
		{ "VMPI_JOB_SET", "" },
		{ "VMPI_JOB_OUTPUT", "" },
		{ "VMPI_JOB_RANK", "4" },
		{ "VMPI_JOB_RANKSX", "4" },
		{ "VMPI_JOB_", "4" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vm_job job;

		vm_job_clear_env();
		setenv("VMPI_JOB_OUTPUT", "/somewhere", 1);
		setenv(rows[i].name, rows[i].value, 1);
		is_int(vm_job_from_env(&job), -VMPI_EINVAL, "%s=%s is refused",
		       rows[i].name, rows[i].value);
		ok(job.ranks == 1 && !job.output_dir,
		   "and the job is an empty one");
	}
	vm_job_clear_env();
}

struct stop {
	int calls, limit;
};

static int stop_each(const char *name, const char *value, void *arg)
{
	struct stop *stop = arg;

	return ++stop->calls == stop->limit ? 42 : 0;
}

static void each_test(void)
{
	struct stop stop = { .limit = 3 };
	struct vm_job job;

	vm_job_init(&job);
	is_int(vm_job_each(&job, stop_each, &stop), 42,
	       "a walk over the variables ends when told to");
	is_int(stop.calls, 3, "at once");
}

int main(void)
{
	default_test();
	round_trip_test();
	processes_test();
	replace_test();
	tunables_test();
	refuse_test();
	each_test();
	return done_testing();
}
