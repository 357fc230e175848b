/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles with invented clocks and counters: everything is in exactly one row,
 * whatever ranks do.
 */
#include "introspect/measure/profile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/profile_report.h"
#include "tap.h"

static struct vm_profile *profile;
static uint64_t now, values[2];

static void fresh(int rank)
{
	free(profile);
	profile = calloc(1, sizeof(*profile));
	vm_profile_init(profile, rank, 2);
	now = 1000;
	values[0] = 5;
	values[1] = 70;
	vm_profile_begin(profile, now, values);
}

static void pass(uint64_t time, uint64_t one, uint64_t two)
{
	now += time;
	values[0] += one;
	values[1] += two;
}

static void enter(uint32_t call)
{
	vm_profile_enter(profile, now, values, call);
}

static void leave(void)
{
	vm_profile_exit(profile, now, values);
}

static const struct vm_profile_row *row(uint32_t section, uint32_t call)
{
	for (uint32_t r = 0; r < profile->rows; r++)
		if (profile->table[r].section == section &&
		    profile->table[r].call == call)
			return &profile->table[r];
	return NULL;
}

static bool row_is(uint32_t section, uint32_t call, uint64_t count,
		   uint64_t time, uint64_t one, uint64_t two)
{
	const struct vm_profile_row *it = row(section, call);

	return it && it->count == count && it->time == time &&
	       it->values[0] == one && it->values[1] == two;
}

static void test_calls(void)
{
	fresh(3);
	pass(10, 1, 0);
	enter(7);
	pass(5, 2, 30);
	leave();
	pass(20, 0, 4);
	enter(7);
	pass(1, 0, 0);
	leave();
	enter(9);
	pass(2, 3, 0);
	leave();
	pass(3, 0, 1);
	vm_profile_end(profile, now, values);
	ok(row_is(0, 7, 2, 6, 2, 30), "what grows in a call is the call's");
	ok(row_is(0, 9, 1, 2, 3, 0), "calls have rows of their own");
	ok(row_is(0, 0, 0, 33, 1, 5), "the rest is outside of calls");
	ok(vm_profile_valid(profile), "the profile is valid");
}

static void test_sections(void)
{
	fresh(0);
	pass(1, 1, 1);
	vm_profile_section_begin(profile, now, values, "a");
	pass(10, 2, 0);
	enter(7);
	pass(100, 0, 3);
	leave();
	vm_profile_section_begin(profile, now, values, "b");
	enter(7);
	pass(1000, 4, 0);
	leave();
	is_int(vm_profile_section_end(profile, now, values, "a"), -VMPI_EINVAL,
	       "a section that is not the innermost one does not end");
	is_int(vm_profile_section_end(profile, now, values, "b"), 0,
	       "the innermost one does");
	is_int(vm_profile_section_end(profile, now, values, NULL), 0,
	       "so does whichever it is");
	is_int(vm_profile_section_end(profile, now, values, NULL), -VMPI_EINVAL,
	       "none is left");
	vm_profile_section_begin(profile, now, values, "a");
	/* As MPI_Pcontrol() does, which is a call itself. */
	enter(8);
	pass(2, 0, 0);
	vm_profile_section_end(profile, now, values, "a");
	pass(3, 0, 0);
	leave();
	vm_profile_end(profile, now, values);
	ok(row_is(1, 0, 0, 10, 2, 0) && row_is(1, 7, 1, 100, 0, 3),
	   "a section has its calls and what is outside of them");
	ok(row_is(2, 7, 1, 1000, 4, 0), "one within it has its own");
	ok(row_is(1, 8, 1, 2, 0, 0) && row_is(0, 8, 0, 3, 0, 0),
	   "a call in which a section ends is in both");
	is_int((long)profile->list[1].count, 2, "sections are counted by name");
	is_int((long)profile->sections, 3, "not anew");
}

/* A rank whose body runs twice, and leaves a section open. */
static void test_again(void)
{
	fresh(0);
	vm_profile_section_begin(profile, now, values, "a");
	pass(10, 1, 0);
	vm_profile_end(profile, now, values);
	pass(1000, 100, 0);
	vm_profile_begin(profile, now, values);
	pass(5, 2, 0);
	vm_profile_end(profile, now, values);
	ok(row_is(1, 0, 0, 10, 1, 0) && row_is(0, 0, 0, 5, 2, 0),
	   "a second body begins outside of sections, nothing is between");
}

static void test_switch(void)
{
	fresh(0);
	vm_profile_switch(profile, now, values, false);
	enter(7);
	pass(10, 10, 10);
	leave();
	vm_profile_switch(profile, now, values, true);
	enter(7);
	pass(1, 1, 1);
	leave();
	vm_profile_end(profile, now, values);
	ok(row_is(0, 7, 1, 1, 1, 1), "what is switched off is not counted");
}

/* More sections, rows and depth than there is room for, at random: all sums
 * stay what they are. */
static void test_random(unsigned seed)
{
	uint64_t times = 0, ones = 0, begin;
	int depth = 0, wrong = 0;
	char name[32];

	srand(seed);
	fresh(0);
	begin = now;
	for (int i = 0; i < 20000; i++) {
		pass((uint64_t)(rand() % 50), (uint64_t)(rand() % 3), 1);
		switch (rand() % 4) {
		case 0:
			enter((uint32_t)(1 + rand() % 40));
			break;
		case 1:
			leave();
			break;
		case 2:
			snprintf(name, sizeof(name), "s%d", rand() % 9);
			vm_profile_section_begin(profile, now, values, name);
			depth++;
			break;
		default:
			wrong += vm_profile_section_end(profile, now, values,
							NULL) !=
				 (depth ? 0 : -VMPI_EINVAL);
			depth -= depth > 0;
		}
	}
	vm_profile_end(profile, now, values);
	for (uint32_t r = 0; r < profile->rows; r++) {
		times += profile->table[r].time;
		ones += profile->table[r].values[0];
	}
	ok(times == now - begin && ones == values[0] - 5 && !wrong,
	   "all is in some row (seed %u, %u rows, %u sections)", seed,
	   profile->rows, profile->sections);
	ok(vm_profile_valid(profile), "of a valid profile");
}

static void test_damage(void)
{
	fresh(0);
	profile->sections = VM_PROFILE_SECTIONS + 1;
	ok(!vm_profile_valid(profile), "too many sections are found");
	fresh(0);
	profile->table[0].section = 1;
	ok(!vm_profile_valid(profile), "so is a section that is not there");
	fresh(0);
	profile->sections = 2;
	profile->list[1].parent = 1;
	ok(!vm_profile_valid(profile), "and one in itself");
}

/* Two processes of one and two ranks; in the second there is no call 9. */
static void file_write(const char *dir, int process, int ranks)
{
	struct vm_profile_file *file, *head = calloc(1, sizeof(*head));

	*head = (struct vm_profile_file){ .process = process,
					  .rank_count = ranks,
					  .words = 2 + VM_PROFILE_OWN,
					  .workers = 1,
					  .tick_ns = 2 };
	strcpy(head->vars[0].name, "farm_hens");
	strcpy(head->vars[1].name, "farm_eggs");
	if (vm_profile_file_new(&file, dir, head))
		bail("no file in %s", dir);
	for (int r = 0; r < ranks; r++) {
		fresh(process * 10 + r);
		vm_profile_section_begin(profile, now, values, "yard");
		enter(7);
		pass(10, 1, (uint64_t)(r + 1));
		leave();
		vm_profile_section_begin(profile, now, values, "stall");
		pass(5, 0, 0);
		vm_profile_section_end(profile, now, values, NULL);
		vm_profile_section_end(profile, now, values, NULL);
		if (!process) {
			enter(9);
			pass(100, 0, 4);
			leave();
		}
		vm_profile_end(profile, now, values);
		memcpy(&file->rank[r], profile, sizeof(*profile));
	}
	vm_profile_file_free(file);
	free(head);
}

static const char *call_name(uint32_t call)
{
	return call == 7 ? "feed" : "collect";
}

static bool spread_is(const struct vm_profile_spread *spread, uint64_t sum,
		      uint64_t min, uint64_t max)
{
	return spread->sum == sum && spread->min == min && spread->max == max;
}

static void merge_check(const struct vm_profile_job *job)
{
	const struct vm_profile_line *collect = &job->lines[0];
	const struct vm_profile_line *feed = &job->lines[1];
	const struct vm_profile_part *yard = &job->parts[1];

	is_int(job->rank_count, 3, "ranks of all processes");
	is_int((long)job->time, 2 * (3 * 15 + 100), "their time, in ns");
	is_int((long)job->time_calls, 2 * (3 * 10 + 100), "that in calls");
	ok(collect->call == 9 && feed->call == 7, "most time comes first");
	ok(spread_is(&collect->time, 200, 0, 200) &&
		   spread_is(&collect->count, 1, 0, 1),
	   "a rank without the call counts as 0");
	ok(spread_is(&feed->values[1], 4, 1, 2) &&
		   spread_is(&feed->values[0], 3, 1, 1),
	   "values: sum, least and most of a rank");
	is_int(job->part_count, 3, "sections of all ranks are the same");
	ok(!strcmp(yard->name, "yard") && yard->count == 3 && yard->own == 60 &&
		   yard->time == 90 && yard->calls == 3 &&
		   yard->time_calls == 60,
	   "a section without and with those within it");
	ok(job->parts[0].time == job->time, "the whole has all");
}

static void test_merge(void)
{
	struct vm_profile_job job = { .call_name = call_name };
	char dir[] = "/tmp/vmpi-profile-test-XXXXXX", path[128];
	char *text = NULL;
	size_t bytes;
	FILE *out;

	if (!mkdtemp(dir))
		bail("no directory");
	file_write(dir, 0, 1);
	file_write(dir, 1, 2);
	is_int(vm_profile_job_read(&job, dir, 3), 0,
	       "the files of processes are read, also without one");
	merge_check(&job);
	out = open_memstream(&text, &bytes);
	vm_profile_job_print(&job, out);
	vm_profile_job_json(&job, out);
	fclose(out);
	ok(strstr(text, "collect") && strstr(text, "  stall") &&
		   strstr(text, "\"call\": \"feed\""),
	   "names are printed");
	free(text);
	vm_profile_job_fini(&job);
	for (int p = 0; p < 2; p++) {
		snprintf(path, sizeof(path), "%s/profile.%d.raw", dir, p);
		if (!p)
			truncate(path, 5000);
	}
	job = (struct vm_profile_job){ .call_name = call_name };
	is_int(vm_profile_job_read(&job, dir, 2), -VMPI_EINVAL,
	       "a damaged file is refused");
	vm_profile_job_fini(&job);
	for (int p = 0; p < 2; p++) {
		snprintf(path, sizeof(path), "%s/profile.%d.raw", dir, p);
		unlink(path);
	}
	job = (struct vm_profile_job){ .call_name = call_name };
	is_int(vm_profile_job_read(&job, dir, 2), -VMPI_ENOENT,
	       "without files there is no profile");
	vm_profile_job_fini(&job);
	rmdir(dir);
}

/* The idle time of the core that the rank is on. */
static void idle(void)
{
	static struct vm_profile moved;

	is_int((intmax_t)vm_profile_idle(&moved, 0, 100), 0,
	       "idle time before the rank was there does not count");
	is_int((intmax_t)vm_profile_idle(&moved, 0, 130), 30,
	       "what has come since does");
	is_int((intmax_t)vm_profile_idle(&moved, 1, 7), 30,
	       "another core has idled for another time");
	is_int((intmax_t)vm_profile_idle(&moved, 1, 9), 32, "which goes on");
}

int main(void)
{
	test_calls();
	test_sections();
	test_again();
	test_switch();
	for (unsigned seed = 1; seed <= 5; seed++)
		test_random(seed);
	test_damage();
	test_merge();
	free(profile);
	idle();
	return done_testing();
}
