/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared-memory file: what the process counts is read from outside of it,
 * and nothing that a file may hold makes its reader fall.
 */
#include "introspect/export/export.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "farm.h"
#include "introspect/export/alive.h"
#include "introspect/export/control.h"
#include "introspect/export/list.h"
#include "report/live/file.h"
#include "introspect/export/table.h"
#include "tap.h"

#define FARM_BARN_PVARS(X)                                                \
	X(COUNTER, cows_in, "cows", WORKER, UB, p2p, "Cows that came in") \
	X(HIGHWATERMARK, hay_max, "bales", WORKER, UB, p2p, "Most hay")

#define FARM_HEN_PVARS(X)                               \
	X(COUNTER, laid, "eggs", RANK, UB, p2p, "Eggs") \
	X(HIGHWATERMARK, top, "eggs", RANK, UB, p2p, "Most eggs")

struct farm_barn_pvars {
	FARM_BARN_PVARS(VM_PVAR_FIELD)
};
struct farm_hen_pvars {
	FARM_HEN_PVARS(VM_PVAR_FIELD)
};

VM_PVARS_DEFINE(farm_barn, FARM_BARN_PVARS)
VM_PVARS_DEFINE(farm_hen, FARM_HEN_PVARS)

struct hen {
	int name;
	struct farm_hen_pvars day, night;
};

#define BARNS 3
#define HENS 4

static char dir[] = "/tmp/vmpi-share-XXXXXX";
static char path[VM_EXPORT_PATH_MAX];
static struct farm_barn_pvars *barns;
static struct hen *hens;
static uint32_t *where;

static void open_all(const char *job)
{
	const char *why = "";

	if (vm_export_open(dir, job, 1, &why))
		bail("no file in %s: %s", dir, why);
	vm_export_path(path, sizeof(path), dir, job, 1);
	barns = vm_export_alloc(BARNS * sizeof(*barns), 64);
	hens = vm_export_alloc(HENS * sizeof(*hens), 64);
	where = vm_export_alloc(HENS * sizeof(*where), 64);
	for (unsigned i = 0; i < HENS; i++)
		where[i] = i % 2;
}

static void publish(void)
{
	const struct vm_pvar_place of_barns = {
		.base = (const char *)barns,
		.stride = sizeof(*barns),
		.count = BARNS,
	};
	const struct vm_pvar_place of_hens = {
		.base = (const char *)&hens[0].day,
		.stride = sizeof(*hens),
		.also = sizeof(struct farm_hen_pvars),
		.count = HENS,
	};
	const struct vm_export_facts facts = {
		.node = 1,
		.nodes = 2,
		.ranks = HENS,
		.ranks_here = HENS / 2,
		.workers = BARNS,
		.where = where,
		.tables = { { &farm_barn_pvar_table, &of_barns },
			    { &farm_hen_pvar_table, &of_hens } },
		.table_count = 2,
	};

	is_int(vm_export_publish(&facts), 0, "the file is published");
}

static void close_all(bool keep)
{
	vm_export_free(barns);
	vm_export_free(hens);
	vm_export_free(where);
	vm_export_close(keep);
}

static int pvar_find(const struct vm_live_file *file, const char *name)
{
	struct vm_live_pvar_view view;

	for (unsigned i = 0; i < vm_live_pvar_count(file); i++) {
		vm_live_pvar_info(file, &view, i);
		if (strcmp(view.name, name) == 0)
			return (int)i;
	}
	bail("the file has no %s", name);
}

static int cvar_find(const struct vm_live_file *file, const char *name)
{
	struct vm_live_cvar_view view;

	for (unsigned i = 0; i < vm_live_cvar_count(file); i++) {
		vm_live_cvar_info(file, &view, i);
		if (strcmp(view.name, name) == 0)
			return (int)i;
	}
	bail("the file has no %s", name);
}

static void values_check(const struct vm_live_file *file)
{
	unsigned cows = (unsigned)pvar_find(file, "farm_cows_in");
	unsigned hay = (unsigned)pvar_find(file, "farm_hay_max");
	unsigned eggs = (unsigned)pvar_find(file, "farm_laid");
	unsigned top = (unsigned)pvar_find(file, "farm_top");
	struct vm_live_pvar_view view;
	uint64_t value = 77;

	vm_live_pvar_info(file, &view, eggs);
	is_string(view.class_, "counter", "a variable's class is told");
	is_string(view.of, "rank", "and whose it is");
	is_string(view.text, "Eggs", "and its text");
	ok(view.ranked && view.fold == VM_EXPORT_SUM, "and how it is counted");
	is_int(vm_live_blocks(file, cows), BARNS, "there are three barns");
	is_int(vm_live_value(file, &value, cows, BARNS, 0), -VMPI_ERANK,
	       "and no fourth");
	is_int(vm_live_value(file, &value, cows, 0, 1), -VMPI_ERANK,
	       "nor a second word");
	is_int(vm_live_value(file, &value, eggs, 2, 0), -VMPI_ERANK,
	       "rank 2 is of another node");
	is_int((intmax_t)value, 77, "failures leave the value alone");
	barns[0].cows_in = 1;
	barns[2].cows_in = 40;
	barns[1].hay_max = 9;
	barns[2].hay_max = 3;
	vm_live_value(file, &value, cows, 2, 0);
	is_int((intmax_t)value, 40, "what is counted now is seen at once");
	vm_live_total(file, &value, cows, 0);
	is_int((intmax_t)value, 41, "counters add up");
	vm_live_total(file, &value, hay, 0);
	is_int((intmax_t)value, 9, "of watermarks the highest holds");
	hens[0].day.laid = 1000;
	hens[1].day.laid = 5;
	hens[1].night.laid = 2;
	hens[3].night.laid = 10;
	hens[1].day.top = 3;
	hens[1].night.top = 4;
	vm_live_value(file, &value, eggs, 1, 0);
	is_int((intmax_t)value, 7, "both blocks of a rank count");
	vm_live_value(file, &value, top, 1, 0);
	is_int((intmax_t)value, 4, "of its watermarks the higher one");
	vm_live_total(file, &value, eggs, 0);
	is_int((intmax_t)value, 17, "a total is of the ranks of this node");
}

static void cvars_check(const struct vm_live_file *file)
{
	unsigned cows = (unsigned)cvar_find(file, "farm_cows");
	unsigned dog = (unsigned)cvar_find(file, "farm_dog");
	char text[VM_EXPORT_STRING_BYTES], name[300];
	struct vm_live_cvar_view view;

	vm_live_cvar_info(file, &view, cows);
	ok(view.min == -1 && view.max == 100 && !view.string,
	   "a control variable's range is told");
	is_int(vm_live_cvar_value(file, cows), 4, "and its value");
	vm_cvar_set("farm_cows", "17", VM_SOURCE_RUNTIME);
	is_int(vm_live_cvar_value(file, cows), 17, "and that it changed");
	vm_live_cvar_text(file, text, dog);
	is_string(text, "Rex", "texts are values too");
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	vm_cvar_set("farm_dog", name, VM_SOURCE_RUNTIME);
	vm_live_cvar_text(file, text, dog);
	is_int((intmax_t)strlen(text), VM_EXPORT_STRING_BYTES - 1,
	       "of a long one there is the beginning");
	vm_cvar_set("farm_dog", "Rex", VM_SOURCE_RUNTIME);
	vm_cvar_set("farm_cows", "4", VM_SOURCE_RUNTIME);
}

static void look(void)
{
	const struct vm_export_head *head;
	struct vm_live_file *file;
	char why[VM_LIVE_WHY_MAX];
	struct stat about;

	open_all("5/../x.7");
	is_string(strrchr(path, '/') + strlen("/vmpi.") +
			  strspn(strrchr(path, '/') + strlen("/vmpi."),
				 "0123456789"),
		  ".5----x-7.1", "a job's name cannot lead elsewhere");
	ok(stat(path, &about) == 0 && (about.st_mode & 0777) == 0600,
	   "only its user can open the file");
	is_int(vm_export_map(&file, path, why), -VMPI_EAGAIN,
	       "it cannot be read before it is complete");
	publish();
	is_int(vm_export_map(&file, path, why), 0, "then it can");
	head = vm_export_head(file);
	is_string(head->job, "5----x-7", "it says which job");
	is_int(head->pid, getpid(), "which process");
	ok(head->node == 1 && head->nodes == 2 && head->ranks == HENS &&
		   head->workers == BARNS,
	   "which node, and what there is");
	is_int(vm_export_phase(file), VM_EXPORT_RUNS, "that it runs");
	ok(vm_live_lives(file), "and lives");
	is_int(vm_live_where(file, 3), 1, "and where rank 3 is");
	values_check(file);
	cvars_check(file);
	close_all(false);
	ok(access(path, F_OK) != 0, "a file that is not kept is gone");
	is_int(vm_export_phase(file), VM_EXPORT_RUNS,
	       "who has it open still reads");
	vm_live_unmap(file);
	is_int(vm_export_map(&file, path, why), -VMPI_ENOENT, "others do not");
}

static int entry_count(const struct vm_export_entry *entry, void *arg)
{
	++*(int *)arg;
	return strcmp(entry->job, "dead") == 0 ? (int)entry->node + 10 : 0;
}

/* There is a dead file; others are alive, foreign, or no files at all. */
static void clean(const char *why)
{
	char name[VM_EXPORT_PATH_MAX];
	struct timespec times[2] = { { 0 }, { 0 } };
	int count = 0;

	snprintf(name, sizeof(name), "%s/vmpi.%u.dead", dir,
		 (unsigned)getuid());
	close(open(name, O_CREAT | O_WRONLY, 0600));
	is_int(vm_export_each(dir, entry_count, &count), 11,
	       "the files of this user are found");
	is_int(count, 1, "and no others");
	unlink(name);
	is_int(vm_export_open(dir, "live", 1, &why), 0, "there is a live one");
	is_int(vm_export_clean(dir, NULL, 60), 0,
	       "files found dead first stay");
	is_int(vm_export_clean(dir, NULL, 60), 0, "for as long as was said");
	utimensat(AT_FDCWD, path, times, 0);
	is_int(vm_export_clean(dir, NULL, 60), 1, "then they go");
	vm_export_close(true);
	is_int(vm_export_clean(dir, NULL, 0), 0, "those of the living never");
	vm_export_path(name, sizeof(name), dir, "live", 1);
	ok(unlink(name) == 0, "a file that is kept is there");
}

/* Children that die while they make their file. */
static void unfinished(void)
{
	const char *why;

	for (int with_head = 0; with_head < 2; with_head++) {
		pid_t pid = fork();

		vm_export_path(path, sizeof(path), dir, "dead", 1);
		if (pid == 0) {
			if (!with_head)
				close(open(path, O_CREAT | O_WRONLY, 0600));
			else if (vm_export_open(dir, "dead", 1, &why) == 0)
				vm_export_keep();
			kill(getpid(), SIGKILL);
		}
		waitpid(pid, NULL, 0);
		is_int(vm_export_clean(dir, NULL, 60), 0,
		       "a file that was not finished stays");
		is_int(vm_export_clean(dir, "dead", 60), 1,
		       "until its job has ended");
		ok(access(path, F_OK) != 0, "then it is gone");
	}
}

/* A child dies with its file, which is mapped. */
static struct vm_live_file *killed(bool keep)
{
	struct vm_live_file *file;
	char why[VM_LIVE_WHY_MAX];
	pid_t pid = fork();

	if (pid == 0) {
		if (!freopen("/dev/null", "w", stdout)) /* checks are ours */
			_exit(1);
		open_all("dead");
		if (keep)
			vm_export_keep();
		publish();
		barns[1].cows_in = 12;
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
	vm_export_path(path, sizeof(path), dir, "dead", 1);
	is_int(vm_export_map(&file, path, why), 0,
	       "the file of a killed process can be read");
	return file;
}

static void dead(void)
{
	struct vm_live_file *file = killed(true);
	uint64_t value = 0;
	const char *text = "";

	ok(!vm_live_lives(file), "which is dead");
	vm_live_total(file, &value, (unsigned)pvar_find(file, "farm_cows_in"),
		      0);
	is_int((intmax_t)value, 12, "what it had counted is there");
	vm_live_unmap(file);
	clean(text);
	file = killed(false);
	is_int(vm_export_clean(dir, "other", 60), 0, "those of one job go");
	is_int(vm_export_clean(dir, "dead", 60), 1,
	       "at once, if nobody wants to keep them");
	vm_live_unmap(file);
	file = killed(true);
	is_int(vm_export_clean(dir, NULL, 0), 1, "or all are asked to go");
	is_int(vm_export_phase(file), VM_EXPORT_DEAD,
	       "who has it open sees that its process did not end in order");
	vm_live_unmap(file);
	is_int(vm_export_open(dir, "dead", 1, &text), 0,
	       "another process can have its name");
	vm_export_close(false);
}

/* Its end is the end of its socket. */
static void socket_goes(void)
{
	char control[VM_EXPORT_PATH_MAX + sizeof(VM_CONTROL_SUFFIX)];

	open_all("socket");
	publish();
	vm_control_path(control, sizeof(control), path);
	close(open(control, O_CREAT | O_WRONLY, 0600));
	vm_export_remove();
	ok(access(path, F_OK) != 0 && access(control, F_OK) != 0,
	   "a process that ends leaves no socket");
	close_all(false);
}

/* A child made by fork() is another process. */
static void forked(void)
{
	const char *why = "";
	int status = 0;
	pid_t pid;

	open_all("fork");
	publish();
	barns[0].cows_in = 5;
	pid = fork();
	if (pid == 0) {
		bool same = barns[0].cows_in == 5 && hens[3].name == 0;

		barns[0].cows_in = 6;
		vm_export_remove();
		_exit(same && vm_export_open(dir, "fork", 1, &why) < 0 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	   "a child finds the memory, but no file that it could have");
	is_int((intmax_t)barns[0].cows_in, 5, "what it writes is its own");
	ok(access(path, F_OK) == 0, "it cannot remove its parent's file");
	close_all(false);
}

static void refused(void)
{
	const char *why = "";
	struct rlimit limit, small;
	char *memory;

	is_int(vm_export_open("/nonexistent", "1", 0, &why), -VMPI_ELIMIT,
	       "no directory, no file");
	ok(why[0] != '\0', "with a reason");
	memory = vm_export_alloc(100, 64);
	ok(memory && memory[0] == 0 && memory[99] == 0 &&
		   (uintptr_t)memory % 64 == 0,
	   "then memory is memory");
	vm_export_free(memory);
	getrlimit(RLIMIT_FSIZE, &limit);
	small = limit;
	small.rlim_cur = 10000;
	setrlimit(RLIMIT_FSIZE, &small);
	is_int(vm_export_open(dir, "1", 0, &why), 0,
	       "a head has room below a small limit on files");
	memory = vm_export_alloc(100000, 64);
	ok(memory && vm_export_offset(memory) == 0,
	   "larger memory is of the heap, and no signal comes");
	vm_export_free(memory);
	small.rlim_cur = 1000;
	setrlimit(RLIMIT_FSIZE, &small);
	vm_export_path(path, sizeof(path), dir, "1", 0);
	ok(access(path, F_OK) == 0, "there is a file");
	is_int(vm_export_publish(&(struct vm_export_facts){ .ranks = 1 }),
	       -VMPI_ELIMIT,
	       "without room for the tables nothing is published");
	ok(!vm_export_is_open() && access(path, F_OK) != 0,
	   "and there is no file any more");
	vm_export_close(false);
	is_int(vm_export_open(dir, "1", 0, &why), -VMPI_ELIMIT,
	       "below a smaller one it has none");
	setrlimit(RLIMIT_FSIZE, &limit);
}

int main(void)
{
	if (!mkdtemp(dir))
		bail("no directory");
	vm_vars_add(&farm_cvar_table);
	vm_pvars_add(&farm_barn_pvar_table);
	vm_pvars_add(&farm_hen_pvar_table);
	look();
	unfinished();
	dead();
	socket_goes();
	forked();
	refused();
	ok(rmdir(dir) == 0, "nothing is left behind");
	return done_testing();
}
