/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test Anything Protocol: the printing.
 *
 * Each check is one line written under stdout's lock, so numbers and lines stay
 * in order when several threads report.
 */
#include "tap.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int planned = -1;
static int run;
static int failed;
static bool started;

static void alarm_handler(int signal)
{
	static const char text[] = "\nBail out! the test runs for too long\n";

	(void)signal;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

/* Arms the watchdog, once. */
static void start(void)
{
	const char *text = getenv("TAP_TIMEOUT");
	long seconds = text ? strtol(text, NULL, 10) : 0;

	if (started)
		return;
	started = true;
	signal(SIGALRM, alarm_handler);
	alarm(seconds > 0 ? (unsigned int)seconds : 60);
	setvbuf(stdout, NULL, _IOLBF, 0);
}

/* Prints text with each newline replaced, so that it stays what it is. */
static void text_v(const char *newline, const char *format, va_list args)
{
	char text[2048];

	vsnprintf(text, sizeof(text), format, args);
	for (const char *c = text; *c; c++) {
		if (*c == '\n')
			fputs(newline, stdout);
		else
			putchar(*c);
	}
	putchar('\n');
}

static bool result_v(bool held, const char *format, va_list args)
{
	flockfile(stdout);
	start();
	run++;
	if (!held)
		failed++;
	printf("%sok %d - ", held ? "" : "not ", run);
	text_v("\\n", format, args);
	funlockfile(stdout);
	return held;
}

void plan(int n)
{
	flockfile(stdout);
	start();
	planned = n;
	printf("1..%d\n", n);
	funlockfile(stdout);
}

int done_testing(void)
{
	alarm(0);
	if (planned < 0) {
		planned = run;
		printf("1..%d\n", run);
	}
	if (planned != run)
		diag("planned %d checks but ran %d", planned, run);
	fflush(stdout);
	return failed || planned != run;
}

bool ok(bool held, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	result_v(held, format, args);
	va_end(args);
	return held;
}

bool is_int(intmax_t got, intmax_t want, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	result_v(got == want, format, args);
	va_end(args);
	if (got != want)
		diag("got %jd, want %jd", got, want);
	return got == want;
}

bool is_double(double got, double want, double epsilon, const char *format, ...)
{
	bool held = fabs(got - want) <= epsilon;
	va_list args;

	va_start(args, format);
	result_v(held, format, args);
	va_end(args);
	if (!held)
		diag("got %g, want %g (+- %g)", got, want, epsilon);
	return held;
}

bool is_string(const char *got, const char *want, const char *format, ...)
{
	bool held = got && want ? strcmp(got, want) == 0 : got == want;
	va_list args;

	va_start(args, format);
	result_v(held, format, args);
	va_end(args);
	if (!held)
		diag("got '%s', want '%s'", got ? got : "(null)",
		     want ? want : "(null)");
	return held;
}

bool is_blob(const void *got, const void *want, size_t bytes,
	     const char *format, ...)
{
	const unsigned char *a = got, *b = want;
	bool held = bytes == 0 || memcmp(got, want, bytes) == 0;
	size_t at = 0;
	va_list args;

	va_start(args, format);
	result_v(held, format, args);
	va_end(args);
	if (held)
		return true;
	while (a[at] == b[at])
		at++;
	diag("byte %zu of %zu: got 0x%02x, want 0x%02x", at, bytes, a[at],
	     b[at]);
	return false;
}

void skip(int n, const char *format, ...)
{
	flockfile(stdout);
	start();
	for (int i = 0; i < n; i++) {
		va_list args;

		printf("ok %d # SKIP ", ++run);
		va_start(args, format);
		text_v("\\n", format, args);
		va_end(args);
	}
	funlockfile(stdout);
}

/* Prints "prefix text". */
static void line_v(const char *prefix, const char *format, va_list args)
{
	flockfile(stdout);
	fputs(prefix, stdout);
	text_v("\n# ", format, args);
	fflush(stdout);
	funlockfile(stdout);
}

void skip_all(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line_v("1..0 # SKIP ", format, args);
	va_end(args);
	_exit(0);
}

void bail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line_v("Bail out! ", format, args);
	va_end(args);
	_exit(1);
}

void diag(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line_v("# ", format, args);
	va_end(args);
}
