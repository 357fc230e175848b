/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choosing processors.
 *
 * Programs bind the process of a rank to a core of their choice, by its number
 * on the node.  Here that would bind a worker, and the rank called last would
 * move all others of the worker to its core.  So where ranks share workers such a
 * choice is checked and not followed; a rank with a worker of its own has it.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/rank/state.h"
#include "real.h"

/* Whether the caller's worker runs other ranks too. */
static bool shares_worker(void)
{
	return node_on_task() && vm_node->rank_here > vm_node->engine_count;
}

/* 0, or the error that the kernel finds: none of these processors is the
 * process's. */
static int set_check(size_t bytes, const cpu_set_t *wanted)
{
	cpu_set_t here, set;

	CPU_ZERO(&set);
	memcpy(&set, wanted, bytes < sizeof(set) ? bytes : sizeof(set));
	/* Its first thread is no worker. */
	if (sched_getaffinity(node.pid, sizeof(here), &here))
		return 0;
	CPU_AND(&set, &set, &here);
	return CPU_COUNT(&set) ? 0 : EINVAL;
}

NODE_EXPORT int pthread_setaffinity_np(pthread_t thread, size_t bytes,
				       const cpu_set_t *set)
{
	if (pthread_equal(thread, pthread_self()) && shares_worker())
		return set_check(bytes, set);
	return REAL(pthread_setaffinity_np)(thread, bytes, set);
}

NODE_EXPORT int sched_setaffinity(pid_t thread, size_t bytes,
				  const cpu_set_t *set)
{
	int error;

	if (!set || (thread && thread != (pid_t)syscall(SYS_gettid)) ||
	    !shares_worker())
		return REAL(sched_setaffinity)(thread, bytes, set);
	error = set_check(bytes, set);
	if (!error)
		return 0;
	errno = error;
	return -1;
}
