/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of a fault: one thread makes it, once, within seconds, whatever
 * happens meanwhile.
 */
#ifndef GUARD_H
#define GUARD_H

#include <signal.h>
#include <stdbool.h>

/*
 * Around what the handler of a fault does itself.  False: the signal is only the
 * guard's clock, return.  A fault of the calling thread between the two does not
 * return: the process ends with what is known of the first one.
 */
bool guard_enter(int signal, const siginfo_t *info);
void guard_leave(void);

/*
 * Begins the report.  Only the first thread returns; the others wait for the end
 * of the process.  If the report meets a fault or cannot go on, `second` (or NULL)
 * is called, which finds out less and ends the process; and if that fails, too,
 * what is certain is said.
 */
void guard_begin(int signal, void (*second)(void));
void guard_certain(const char *text);

/* Says the text and ends the process; with a core file if those are wanted. */
_Noreturn void guard_end(int signal, const char *text);

#endif
