/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of a task for what wakes OS threads only.
 */
#ifndef BLOCKING_H
#define BLOCKING_H

#include <stdbool.h>
#include <time.h>

#define TRIES_EAGER 16 /* with a yield in between, before it takes long */

/* The pause after try number `tries`, which failed: yields first, then sleeps
 * longer and longer.  May switch. */
void task_pause(unsigned tries);

/* Whether this time has come. */
bool time_is_over(clockid_t clock, const struct timespec *until);

#endif
