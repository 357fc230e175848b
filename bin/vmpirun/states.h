/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The states of the job's ranks, for a user who wonders why it does not end.
 */
#ifndef VMPIRUN_STATES_H
#define VMPIRUN_STATES_H

/* Says what the ranks of this job do that are on this host, those together that
 * do the same, and the deadlock, if there is one; nothing if it cannot be seen
 * (core_export).  Takes up to a tenth of a second. */
void states_say(const char *job);

/* The same of a job that is deadlocked, with the line of the program in which
 * each rank waits, and those first that do something else than most. */
void states_hang_say(const char *job);

#endif
