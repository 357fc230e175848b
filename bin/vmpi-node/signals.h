/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signal handlers of ranks.
 *
 * signal() and sigaction() set what the calling rank does about a signal; the
 * process has one dispatcher.  A signal that a rank caused itself (a fault,
 * raise, a broken pipe) is its own; one from outside goes to every rank that
 * has a handler.  A child made by fork() keeps the handlers of its rank.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Remembers what the process was started with; before the ranks start. */
void signals_start(void);

/* In a child made by fork(). */
void signals_fork_child(void);

/* Has the current rank's handler called for a signal it caused, mostly when the
 * caller returns, which it does next; false: it has none, or it is in it. */
bool signals_call(int signal, siginfo_t *info, void *context);

/* The default of a signal without a handler happens to the process; returns if
 * that is nothing. */
void signals_default(int signal);

/* As libc's sigaction(), for the process. */
int signals_set(int signal, const struct sigaction *action,
		struct sigaction *old);

#endif
