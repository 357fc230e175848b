/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that is replayed into the files of its processes: the efficiencies of
 * the whole and of a section.
 */
#include "report/profile_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define CALL 7

/* A rank at a moment: the time, what it has had of its core, and for how long that
 * was idle. */
struct replay {
	struct vm_profile *profile;
	uint64_t now, own[VM_PROFILE_OWN];
};

static void computes(struct replay *replay, uint64_t time)
{
	replay->now += time;
	replay->own[VM_PROFILE_HAD] += time;
}

/* Is in a call, in which it moves messages, and waits. */
static void calls(struct replay *replay, uint64_t moves, uint64_t waits)
{
	vm_profile_enter(replay->profile, replay->now, replay->own, CALL);
	computes(replay, moves);
	replay->now += waits;
	replay->own[VM_PROFILE_IDLE] += waits / 2;
	vm_profile_exit(replay->profile, replay->now, replay->own);
}

/*
 * 100 outside of sections, then a section in which ranks on core 0 compute 60 and
 * those on core 1 30 each, move 10 and wait for the rest of 200; so the two of a
 * core take turns there.
 */
static void rank_replay(struct vm_profile *profile, int rank, uint32_t worker,
			uint64_t computing)
{
	struct replay replay = { .profile = profile, .now = 1000 };

	vm_profile_init(profile, rank, VM_PROFILE_OWN);
	profile->worker = worker;
	vm_profile_begin(profile, replay.now, replay.own);
	computes(&replay, 50);
	replay.now += 50; /* the other one of the core runs */
	vm_profile_section_begin(profile, replay.now, replay.own, "solve");
	computes(&replay, computing);
	calls(&replay, 10, 190 - computing);
	vm_profile_section_end(profile, replay.now, replay.own, "solve");
	vm_profile_end(profile, replay.now, replay.own);
}

static const char *call_name(uint32_t call)
{
	return call == CALL ? "MPI_Barrier" : "?";
}

/* Process 0 has the first core, process 1 the second one. */
static void files_write(const char *dir)
{
	struct vm_profile_file head = { .rank_count = 2,
					.words = VM_PROFILE_OWN,
					.workers = 1,
					.tick_ns = 2 };
	struct vm_profile_file *file;

	for (int process = 0; process < 2; process++) {
		head.process = process;
		if (vm_profile_file_new(&file, dir, &head))
			bail("no file");
		for (int i = 0; i < 2; i++)
			rank_replay(&file->rank[i], 2 * process + i, 0,
				    process ? 30 : 60);
		vm_profile_file_free(file);
	}
}

static void is_part(double got, double want, const char *what)
{
	if (!ok(fabs(got - want) < 1e-9, "%s is %g", what, want))
		diag("got %.12g", got);
}

static void texts(const struct vm_profile_job *job)
{
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	vm_profile_job_print(job, out);
	fclose(out);
	if (!ok(strstr(text, "63.3    86.4"),
		"the report has the efficiency of the whole"))
		diag("%s", text);
	ok(strstr(text, "\n solve "), "and of the section");
	free(text);
	out = open_memstream(&text, &bytes);
	vm_profile_job_json(job, out);
	fclose(out);
	if (!ok(strstr(text, "{\"name\": \"Global\", \"section\": [], "
			     "\"numCpus\": 2, \"numMpiRanks\": 4, "
			     "\"elapsedTime\": 600, \"usefulTime\": 760"),
		"the JSON has TALP's names"))
		diag("%s", text);
	ok(strstr(text, "{\"name\": \"solve\", \"section\": [\"solve\"]"),
	   "and sections");
	free(text);
}

int main(void)
{
	struct vm_profile_job job = { .call_name = call_name };
	char dir[] = "/tmp/vmpi-pop-XXXXXX", path[100];
	const struct vm_pop *pop;

	if (!mkdtemp(dir))
		bail("no directory");
	files_write(dir);
	is_int(vm_profile_job_read(&job, dir, 2), 0, "the files are read");
	is_int(job.part_count, 2, "there are the whole and a section");
	is_int(job.words, 0, "and no variables");
	/* In the section: 120 of 200 and 60 of 200; 20 in calls each. */
	pop = &job.parts[1].pop;
	is_int(pop->cores, 2, "the section is on both cores");
	is_part(pop->balance, 0.75, "its balance");
	is_part(pop->serialisation, 120. / 180, "its serialisation");
	is_part(pop->transfer, 180. / 200, "its transfer");
	is_part(pop->parallel, 180. / 400, "its parallel efficiency");
	/* In all: 220 and 160 of 300. */
	pop = &job.parts[0].pop;
	is_part(pop->balance, 190. / 220, "the balance of the whole");
	is_part(pop->serialisation, 220. / 280, "its serialisation");
	is_part(pop->transfer, 280. / 300, "its transfer");
	is_part(pop->parallel, 380. / 600, "its parallel efficiency");
	texts(&job);
	vm_profile_job_fini(&job);
	for (int process = 0; process < 2; process++) {
		vm_profile_file_path(path, sizeof(path), dir, process);
		unlink(path);
	}
	rmdir(dir);
	return done_testing();
}
