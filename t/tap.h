/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test Anything Protocol for C, in the words of c-tap-harness.
 *
 * A test says plan(n) first or done_testing() last, and one check per sentence
 * between.  Checks may come from several threads and tasks.  A test that runs
 * longer than a minute (or $TAP_TIMEOUT seconds) is ended, so none ever hangs.
 *
 *	plan(2);
 *	ok(list_empty(&list), "a new list is empty");
 *	is_int(list_length(&list), 0, "and its length is 0");
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAP_PRINTF(nth, first) __attribute__((format(printf, nth, first)))

/* Announces n checks and arms the watchdog. */
void plan(int n);

/* Ends a test: prints the plan if there was none.  The result is the exit
 * status for main: 0, or 1 when a check failed or the plan was not kept. */
int done_testing(void);

/* A check; each returns whether it held. */
bool ok(bool held, const char *format, ...) TAP_PRINTF(2, 3);
bool is_int(intmax_t got, intmax_t want, const char *format, ...)
	TAP_PRINTF(3, 4);
bool is_double(double got, double want, double epsilon, const char *format, ...)
	TAP_PRINTF(4, 5);
bool is_string(const char *got, const char *want, const char *format, ...)
	TAP_PRINTF(3, 4);
bool is_blob(const void *got, const void *want, size_t bytes,
	     const char *format, ...) TAP_PRINTF(4, 5);

/* Counts n checks as skipped, for a reason. */
void skip(int n, const char *format, ...) TAP_PRINTF(2, 3);

/* Ends the whole test as skipped; to be called before plan(). */
_Noreturn void skip_all(const char *format, ...) TAP_PRINTF(1, 2);

/* Ends the whole test at once as failed. */
_Noreturn void bail(const char *format, ...) TAP_PRINTF(1, 2);

/* A line for the reader. */
void diag(const char *format, ...) TAP_PRINTF(1, 2);

#endif
