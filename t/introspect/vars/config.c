/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources of values: files, environment, --set, and their precedence.
 */
#include "introspect/vars/config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "captured.h"
#include "farm.h"
#include "tap.h"

static char dir[] = "/tmp/vmpi-source-XXXXXX";
static char system_path[64], user_path[64], config_path[64];

static void file_put(const char *path, const void *text, size_t length)
{
	FILE *file = fopen(path, "we");

	if (!file || fwrite(text, 1, length, file) != length || fclose(file))
		bail("%s cannot be written", path);
}

static void file_write(const char *path, const char *text)
{
	file_put(path, text, strlen(text));
}

/* Loads from the system file only and checks result and message. */
static void file_says(const char *text, int want, const char *message,
		      const char *what)
{
	struct vm_var_files files = { .system = system_path };
	const char *said;
	int rc;

	file_write(system_path, text);
	captured_begin();
	rc = vm_vars_load_from(&files, NULL);
	said = captured_end();
	is_int(rc, want, "%s: %s", what, want ? "refused" : "taken");
	is_string(said, message, "%s: the message", what);
}

static int find_place(const struct vm_cvar_view *view, void *arg)
{
	if (strcmp(view->name, "farm_cows") != 0)
		return 0;
	snprintf(arg, 128, "%s %s", vm_var_source_name(view->source),
		 view->place);
	return 1;
}

/* Loads all and checks which cows there are, and thanks to whom. */
static void cows_are(const struct vm_var_files *files, const char *set,
		     int cows, const char *place)
{
	char got[128] = "";

	is_int(vm_vars_load_from(files, set), 0, "all sources are clean");
	is_int(farm_cvar.cows, cows, "%d cows", cows);
	vm_cvar_each(find_place, got);
	is_string(got, place, "thanks to the %s", place);
}

/* Source by source is added; the last one wins each time. */
static void precedence(void)
{
	struct vm_var_files files = { NULL, NULL, NULL };
	char place[128];

	cows_are(&files, NULL, 4, "default ");
	file_write(system_path, "# farm\n\nfarm_cows = 11\nfarm_open=off\n");
	files.system = system_path;
	snprintf(place, sizeof(place), "system file %s:3", system_path);
	cows_are(&files, NULL, 11, place);
	file_write(user_path, "farm_cows=12");
	files.user = user_path;
	snprintf(place, sizeof(place), "user file %s:1", user_path);
	cows_are(&files, NULL, 12, place);
	file_write(config_path, "farm_cows = 1\nfarm_cows = 13 # again\n");
	files.config = config_path;
	snprintf(place, sizeof(place), "VMPI_CONFIG %s:2", config_path);
	cows_are(&files, NULL, 13, place);
	setenv("VMPI_FARM_COWS", "14", 1);
	cows_are(&files, NULL, 14, "environment ");
	cows_are(&files, "farm_cows=15\nfarm_cows = 16\n", 16, "--set ");
	is_int(farm_cvar.open, 0, "what only the first file sets stays");
	cows_are(&files, NULL, 14, "environment ");
	setenv("VMPI_FARM_COWS", "", 1);
	cows_are(&files, NULL, 13, place);
	unsetenv("VMPI_FARM_COWS");
	vm_cvar_set("farm_cows", "17", VM_SOURCE_RUNTIME);
	cows_are(&files, "farm_cows=15", 17, "run time ");
}

static void good_files(void)
{
	file_says("", 0, "", "an empty file");
	file_says("#\n  # comment = 5\n\t\n\r\n", 0, "", "comments and blanks");
	file_says("farm_dog = Bello # the dog\r\n", 0, "",
		  "a comment at the end");
	is_string(farm_cvar.dog, "Bello", "is no part of the value");
	file_says("farm_dog = C# minor # 4/4\n", 0, "", "a # within a word");
	is_string(farm_cvar.dog, "C# minor",
		  "is a letter, after a blank it is not");
	file_says("  farm_dog=a = b  ", 0, "", "no newline at the end");
	is_string(farm_cvar.dog, "a = b", "the first = counts, blanks are cut");
	file_says("farm_dog =\n", 0, "", "an empty string");
	is_string(farm_cvar.dog, "", "is a string");
	file_says("farm_milk_bytes = 64 KiB\n", 0, "", "a size with its unit");
	is_int(farm_cvar.milk_bytes, 65536, "is that size");
}

static void bad_files(void)
{
	char want[512];

	snprintf(want, sizeof(want),
		 "vmpi: %s:2: not a line of the form name = value\n",
		 system_path);
	file_says("# x\nfarm_open\n", -VMPI_EINVAL, want, "no =");
	snprintf(want, sizeof(want),
		 "vmpi: %s:1: not a line of the form name = value\n",
		 system_path);
	file_says(" = 5\n", -VMPI_EINVAL, want, "no name");
	snprintf(want, sizeof(want),
		 "vmpi: %s:3: farm_milk_bytes = 5: out of range; it may be 1K "
		 "to 1M bytes\n",
		 system_path);
	file_says("\n\nfarm_milk_bytes=5", -VMPI_EINVAL, want, "out of range");
	snprintf(want, sizeof(want),
		 "vmpi: %s:1: no control variable is called 'farm_pigs'; "
		 "vmpi_info --cvars lists them\n"
		 "vmpi: %s:2: no control variable is called 'farm_opne'; did "
		 "you mean farm_open?\n",
		 system_path, system_path);
	file_says("farm_pigs = 5\nfarm_opne = on\nfarm_dog = Bello",
		  -VMPI_EINVAL, want, "two unknown names");
	is_string(farm_cvar.dog, "Bello", "the lines after a mistake count");
}

static void odd_files(void)
{
	struct vm_var_files files = { .system = system_path };
	char want[256], many[400] = "";
	const char *said;
	int rc;

	file_put(system_path, "farm_cows\0 = 5\n", 15);
	snprintf(want, sizeof(want),
		 "vmpi: %s:1: a zero byte; this is no text file\n",
		 system_path);
	captured_begin();
	rc = vm_vars_load_from(&files, NULL);
	said = captured_end();
	is_int(rc, -VMPI_EINVAL, "a file with zero bytes is refused");
	is_string(said, want, "in one line");

	for (int i = 0; i < 100; i++)
		memcpy(many + 3 * i, "?!\n", 4);
	file_write(system_path, many);
	captured_begin();
	rc = vm_vars_load_from(&files, NULL);
	said = captured_end();
	is_int(rc, -VMPI_EINVAL, "a file of nothing but mistakes is refused");
	snprintf(want, sizeof(want),
		 "%s:10: not a line of the form name = value\n"
		 "vmpi: %s: the lines after 10 were not read\n",
		 system_path, system_path);
	ok(strstr(said, want) && !strstr(strstr(said, want), ":11:"),
	   "and given up after ten");

	files.system = files.user = "/nonexistent/vmpi.conf";
	is_int(vm_vars_load_from(&files, NULL), 0,
	       "system and user file need not exist");
	files.config = "/nonexistent/vmpi.conf";
	captured_begin();
	rc = vm_vars_load_from(&files, NULL);
	said = captured_end();
	is_int(rc, -VMPI_EIO, "the file that VMPI_CONFIG names must");
	is_string(said,
		  "vmpi: /nonexistent/vmpi.conf: cannot be read: "
		  "No such file or directory\n",
		  "in one line");
	files.config = dir;
	captured_begin();
	rc = vm_vars_load_from(&files, NULL);
	captured_end();
	is_int(rc, -VMPI_EIO, "a directory cannot be read");
	files = (struct vm_var_files){ .user = dir };
	captured_begin();
	rc = vm_vars_load_from(&files, NULL);
	said = captured_end();
	snprintf(want, sizeof(want),
		 "vmpi: %s: cannot be read, so nothing in it is set: "
		 "Is a directory\n",
		 dir);
	is_int(rc, 0, "the user's own is not needed");
	is_string(said, want, "but it is said");
	setenv("PMI_RANK", "1", 1);
	captured_begin();
	vm_vars_load_from(&files, NULL);
	is_string(captured_end(), "", "by the first process of a job");
	unsetenv("PMI_RANK");
}

/* Environment and --set, without files. */
static void others_say(const char *set, int want, const char *message,
		       const char *what)
{
	struct vm_var_files files = { NULL, NULL, NULL };
	const char *said;
	int rc;

	captured_begin();
	rc = vm_vars_load_from(&files, set);
	said = captured_end();
	is_int(rc, want, "%s: %s", what, want ? "refused" : "taken");
	is_string(said, message, "%s: the message", what);
}

static void environment(void)
{
	setenv("VMPI_FARM_MILK_BYTES", "0x1000", 1);
	others_say(NULL, 0, "", "a value in the environment");
	is_int(farm_cvar.milk_bytes, 4096, "is read");
	setenv("VMPI_FARM_MILK_BYTES", "lots", 1);
	others_say(NULL, -VMPI_EINVAL,
		   "vmpi: environment variable VMPI_FARM_MILK_BYTES: "
		   "farm_milk_bytes = lots: not a size; write a whole number, "
		   "with K, M, G or T for powers of 1024\n",
		   "a wrong value in the environment");
	unsetenv("VMPI_FARM_MILK_BYTES");
	setenv("VMPI_FARM_COW", "5", 1);
	others_say(NULL, 0,
		   "vmpi: environment variable VMPI_FARM_COW is not known; "
		   "did you mean VMPI_FARM_COWS?\n",
		   "a misspelt one");
	unsetenv("VMPI_FARM_COW");
	setenv("VMPI_JOB_RANKS", "5", 1);
	setenv("VMPI_CC", "cc", 1);
	setenv("VMPIX", "5", 1);
	others_say(NULL, 0, "", "names that are none of ours");
	unsetenv("VMPI_JOB_RANKS");
	unsetenv("VMPI_CC");
}

static void settings(void)
{
	others_say("\nfarm_open = no\n\n", 0, "", "lines of --set");
	is_int(farm_cvar.open, 0, "are read");
	others_say("farm_open", -VMPI_EINVAL,
		   "vmpi: --set farm_open: not of the form NAME=VALUE\n",
		   "--set without =");
	others_say("farm_open=5", -VMPI_EINVAL,
		   "vmpi: --set: farm_open = 5: not a switch; write on or "
		   "off\n",
		   "--set with a wrong value");
	others_say("farm_opn=5", -VMPI_EINVAL,
		   "vmpi: --set: no control variable is called 'farm_opn'; did "
		   "you mean farm_open?\n",
		   "--set with a wrong name");
	is_int(farm_cvar.open, 1, "what a load does not set has its default");
	vm_vars_freeze(true);
	others_say(NULL, -VMPI_ESTATE,
		   "vmpi: control variables cannot be loaded again before the "
		   "runtime has stopped\n",
		   "loading while the runtime runs");
	vm_vars_freeze(false);
}

static void usual_files(void)
{
	struct vm_var_files files;
	char path[VM_VAR_PATH_MAX];

	unsetenv("XDG_CONFIG_HOME");
	setenv("HOME", "/home/cow", 1);
	unsetenv("VMPI_CONFIG");
	vm_var_files_usual(&files, path);
	is_string(files.user, "/home/cow/.config/vmpi.conf",
		  "the user file is in ~/.config");
	ok(strstr(files.system, "/vmpi.conf"), "the system file is %s",
	   files.system);
	ok(!files.config, "there is no third file without VMPI_CONFIG");
	setenv("XDG_CONFIG_HOME", "/cfg", 1);
	setenv("VMPI_CONFIG", "my.conf", 1);
	vm_var_files_usual(&files, path);
	is_string(files.user, "/cfg/vmpi.conf",
		  "XDG_CONFIG_HOME moves the user file");
	is_string(files.config, "my.conf", "VMPI_CONFIG names a third file");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	vm_var_files_usual(&files, path);
	ok(!files.user, "without a home there is no user file");
}

/* Files of random bytes, and of random pieces of what files are made of. */
static void random_files(uint64_t seed)
{
	static const char *const pieces[] = {
		"farm_cows", "farm_dog", "=",  " ",  "\n", "#",	  "5",
		"64K",	     "on",	 "\t", "\r", "-",  "\xff"
	};
	struct vm_var_files files = { .system = system_path };
	uint64_t state = seed;
	char text[512];
	int wrong = 0;

	captured_begin();
	for (int round = 0; round < 300; round++) {
		size_t length = 0;
		int rc;

		while (length < 400 && (state >> 33) % 40) {
			const char *piece;

			state = state * 6364136223846793005u +
				1442695040888963407u;
			piece = pieces[(state >> 40) % 13];
			if (round % 3 == 0)
				text[length++] = (char)(state >> 48);
			else
				while (*piece)
					text[length++] = *piece++;
		}
		state += 0x9e3779b97f4a7c15u;
		file_put(system_path, text, length);
		rc = vm_vars_load_from(&files, NULL);
		wrong += rc != 0 && rc != -VMPI_EINVAL;
		wrong += farm_cvar.cows < -1 || farm_cvar.cows > 100;
	}
	captured_end();
	is_int(wrong, 0, "300 random files do no harm (seed %" PRIu64 ")",
	       seed);
}

int main(void)
{
	const char *given = getenv("SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);

	if (!mkdtemp(dir))
		bail("no temporary directory");
	snprintf(system_path, sizeof(system_path), "%s/system.conf", dir);
	snprintf(user_path, sizeof(user_path), "%s/user.conf", dir);
	snprintf(config_path, sizeof(config_path), "%s/config.conf", dir);
	unsetenv("VMPI_CONFIG");
	vm_vars_add(&farm_cvar_table);

	good_files();
	bad_files();
	odd_files();
	environment();
	settings();
	usual_files();
	random_files(seed);
	precedence();

	unlink(system_path);
	unlink(user_path);
	unlink(config_path);
	rmdir(dir);
	return done_testing();
}
