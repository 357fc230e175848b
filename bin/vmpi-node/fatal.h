/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults: the report that names the rank.
 */
#ifndef FATAL_H
#define FATAL_H

#include <stdbool.h>

#include "sched/stack.h"

/* The signals of faults. */
#define FATALS 5
extern const int fatal_signals[FATALS];

/* Whether the signal ends a rank, and with it the job, unless the rank handles
 * it. */
bool fatal_signal(int signal);

/* Ends the job: the calling rank sent itself a signal, or was sent one for what
 * it did, that ends a process. */
_Noreturn void fatal_raised(int signal, void *context);

/* Takes the fatal signals over; before the ranks start. */
void fatal_start(void);

/* Gives the calling thread a stack for them, so that an overflow of a rank's
 * stack can be reported, and takes it away; NULL: there is none. */
void *fatal_thread_start(void);
void fatal_thread_end(void *stack);

#endif
