/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calling a rank's signal handler as the kernel would: on the rank's stack, or
 * on its alternate one, which sigaltstack() sets for each of its threads.
 */
#ifndef HANDLER_H
#define HANDLER_H

#include <signal.h>
#include <stdbool.h>

/*
 * In the process's handler of `signal`, with its arguments: has the action's
 * handler called, mostly when the caller returns, which it does next.  False:
 * there is no room for it, because the stack has overflowed and the handler is
 * not for an alternate one.
 */
bool handler_call(const struct sigaction *action, int signal, siginfo_t *info,
		  void *context);

/* Whether the signal of a fault meets the rank in a handler that blocks it, as
 * its own does. */
bool handler_blocked(int signal, const void *context);

/* As libc's pthread_sigmask(). */
int handler_mask(int how, const sigset_t *set, sigset_t *old);

/* The calling task or thread of a rank ends, and with it its alternate stack. */
void handler_task_end(void);

/* In a child made by fork(), while the task that called it is still known. */
void handler_fork_child(void);

#endif
