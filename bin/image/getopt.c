/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * getopt, getopt_long, getopt_long_only: libc's keep their state in variables
 * that all ranks would share, so each program brings its own.
 *
 * Behaviour and messages are those of glibc (its manual, "Parsing program
 * options using getopt"); t/image/getopt.c compares the two on random command
 * lines.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

OURS(getopt);
OURS(getopt_long);
OURS(getopt_long_only);
int __posix_getopt(int argc, char *const *argv, const char *shorts);
OURS(__posix_getopt);

enum order { PERMUTE, STOP_AT_OTHER, RETURN_OTHER };

/* Arguments [first, last) are no options and have been passed over. */
static struct {
	bool started;
	enum order order;
	int first, last;
	char *next; /* rest of a cluster of short options */
} scan;

/* One call's arguments. */
struct call {
	int argc;
	char **argv;
	const char *shorts;
	const struct option *longs;
	int *index;
	bool only;  /* long options may begin with one dash */
	bool quiet; /* no messages; a missing argument is ':' */
};

static bool is_other(const char *word)
{
	return word[0] != '-' || !word[1];
}

static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	LIBC(vfprintf)(stderr, format, args);
	va_end(args);
}

/* Moves the options in [last, optind) before the words in [first, last). */
static void exchange(char **argv)
{
	int others = scan.last - scan.first;

	for (int i = scan.last; i < optind; i++) {
		char *word = argv[i];

		memmove(&argv[i - others + 1], &argv[i - others],
			(size_t)others * sizeof(*argv));
		argv[i - others] = word;
	}
	scan.first += optind - scan.last;
	scan.last = optind;
}

static void start(const struct call *call, bool posix)
{
	if (optind == 0)
		optind = 1;
	scan.first = scan.last = optind;
	scan.next = NULL;
	if (call->shorts[0] == '-')
		scan.order = RETURN_OTHER;
	else if (call->shorts[0] == '+' || posix ||
		 vm_image_getenv("POSIXLY_CORRECT"))
		scan.order = STOP_AT_OTHER;
	else
		scan.order = PERMUTE;
	scan.started = true;
}

static int missing(const struct call *call)
{
	return call->shorts[0] == ':' ? ':' : '?';
}

static bool same(const struct option *a, const struct option *b)
{
	return a->has_arg == b->has_arg && a->flag == b->flag &&
	       a->val == b->val;
}

/* The option called or abbreviated so; NULL: none, or *ambiguous. */
static const struct option *long_find(const struct call *call, const char *name,
				      size_t length, bool *ambiguous)
{
	const struct option *found = NULL;

	*ambiguous = false;
	for (const struct option *o = call->longs; o->name; o++)
		if (!strncmp(o->name, name, length) && !o->name[length])
			return o;
	for (const struct option *o = call->longs; o->name; o++) {
		if (strncmp(o->name, name, length))
			continue;
		if (!found)
			found = o;
		else if (call->only || !same(found, o))
			*ambiguous = true;
	}
	return *ambiguous ? NULL : found;
}

static int long_ambiguous(const struct call *call, const char *prefix,
			  size_t length)
{
	if (!call->quiet) {
		say("%s: option '%s%s' is ambiguous; possibilities:",
		    call->argv[0], prefix, scan.next);
		for (const struct option *o = call->longs; o->name; o++)
			if (!strncmp(o->name, scan.next, length))
				say(" '%s%s'", prefix, o->name);
		say("\n");
	}
	scan.next = NULL;
	optind++;
	optopt = 0;
	return '?';
}

/* Takes the argument of a long option; end is where its name ends. */
static int long_argument(const struct call *call, const struct option *option,
			 const char *prefix, char *end)
{
	if (*end && option->has_arg == no_argument) {
		if (!call->quiet)
			say("%s: option '%s%s' doesn't allow an argument\n",
			    call->argv[0], prefix, option->name);
		optopt = option->val;
		return '?';
	}
	if (*end) {
		optarg = end + 1;
	} else if (option->has_arg == required_argument) {
		if (optind >= call->argc) {
			if (!call->quiet)
				say("%s: option '%s%s' requires an "
				    "argument\n",
				    call->argv[0], prefix, option->name);
			optopt = option->val;
			return missing(call);
		}
		optarg = call->argv[optind++];
	}
	if (call->index)
		*call->index = (int)(option - call->longs);
	if (!option->flag)
		return option->val;
	*option->flag = option->val;
	return 0;
}

/* A long option at scan.next; -1: it is none, but may be a short one. */
static int long_take(const struct call *call, const char *prefix)
{
	size_t length = strcspn(scan.next, "=");
	char *end = scan.next + length;
	bool ambiguous;
	const struct option *option =
		long_find(call, scan.next, length, &ambiguous);

	if (ambiguous)
		return long_ambiguous(call, prefix, length);
	if (!option) {
		if (call->only && call->argv[optind][1] != '-' &&
		    strchr(call->shorts, *scan.next))
			return -1;
		if (!call->quiet)
			say("%s: unrecognized option '%s%s'\n", call->argv[0],
			    prefix, scan.next);
		scan.next = NULL;
		optind++;
		optopt = 0;
		return '?';
	}
	optind++;
	scan.next = NULL;
	return long_argument(call, option, prefix, end);
}

static int short_missing(const struct call *call, int c)
{
	if (!call->quiet)
		say("%s: option requires an argument -- '%c'\n", call->argv[0],
		    c);
	optopt = c;
	return missing(call);
}

/* "-W foo" as "--foo", when the short options hold "W;". */
static int w_take(const struct call *call)
{
	if (!*scan.next) {
		if (optind == call->argc)
			return short_missing(call, 'W');
		scan.next = call->argv[optind];
	}
	optarg = NULL;
	return long_take(call, "-W ");
}

static int short_take(const struct call *call)
{
	int c = (unsigned char)*scan.next++;
	const char *found = strchr(call->shorts, c);

	if (!*scan.next)
		optind++;
	if (!found || c == ':' || c == ';') {
		if (!call->quiet)
			say("%s: invalid option -- '%c'\n", call->argv[0], c);
		optopt = c;
		return '?';
	}
	if (found[0] == 'W' && found[1] == ';' && call->longs)
		return w_take(call);
	if (found[1] != ':')
		return c;
	if (*scan.next) {
		optarg = scan.next;
		optind++;
	} else if (found[2] != ':') {
		if (optind == call->argc)
			c = short_missing(call, c);
		else
			optarg = call->argv[optind++];
	}
	scan.next = NULL;
	return c;
}

/* Goes to the next option; false: *result says what to return. */
static bool word_next(const struct call *call, int *result)
{
	if (scan.last > optind)
		scan.last = optind;
	if (scan.first > optind)
		scan.first = optind;
	if (scan.order == PERMUTE) {
		if (scan.first != scan.last && scan.last != optind)
			exchange(call->argv);
		else if (scan.last != optind)
			scan.first = optind;
		while (optind < call->argc && is_other(call->argv[optind]))
			optind++;
		scan.last = optind;
	}
	if (optind != call->argc && !strcmp(call->argv[optind], "--")) {
		optind++;
		if (scan.first != scan.last && scan.last != optind)
			exchange(call->argv);
		else if (scan.first == scan.last)
			scan.first = optind;
		scan.last = call->argc;
		optind = call->argc;
	}
	*result = -1;
	if (optind == call->argc) {
		if (scan.first != scan.last)
			optind = scan.first;
		return false;
	}
	if (!is_other(call->argv[optind]))
		return true;
	if (scan.order == RETURN_OTHER) {
		optarg = call->argv[optind++];
		*result = 1;
	}
	return false;
}

static int next_option(struct call *call, bool posix)
{
	const char *word;
	int result;

	if (call->argc < 1)
		return -1;
	optarg = NULL;
	if (optind == 0 || !scan.started)
		start(call, posix);
	if (call->shorts[0] == '-' || call->shorts[0] == '+')
		call->shorts++;
	call->quiet = !opterr || call->shorts[0] == ':';
	if (scan.next && *scan.next)
		return short_take(call);
	if (!word_next(call, &result))
		return result;
	word = call->argv[optind];
	if (call->longs && word[1] == '-') {
		scan.next = call->argv[optind] + 2;
		return long_take(call, "--");
	}
	if (call->longs && call->only &&
	    (word[2] || !strchr(call->shorts, word[1]))) {
		scan.next = call->argv[optind] + 1;
		result = long_take(call, "-");
		if (result != -1)
			return result;
	}
	scan.next = call->argv[optind] + 1;
	return short_take(call);
}

int vm_image_getopt(int argc, char *const *argv, const char *shorts)
{
	struct call call = {
		argc, (char **)(size_t)argv, shorts, NULL, NULL, false, false
	};

	return next_option(&call, false);
}

int vm_image___posix_getopt(int argc, char *const *argv, const char *shorts)
{
	struct call call = {
		argc, (char **)(size_t)argv, shorts, NULL, NULL, false, false
	};

	return next_option(&call, true);
}

int vm_image_getopt_long(int argc, char *const *argv, const char *shorts,
			 const struct option *longs, int *index)
{
	struct call call = {
		argc, (char **)(size_t)argv, shorts, longs, index, false, false
	};

	return next_option(&call, false);
}

int vm_image_getopt_long_only(int argc, char *const *argv, const char *shorts,
			      const struct option *longs, int *index)
{
	struct call call = {
		argc, (char **)(size_t)argv, shorts, longs, index, true, false
	};

	return next_option(&call, false);
}
