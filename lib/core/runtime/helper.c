/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of jobs, and the threads that take them.
 *
 * The search for deadlocks sees a helper as it sees threads of the program: one
 * that is in a system call may do something.
 */
#include "core/runtime/helper.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "core/local/errand.h"
#include "core/local/threads.h"
#include "core/rank/state.h"
#include "core/runtime/node.h"
#include "sched/thread.h"
#include "sched/topo.h"

struct vm_helpers {
	pthread_mutex_t lock; /* guards all */
	pthread_cond_t called;
	struct vm_list jobs;
	int waiting; /* jobs there */
	int idle;    /* threads that sleep and are not called yet */
	int count;   /* threads */
	int most;
	bool stopping;
	pthread_t threads[];
};

int vm_helpers_new(struct vm_helpers **helpers, int most)
{
	struct vm_helpers *new =
		calloc(1, sizeof(*new) + (size_t)most * sizeof(pthread_t));

	if (!new)
		return -VMPI_ENOMEM;
	pthread_mutex_init(&new->lock, NULL);
	pthread_cond_init(&new->called, NULL);
	vm_list_init(&new->jobs);
	new->most = most;
	*helpers = new;
	return 0;
}

/* The next job; NULL: none is left, and none will come. */
static struct vm_helper_job *job_wait(struct vm_helpers *helpers)
{
	struct vm_list *link;

	pthread_mutex_lock(&helpers->lock);
	while (!(link = vm_list_pop(&helpers->jobs)) && !helpers->stopping) {
		helpers->idle++;
		vm_thread_away();
		pthread_cond_wait(&helpers->called, &helpers->lock);
		vm_thread_back();
		helpers->idle--;
	}
	if (link)
		helpers->waiting--;
	pthread_mutex_unlock(&helpers->lock);
	return link ? vm_container_of(link, struct vm_helper_job, link) : NULL;
}

static void *helper_main(void *arg)
{
	struct vm_helper_job *job;

	if (vm_thread_adopt(NULL))
		vm_panic("out of memory for a thread");
	while ((job = job_wait(arg)))
		job->run(job);
	vm_thread_release();
	return NULL;
}

/* Starts a thread that no signal of the program reaches, under the lock: whether
 * there is one now. */
static bool thread_start(struct vm_helpers *helpers)
{
	pthread_t *thread = &helpers->threads[helpers->count];
	sigset_t all, before;
	int error;

	if (helpers->count == helpers->most)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	/* The node program makes threads of ranks those of the program. */
	if (vm_node_hooks.thread_new)
		error = vm_node_hooks.thread_new(thread, helper_main, helpers);
	else
		error = pthread_create(thread, NULL, helper_main, helpers);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		helpers->count++;
	return helpers->count > 0;
}

void vm_helper_do(struct vm_helpers *helpers, struct vm_helper_job *job)
{
	bool taken;

	pthread_mutex_lock(&helpers->lock);
	taken = !helpers->stopping &&
		(helpers->idle > helpers->waiting || thread_start(helpers));
	if (taken) {
		vm_list_append(&helpers->jobs, &job->link);
		helpers->waiting++;
		pthread_cond_signal(&helpers->called);
	}
	pthread_mutex_unlock(&helpers->lock);
	if (!taken)
		job->run(job);
}

struct errand_job {
	struct vm_helper_job job;
	const struct vm_ult *caller;
};

static void errand_run(struct vm_helper_job *job)
{
	struct errand_job *errand =
		vm_container_of(job, struct errand_job, job);
	bool helper = errand->caller != vm_self;

	free(errand);
	if (!helper) {
		atomic_store(&vm_node->errands.called, false);
		return;
	}
	vm_topo_unbind(); /* it may have been started by a worker */
	vm_errand_take();
}

void vm_helper_errand(void)
{
	struct errand_job *errand = malloc(sizeof(*errand));

	if (!errand) {
		atomic_store(&vm_node->errands.called, false);
		return;
	}
	errand->job.run = errand_run;
	errand->caller = vm_self;
	vm_helper_do(vm_node->runners, &errand->job);
}

void vm_helpers_stop(struct vm_helpers *helpers)
{
	int count;

	if (!helpers)
		return;
	pthread_mutex_lock(&helpers->lock);
	helpers->stopping = true;
	count = helpers->count;
	helpers->count = 0;
	pthread_cond_broadcast(&helpers->called);
	pthread_mutex_unlock(&helpers->lock);
	for (int i = 0; i < count; i++)
		pthread_join(helpers->threads[i], NULL);
}

void vm_helpers_free(struct vm_helpers **helpers)
{
	if (!*helpers)
		return;
	vm_helpers_stop(*helpers);
	pthread_cond_destroy(&(*helpers)->called);
	pthread_mutex_destroy(&(*helpers)->lock);
	free(*helpers);
	*helpers = NULL;
}
