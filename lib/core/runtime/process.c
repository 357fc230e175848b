/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one rank of an ordinary executable, and its part in a job.
 */
#include "core/runtime/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/flush.h"
#include "base/last_word.h"
#include "base/log.h"
#include "base/standard.h"
#include "boot/boot.h"
#include "core/instrument/overlap_events.h"
#include "core/instrument/intercept.h"
#include "core/runtime/child.h"
#include "core/runtime/crash.h"
#include "core/runtime/deadlock.h"
#include "core/runtime/node.h"
#include "core/instrument/profiler.h"
#include "core/remote/remote.h"
#include "core/rank/vars.h"
#include "core/local/threads.h"
#include "introspect/vars/cvar.h"
#include "sched/topo.h"

static struct {
	pthread_mutex_t lock; /* guards the start */
	_Atomic(struct vm_rank *) rank;
	pthread_key_t leave;  /* its destructor runs when a thread ends */
	struct vm_boot *boot; /* NULL: not in the job yet, or any more */
	struct vm_lock deaths_lock;
	bool running;	    /* under that lock: deaths matter */
	bool watched;	    /* the rank's calls are, of one of its threads */
	bool (*over)(void); /* the rank has done its part; NULL: not asked */
} process = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct vm_rank *vm_process_rank(void)
{
	/* Pairs with the store in process_start(). */
	return atomic_load_explicit(&process.rank, memory_order_acquire);
}

static void thread_leave(void *rank)
{
	if (vm_self)
		vm_thread_release();
}

static void running_set(bool running)
{
	vm_lock_take(&process.deaths_lock);
	process.running = running;
	vm_lock_give(&process.deaths_lock);
}

/* On a thread of boot's. */
static void peer_event_take(const struct vm_boot_peer_event *event, void *arg)
{
	if (event->process < 0)
		vm_node_die(EXIT_FAILURE,
			    "the launcher has died; ending this process");
	vm_lock_take(&process.deaths_lock);
	if (process.running)
		vm_remote_dead(event->process, event->status);
	vm_lock_give(&process.deaths_lock);
}

static int ranks_check(const struct vm_job *job)
{
	int ranks = vm_boot_ranks_here(job);

	if (ranks <= 1)
		return ranks < 0 ? ranks : 0;
	vm_log(VM_ERROR,
	       "the launcher assigns %d ranks to this process, but an "
	       "ordinary executable can only be one; start it with "
	       "vmpirun, one process per rank, or build it with vmpicc",
	       ranks);
	return -VMPI_EINVAL;
}

/*
 * Divides the cores among the processes.  If they suffice and nobody else has
 * bound them, the caller, and the threads that it will start, keep to those of
 * the process: two processes that wait for each other on one core take turns
 * there, and the kernel leaves them where one has woken the other.
 */
static int cores_share(const struct vm_boot *boot, bool launched)
{
	int rc = vm_topo_init();

	if (rc)
		return rc;
	vm_topo_share(boot->share, boot->shares);
	if (launched && !vm_topo_shared() && vm_topo_is_free())
		vm_topo_unbind();
	return 0;
}

/* Of the processes that fail for one reason one says it. */
static void last_word_take(const struct vm_job *job)
{
	int fd = job->last_word ? (int)strtol(job->last_word, NULL, 10) : -1;

	if (fd < 0 || fcntl(fd, F_GETFD) < 0)
		return;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	vm_last_word_set(fd);
}

/* Finds the other processes of the job, if there are any. */
static int job_join(void)
{
	struct vm_job job;
	int rc = vm_job_from_env(&job);
	bool launched, keep_going;

	if (rc)
		return rc;
	/* That is a pipe to vmpirun, which has started all processes itself. */
	launched = job.processes && job.hang;
	last_word_take(&job);
	keep_going = job.keep_going;
	vm_core_vars_add();
	rc = ranks_check(&job);
	if (!rc)
		rc = vm_vars_load(job.set);
	if (!rc)
		rc = vm_boot_open(&process.boot, &job);
	vm_node_hooks.hang_fd = vm_deadlock_fd(job.hang);
	if (vm_node_hooks.hang_fd)
		fcntl(vm_node_hooks.hang_fd, F_SETFD, FD_CLOEXEC);
	if (job.parent)
		vm_node_hooks.parent = strdup(job.parent);
	vm_node_hooks.appnum = job.appnum ? (int)strtol(job.appnum, NULL, 10) :
					    0;
	vm_job_fini(&job);
	if (rc)
		return rc;
	/* Programs that this process starts are not a part of the job. */
	vm_job_clear_env();
	vm_node_hooks.boot = process.boot;
	vm_node_hooks.keep_going = keep_going;
	vm_node_hooks.end = vm_flush_files;
	vm_node_hooks.process = true;
	return process.boot->processes > 1 ?
		       cores_share(process.boot, launched) :
		       0;
}

static void job_leave(void)
{
	vm_node_hooks.boot = NULL;
	vm_boot_close(process.boot);
	process.boot = NULL;
}

/* One worker is enough: it is where the rank's messages are at home.  Signals
 * are for the program's own threads. */
static int runtime_start(void)
{
	vmpi_config config = { .ranks = 1, .workers = 1 };
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = vm_node_start(&config);
	if (!rc) {
		running_set(true);
		/* Earlier deaths have been noticed by the start, or are
		 * reported now. */
		if (process.boot->processes > 1)
			rc = vm_boot_watch(process.boot, peer_event_take, NULL);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static int process_start(void)
{
	int rc;

	if (vm_node)
		return -VMPI_ENORANK;
	vm_standard_open();
	if (pthread_key_create(&process.leave, thread_leave))
		return -VMPI_ENOMEM;
	rc = job_join();
	if (!rc)
		rc = runtime_start();
	if (rc) {
		pthread_key_delete(process.leave);
		return rc;
	}
	atomic_store_explicit(&process.rank,
			      &vm_node->ranks[vm_node->rank_first],
			      memory_order_release);
	vm_crash_start();
	return 0;
}

/* Makes the first of the rank's threads the observed one. */
static void main_choose(struct vm_rank *rank)
{
	pthread_mutex_lock(&process.lock);
	if (!process.watched && vm_rank_main(rank) == vm_self) {
		process.watched = true;
		vm_overlap_events_task(rank, vm_self);
		vm_profiler_rank(rank);
	}
	pthread_mutex_unlock(&process.lock);
}

int vm_process_join(void)
{
	int rc = 0;

	if (vm_self)
		return vm_rank_self() ? 0 : -VMPI_ENORANK;
	if (vm_child())
		return -VMPI_ENORANK;
	pthread_mutex_lock(&process.lock);
	if (!vm_process_rank())
		rc = process_start();
	pthread_mutex_unlock(&process.lock);
	if (!rc)
		rc = vm_thread_adopt(vm_process_rank());
	if (!rc)
		main_choose(vm_rank_self());
	if (!rc)
		vm_intercept_body_begin();
	if (!rc && pthread_setspecific(process.leave, vm_process_rank())) {
		vm_thread_release();
		rc = -VMPI_ENOMEM;
	}
	return rc;
}

void vm_process_leave(void)
{
	if (!vm_process_rank() || !process.boot)
		return;
	vm_node_leave();
	running_set(false);
	job_leave();
}

int vm_process_domain(void)
{
	const struct vm_boot *boot = vm_node_hooks.boot;

	return boot ? boot->peers[boot->process].host : vm_node->process;
}

static void at_exit(void)
{
	/* A child is no rank. */
	if (!vm_child() && process.over() && !vm_process_join())
		vm_process_leave();
}

void vm_process_leave_at_exit(bool (*over)(void))
{
	bool first;

	if (!vm_process_rank())
		return;
	pthread_mutex_lock(&process.lock);
	first = !process.over;
	process.over = over;
	pthread_mutex_unlock(&process.lock);
	if (first)
		atexit(at_exit);
}

bool vm_process_is_in_job(void)
{
	return !vm_process_rank() || process.boot;
}

bool vm_process_near(const struct vm_rank *rank)
{
	const struct vm_boot *boot = vm_node_hooks.boot;

	if (vm_rank_is_guest(rank))
		return vm_fabric_near(vm_node->fabric, rank->to.process);
	return vm_rank_here(rank) || !boot ||
	       boot->peers[rank->to.process].host ==
		       boot->peers[boot->process].host;
}

uint64_t vm_process_job_number(void)
{
	const struct vm_boot *boot = vm_node_hooks.boot;
	uint64_t hash =
		atomic_load_explicit(&vm_node->job, memory_order_relaxed);
	char text[VM_BOOT_HOST_MAX + VM_BOOT_ID_MAX + 16] = "";

	if (hash)
		return hash;
	hash = 0xcbf29ce484222325u; /* FNV-1a */
	if (boot && boot->processes > 1) {
		snprintf(text, sizeof(text), "%s %s", boot->peers[0].host_name,
			 boot->id);
	} else {
		gethostname(text, VM_BOOT_HOST_MAX - 1);
		snprintf(text + strlen(text), 16, " %d", (int)getpid());
	}
	for (const char *at = text; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
	atomic_store_explicit(&vm_node->job, hash, memory_order_relaxed);
	return hash;
}

void vm_process_job(char job[VM_PROCESS_JOB_BYTES])
{
	snprintf(job, VM_PROCESS_JOB_BYTES, "%016llx",
		 (unsigned long long)vm_process_job_number());
}
