/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standing by while the node process runs: signals, the time limit, the end.
 *
 * One rule for all ways to end a job early: SIGTERM first, SIGKILL when the
 * node process has not ended after a grace period, or at a second signal.
 */
#ifndef VMPIRUN_WATCH_H
#define VMPIRUN_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct watch {
	sigset_t signals; /* that we wait for; blocked */
	sigset_t before;  /* the mask vmpirun was started with */
	pid_t pid;
	bool group;	   /* pid leads a process group */
	uint64_t limit_ns; /* when the time is over, or UINT64_MAX */
	uint64_t kill_ns;  /* when to send SIGKILL, or UINT64_MAX */
	uint64_t grace_ns; /* how long the node process had until kill_ns */
	const char *limit_text;
	int code; /* exit code once we have ended the job, else -1 */
};

/* Blocks the signals; before the node process is started. */
void watch_init(struct watch *watch);

/*
 * Waits until the node process pid has ended.  limit_ns is 0 or the time it
 * has, limit_text how the user wrote it.  Result: the exit code for vmpirun.
 */
int watch_node(struct watch *watch, pid_t pid, bool group, uint64_t limit_ns,
	       const char *limit_text);

#endif
