/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the workers and threads do is read before and after everything else.
 */
#include "core/runtime/quiet.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/own.h"
#include "core/rank/rank.h"
#include "core/rank/state.h"
#include "core/runtime/guests.h"
#include "fabric/end/stop.h"
#include "fabric/fabric.h"
#include "sched/worker.h"

#define PLACE_MAX 64
#define THREADS_MAX 1024

/* By this one can see that no worker and no thread has begun or ended to wait
 * meanwhile. */
struct rests {
	uint64_t workers;
	uint32_t thread_sleeps;
	int threads_asleep;
};

/* False: some worker does not rest. */
static bool rests_read(struct rests *rests)
{
	rests->workers = 0;
	for (int i = 0; i < vm_sched.worker_count; i++) {
		struct vm_worker *worker = &vm_sched.workers[i];
		uint32_t count = atomic_load(&worker->rests);

		/* Who wakes it clears `sleeping` before it can run. */
		if (!(count & 1) || !atomic_load(&worker->sleeping) ||
		    atomic_load(&worker->inbox))
			return false;
		rests->workers += count;
	}
	rests->thread_sleeps = atomic_load(&vm_sched.thread_sleeps);
	rests->threads_asleep = atomic_load(&vm_sched.threads_asleep);
	return true;
}

bool vm_quiet_rests(void)
{
	struct rests rests;

	return rests_read(&rests);
}

static bool is_same(const struct rests *a, const struct rests *b)
{
	return a->workers == b->workers &&
	       a->thread_sleeps == b->thread_sleeps &&
	       a->threads_asleep == b->threads_asleep;
}

/* Counts the ranks that wait; false: one of them may go on. */
static bool ranks_wait(struct vm_quiet *quiet)
{
	quiet->waiting = 0;
	quiet->waits = 0;
	for (int i = 0; i < vm_own_count(); i++) {
		const struct vm_rank *rank = vm_node->own[i];
		uint64_t state =
			__atomic_load_n(&rank->pvars.state, __ATOMIC_ACQUIRE);

		if (state >= VM_EXPORT_RECEIVE && state <= VM_EXPORT_COLLECTIVE)
			quiet->waiting++;
		else if (state != VM_EXPORT_OTHER && state != VM_EXPORT_DONE)
			return false;
		quiet->waits +=
			__atomic_load_n(&rank->pvars.waits, __ATOMIC_RELAXED);
	}
	return true;
}

/* Reads a short file of the process into text; false: it is not there. */
static bool text_read(char *text, size_t bytes, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, bytes - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	text[n] = '\0';
	return true;
}

/* Timers end in signals and threads, which may do anything. */
static bool has_timers(void)
{
	struct itimerval timer;
	char text[8];

	for (int kind = ITIMER_REAL; kind <= ITIMER_PROF; kind++)
		if (getitimer((__itimer_which_t)kind, &timer) == 0 &&
		    (timer.it_value.tv_sec || timer.it_value.tv_usec))
			return true;
	return text_read(text, sizeof(text), "/proc/self/timers") && text[0];
}

/* The numbers of the workers, and of the threads that sleep until vmpi wakes
 * them; more than there is room for: -1. */
static int known_list(int known[THREADS_MAX])
{
	struct vm_list *link;
	int count = 0;

	for (int i = 0; i < vm_sched.worker_count && count < THREADS_MAX; i++)
		known[count++] = __atomic_load_n(&vm_sched.workers[i].tid,
						 __ATOMIC_RELAXED);
	vm_lock_take(&vm_sched.adopted_lock);
	vm_list_each(link, &vm_sched.adopted) {
		const struct vm_worker *worker =
			vm_container_of(link, const struct vm_worker, link);

		if (count < THREADS_MAX && !vm_ult_alarm(&worker->root) &&
		    atomic_load(&worker->root.signal) == VM_SIGNAL_ASLEEP)
			known[count++] = worker->tid;
	}
	vm_lock_give(&vm_sched.adopted_lock);
	return count < THREADS_MAX ? count : -1;
}

static bool is_known(const int *known, int count, int tid)
{
	for (int i = 0; i < count; i++)
		if (known[i] == tid)
			return true;
	return false;
}

uintptr_t vm_quiet_futex(int tid)
{
	unsigned long number, address, operation, value, limit;
	char path[PLACE_MAX], text[256];

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	if (!text_read(text, sizeof(text), path) ||
	    sscanf(text, "%lu %lx %lx %lx %lx", &number, &address, &operation,
		   &value, &limit) != 5)
		return 0;
	operation &= ~(unsigned long)FUTEX_CLOCK_REALTIME;
	return number == SYS_futex && limit == 0 &&
			       (operation == FUTEX_WAIT_PRIVATE ||
				operation == FUTEX_WAIT_BITSET_PRIVATE) ?
		       address :
		       0;
}

static bool is_own(int tid)
{
	char path[PLACE_MAX], name[32];

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
	return text_read(name, sizeof(name), path) &&
	       !strcmp(name, VM_OWN_NAME "\n");
}

/* How often the thread has begun to wait; 0: that cannot be seen. */
static uint64_t switches_read(int tid)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	char path[PLACE_MAX], text[4096];
	const char *at;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	if (!text_read(text, sizeof(text), path))
		return 0;
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/*
 * Whether a thread of the program, which does not sleep until vmpi wakes it,
 * may do something.  If not, *switches is greater the next time if one of them
 * has run in between: while one is looked at, those before it may be woken.
 */
static bool has_foreigners(uint64_t *switches)
{
	int known[THREADS_MAX];
	int count = known_list(known);
	bool found = count < 0;
	struct dirent *entry;
	DIR *tasks;

	*switches = 0;
	tasks = found ? NULL : opendir("/proc/self/task");
	if (!tasks)
		return true;
	while (!found && (entry = readdir(tasks))) {
		int tid = (int)strtol(entry->d_name, NULL, 10);
		uint64_t own;

		if (tid <= 0 || is_known(known, count, tid) || is_own(tid))
			continue;
		own = switches_read(tid);
		*switches += own;
		found = !own || !vm_quiet_futex(tid);
	}
	closedir(tasks);
	return found;
}

/* The packets with other processes, without those that ask about it. */
static bool packets_count(struct vm_quiet *quiet, struct vm_quiet_own *own)
{
	uint32_t before = atomic_load(&own->received);

	quiet->sent = quiet->received = 0;
	if (!vm_node->fabric)
		return true;
	if (!vm_fabric_quiet(vm_node->fabric, &quiet->sent, &quiet->received) ||
	    atomic_load(&own->received) != before)
		return false;
	quiet->sent -= atomic_load(&own->sent);
	quiet->received -= before;
	return true;
}

enum vm_quiet_seen vm_quiet_look(struct vm_quiet *quiet,
				 struct vm_quiet_own *own)
{
	struct rests before, after;
	uint64_t switches, again;

	/* What ranks of other jobs do, nobody here can see. */
	if (!ranks_wait(quiet) || atomic_load(&vm_node->outside) ||
	    vm_guests_alive())
		return VM_QUIET_RUNS;
	if (!rests_read(&before) || !packets_count(quiet, own))
		return VM_QUIET_MOVES;
	if (has_timers() || has_foreigners(&switches) ||
	    has_foreigners(&again) || switches != again)
		return VM_QUIET_RUNS;
	if (!ranks_wait(quiet) || !rests_read(&after) ||
	    !is_same(&before, &after))
		return VM_QUIET_MOVES;
	return VM_QUIET_YES;
}
