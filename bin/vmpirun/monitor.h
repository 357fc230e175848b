/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting while the processes run: their PMI, signals, the time limit, the end.
 *
 * One rule for all ways to end a job early: SIGTERM first, SIGKILL when a
 * process has not ended after a grace period, or at a second signal.  When a
 * node process dies, the others are told at once and have a second to react
 * before that begins.
 */
#ifndef VMPIRUN_MONITOR_H
#define VMPIRUN_MONITOR_H

#include <signal.h>
#include <stdint.h>

#include "launch.h"
#include "other_mpi.h"

struct monitor {
	struct launch *launch;
	sigset_t signals; /* that we wait for; blocked */
	sigset_t before;  /* the mask vmpirun was started with */
	int signal_fd;
	uint64_t limit_ns; /* when the time is over, or UINT64_MAX */
	uint64_t end_ns;   /* when to send SIGTERM, or UINT64_MAX */
	uint64_t kill_ns;  /* when to send SIGKILL, or UINT64_MAX */
	uint64_t grace_ns; /* how long the processes had until kill_ns */
	struct other_mpi other;
	pid_t *pids; /* for it: of the processes that run, else 0 */
	bool looks;  /* for it: the processes are ranks, and join us */
	bool found;  /* it has found one, which was said */
	int ended;   /* exit code once the user has ended the job, else -1 */
	int failed;  /* exit code of the first failure, else -1 */
	bool ending; /* SIGTERM has been sent */
	int refused; /* why signals cannot be blocked, or 0 */
};

/* Until monitor_init() a request for a report does nothing; it would be the end
 * of vmpirun. */
void monitor_bear(void);

/* Blocks the signals; before the processes are started. */
void monitor_init(struct monitor *monitor, struct launch *launch);

/* Waits until all processes have ended.  Result: the exit code for vmpirun. */
int monitor_run(struct monitor *monitor);

/* Kills and reaps the processes. */
void monitor_kill(struct monitor *monitor);

#endif
