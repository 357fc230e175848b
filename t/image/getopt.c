/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our getopt against glibc's: random command lines from words that tend to
 * meet the rules, and every observable result compared, messages included.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static char *image_optarg;
static int image_optind = 1, image_opterr = 1, image_optopt = '?';

#define optarg image_optarg
#define optind image_optind
#define opterr image_opterr
#define optopt image_optopt
#include "../../bin/image/getopt.c"

char *vm_image_getenv(const char *name)
{
	return getenv(name);
}

#undef optarg
#undef optind
#undef opterr
#undef optopt

#define WORDS_MAX 7
#define TRACE_BYTES 8192

static int flag_value;
static const struct option longs[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "almost", no_argument, NULL, 'a' },
	{ "file", required_argument, NULL, 'f' },
	{ "fill", required_argument, NULL, 'F' },
	{ "opt", optional_argument, NULL, 1001 },
	{ "flag", no_argument, &flag_value, 17 },
	{ "a", no_argument, NULL, 2001 },
	{ NULL, 0, NULL, 0 },
};

static const char *const words[] = {
	"x",	  "yy",	     "-",	 "--",	    "-a",      "-ab",
	"-b",	  "-bv",     "-c",	 "-cv",	    "-q",      "-aq",
	"--all",  "--al",    "--alm",	 "--a",	    "--file",  "--file=1",
	"--fi",	  "--fil=2", "--opt",	 "--opt=",  "--opt=3", "--flag",
	"--fl=4", "--nope",  "--nope=5", "-all",    "-file",   "-fi",
	"-o",	  "-W",	     "-Wall",	 "-Wopt=6", "-:",      "-f",
};

static const char *const shorts[] = { "ab:c::f:W;", "+ab:c::", "-ab:c::W;",
				      ":ab:c::",    "+:ab:",   "",
				      "-:ab:c::",   "abc" };

enum { PLAIN, LONG, ONLY };

struct library {
	int (*plain)(int, char *const *, const char *);
	int (*get_long)(int, char *const *, const char *, const struct option *,
			int *);
	int (*only)(int, char *const *, const char *, const struct option *,
		    int *);
	char **arg;
	int *ind, *err, *opt;
};

/* One command line, scanned to its end; everything visible goes to trace. */
static void scan_all(const struct library *lib, int kind, int argc,
		     const char *const *given, const char *options,
		     char trace[TRACE_BYTES])
{
	char *argv[WORDS_MAX + 2];
	FILE *saved = stderr;
	FILE *out = fmemopen(trace, TRACE_BYTES, "w");

	memcpy(argv, given, (size_t)(argc + 1) * sizeof(*argv));
	stderr = out;
	*lib->ind = 0;
	for (int calls = 0; calls < 40; calls++) {
		int index = -7, c = -1;

		flag_value = 0;
		if (kind == PLAIN)
			c = lib->plain(argc, argv, options);
		else if (kind == LONG)
			c = lib->get_long(argc, argv, options, longs, &index);
		else
			c = lib->only(argc, argv, options, longs, &index);
		fprintf(out, "%d arg=%s ind=%d opt=%d index=%d flag=%d\n", c,
			*lib->arg ? *lib->arg : "NULL", *lib->ind, *lib->opt,
			index, flag_value);
		if (c == -1)
			break;
	}
	for (int i = 0; i < argc; i++)
		fprintf(out, " %s", argv[i]);
	fputc('\n', out);
	stderr = saved;
	fclose(out);
}

static const struct library theirs = { getopt,	getopt_long, getopt_long_only,
				       &optarg, &optind,     &opterr,
				       &optopt };
static const struct library ours = {
	vm_image_getopt, vm_image_getopt_long, vm_image_getopt_long_only,
	&image_optarg,	 &image_optind,	       &image_opterr,
	&image_optopt
};

static bool compare(unsigned *seed)
{
	static char want[TRACE_BYTES], got[TRACE_BYTES];
	const char *argv[WORDS_MAX + 2] = { "prog" };
	int argc = 1 + rand_r(seed) % WORDS_MAX;
	int kind = rand_r(seed) % 3;
	const char *options = shorts[(size_t)rand_r(seed) %
				     (sizeof(shorts) / sizeof(*shorts))];

	for (int i = 1; i < argc; i++)
		argv[i] = words[(size_t)rand_r(seed) %
				(sizeof(words) / sizeof(*words))];
	argv[argc] = NULL;
	memset(want, 0, sizeof(want));
	memset(got, 0, sizeof(got));
	scan_all(&theirs, kind, argc, argv, options, want);
	scan_all(&ours, kind, argc, argv, options, got);
	if (!strcmp(got, want))
		return true;
	diag("kind %d, options \"%s\"", kind, options);
	for (int i = 1; i < argc; i++)
		diag("word %s", argv[i]);
	diag("want %s", want);
	diag("got  %s", got);
	return false;
}

int main(void)
{
	unsigned seed = 20251120;
	int same = 0, all = 200000;

	plan(3);
	while (same < all && compare(&seed))
		same++;
	is_int(same, all, "random command lines give what glibc's gives");
	setenv("POSIXLY_CORRECT", "1", 1);
	for (same = 0; same < 20000 && compare(&seed);)
		same++;
	is_int(same, 20000, "and so with POSIXLY_CORRECT");
	unsetenv("POSIXLY_CORRECT");
	image_optind = 0;
	is_int(vm_image___posix_getopt(1, (char *[]){ (char *)"prog", NULL },
				       "a"),
	       -1, "the POSIX variant is there");
	return done_testing();
}
