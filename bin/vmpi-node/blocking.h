/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of a task for what wakes OS threads only.
 */
#ifndef BLOCKING_H
#define BLOCKING_H

/* The pause after try number `tries`, which failed: yields first, then sleeps
 * longer and longer.  May switch. */
void task_pause(unsigned tries);

#endif
