/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of options: those that are taken, and what is said of others.
 */
#include "report/option.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "introspect/captured.h"
#include "report/cli.h"
#include "tap.h"

const char vm_cli_program[] = "prog";

static const char *said(const char *text)
{
	static char line[700];

	snprintf(line, sizeof(line), "prog: %s\n", text);
	return line;
}

static void test_number(void)
{
	static const char *const none[] = { "",
					    "x",
					    "-1",
					    "+1",
					    " 1",
					    "1 ",
					    "1x",
					    "0x1",
					    "1e1",
					    "101",
					    "9999999999999999999999" };
	int number = 7;
	char line[600];

	is_int(vm_option_number(&number, "-n", "100", "a number", 1, 100), 0,
	       "a number is taken");
	is_int(number, 100, "... as it is");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		captured_begin();
		is_int(vm_option_number(&number, "-n", none[i], "a number", 1,
					100),
		       -VMPI_EINVAL, "'%s' is none", none[i]);
		snprintf(line, sizeof(line),
			 "-n %s: a number from 1 to 100 is needed", none[i]);
		is_string(captured_end(), said(line), "... with one line");
	}
	is_int(number, 100, "a mistake writes nothing");
	captured_begin();
	vm_option_number(&number, "-n", "0", "a number", 1, INT_MAX);
	is_string(captured_end(), said("-n 0: a number, at least 1, is needed"),
		  "there need be no limit");
}

static void test_digits(void)
{
	const char *text = "12:3";
	int number;

	ok(vm_option_digits(&number, &text) && number == 12, "digits");
	is_string(text, ":3", "... and what is behind them");
	ok(!vm_option_digits(&number, &text), "no digit");
	text = "1234567890";
	ok(!vm_option_digits(&number, &text), "too many of them");
}

static void test_seconds(void)
{
	static const char *const none[] = { "",	   "1h",  "-1", "inf",	 "nan",
					    "0x1", "1e3", ".",	"1.2.3", "11" };
	double seconds = 0;

	is_int(vm_option_seconds(&seconds, "--every", "0.5", 0.5, 10), 0,
	       "seconds are taken");
	ok(seconds == 0.5, "... as they are");
	captured_begin();
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		is_int(vm_option_seconds(&seconds, "--every", none[i], 0.5, 10),
		       -VMPI_EINVAL, "'%s' are none", none[i]);
	captured_end();
	captured_begin();
	vm_option_seconds(&seconds, "TIME=", "soon", 0.5, 10);
	is_string(captured_end(),
		  said("TIME=soon: a number of seconds from 0.5 to 10 is "
		       "needed, such as 90 or 0.5"),
		  "of a variable of the environment too");
	ok(seconds == 0.5, "a mistake writes nothing");
}

static void test_size(void)
{
	int64_t bytes = 0;

	is_int(vm_option_size(&bytes, "--stack", "64K", 1, INT64_MAX), 0,
	       "a size is taken");
	is_int(bytes, 65536, "... in bytes");
	captured_begin();
	is_int(vm_option_size(&bytes, "--stack", "4x", 1, INT64_MAX),
	       -VMPI_EINVAL, "others are refused");
	is_string(captured_end(),
		  said("--stack 4x: a size is needed, such as 65536, 256K or "
		       "1M"),
		  "... with one line");
	captured_begin();
	vm_option_size(&bytes, "--stack", "1", 4096, 1 << 20);
	is_string(captured_end(),
		  said("--stack 1: a size from 4K to 1M is needed, such as "
		       "65536, 256K or 1M"),
		  "... and the range, if there is one");
	is_int(bytes, 65536, "a mistake writes nothing");
}

static void test_word(void)
{
	static const char *const words[] = { "overview", "workers", "ranks" };
	int which = -1;

	is_int(vm_option_word(&which, "--screen", "ranks", words, 3), 0,
	       "a word is taken");
	is_int(which, 2, "... by its number");
	vm_option_word(&which, "--screen", "w", words, 3);
	is_int(which, 1, "so is its beginning");
	captured_begin();
	is_int(vm_option_word(&which, "--screen", "", words, 3), -VMPI_EINVAL,
	       "nothing begins none");
	captured_end();
	captured_begin();
	vm_option_word(&which, "--screen", "ranksx", words, 3);
	is_string(captured_end(),
		  said("--screen ranksx: one of overview, workers and ranks is "
		       "needed"),
		  "others are refused");
}

static void test_path(void)
{
	char *path = NULL, dir[] = "/tmp/vmpi-option-XXXXXX", wanted[64];

	if (!mkdtemp(dir) || chdir(dir))
		bail("a directory in /tmp");
	is_int(vm_option_path(&path, "--trace", "/a/b", "a file"), 0,
	       "a path from the root");
	is_string(path, "/a/b", "... stays as it is");
	free(path);
	is_int(vm_option_path(&path, "--trace", "a/b", "a file"), 0,
	       "one from here");
	snprintf(wanted, sizeof(wanted), "%s/a/b", dir);
	is_string(path, wanted, "... gets a beginning");
	free(path);
	path = NULL;
	captured_begin();
	is_int(vm_option_path(&path, "--trace", "", "a file"), -VMPI_EINVAL,
	       "none");
	is_string(captured_end(), said("--trace: the name of a file is needed"),
		  "... is refused");
	captured_begin();
	is_int(vm_option_path(&path, "--trace", "a\nb", "a file"), -VMPI_EINVAL,
	       "and so are two lines");
	captured_end();
	rmdir(dir);
	captured_begin();
	is_int(vm_option_path(&path, "--trace", "a", "a file"), -VMPI_EIO,
	       "here may be gone");
	is_string(captured_end(), said("--trace a: No such file or directory"),
		  "... which is said");
	ok(!path, "a mistake writes nothing");
	if (chdir("/"))
		bail("chdir");
}

static void test_refuse(void)
{
	char longest[1000];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	captured_begin();
	is_int(vm_option_refuse("-x", longest, "%d are needed", 2),
	       -VMPI_EINVAL, "a mistake");
	is_int((intmax_t)strlen(captured_end()), 6 + 3 + 200 + 15,
	       "a long value is cut");
	captured_begin();
	is_int(vm_cli_no_memory(), -VMPI_ENOMEM, "there may be no memory");
	is_string(captured_end(), said("out of memory"), "... which is said");
}

int main(void)
{
	test_number();
	test_digits();
	test_seconds();
	test_size();
	test_word();
	test_path();
	test_refuse();
	return done_testing();
}
