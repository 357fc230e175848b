/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On duty the agent polls, and sleeps as the watcher; between two polls that
 * found something it lets the ranks compute for a moment, so that a stream of
 * pieces does not cost a wake-up each.
 */
#include "core/remote/agent.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "core/local/errand.h"
#include "core/local/threads.h"
#include "core/remote/naps.h"
#include "core/remote/pace.h"
#include "core/remote/progress.h"
#include "fabric/end/sleep.h"
#include "fabric/fabric.h"
#include "sched/thread.h"
#include "sched/topo.h"

/* Between two polls that found something: so many times as long as a wake-up
 * takes, which is a few microseconds, or fifty on a virtual machine. */
#define NAP_TIMES 16
#define NAP_NS_MIN 50000
#define NAP_NS_MAX 1000000
#define LATE_NS_MAX 100000 /* then another thread had the processor */

#define LOOKS 16 /* polls in a row at most, while they find something */

struct vm_agent {
	pthread_t thread;
	int timer_fd;
	_Atomic bool stop;
	struct vm_pace pace;
	/* Of the thread: */
	uint64_t late_ns; /* how long a wake-up takes */
	struct vm_naps naps;
	struct vm_errand_seen errand;
	uint64_t *polls; /* of each port, when it looked last; of the thread */
};

/* Lets the ranks compute, so that wake-ups take little of their time; or only for
 * a moment. */
static void nap(struct vm_agent *agent, bool shortly)
{
	uint64_t ns = NAP_TIMES * agent->late_ns, begin = vm_clock_ns(), late;
	struct timespec left;

	if (ns < NAP_NS_MIN)
		ns = NAP_NS_MIN;
	if (ns > NAP_NS_MAX)
		ns = NAP_NS_MAX;
	ns = shortly ? NAP_NS_MIN : vm_naps_ns(&agent->naps, ns, begin);
	left = (struct timespec){ .tv_nsec = (long)ns };
	nanosleep(&left, NULL);
	late = vm_clock_ns() - begin;
	late = late > ns ? late - ns : 0;
	if (late > LATE_NS_MAX)
		late = LATE_NS_MAX;
	agent->late_ns = (7 * agent->late_ns + late) / 8;
}

void vm_agent_call(void)
{
	struct vm_agent *agent = vm_node->agent;

	if (core_cvar.progress != VM_PROGRESS_OFF &&
	    atomic_exchange(&vm_node->progress.agent, VM_AGENT_CALLED) !=
		    VM_AGENT_CALLED)
		vm_own_timer_set(agent->timer_fd,
				 vm_pace_call_ns(&agent->pace));
}

void vm_agent_dismiss(void)
{
	const struct vm_worker *poller = atomic_load(&vm_node->progress.poller);

	if (poller && poller->index < 0)
		vm_fabric_kick(vm_node->fabric);
}

void vm_agent_errand(void)
{
	const struct vm_worker *poller = atomic_load(&vm_node->progress.poller);

	/* Else its timer runs, or nobody sleeps there. */
	if (poller &&
	    (poller->index < 0 || core_cvar.progress == VM_PROGRESS_OFF))
		vm_fabric_kick(vm_node->fabric);
}

/* Whether some worker has nothing to run: then it polls, or watches. */
static bool somebody_idles(void)
{
	for (int i = 0; i < vm_sched.worker_count; i++)
		if (atomic_load_explicit(&vm_sched.workers[i].idles,
					 memory_order_relaxed))
			return true;
	return false;
}

void vm_agent_lasting_begin(void)
{
	/* As in vm_agent_begin(). */
	atomic_fetch_add(&vm_node->progress.lasting, 1);
	if (atomic_load(&vm_node->progress.agent) != VM_AGENT_CALLED)
		vm_agent_call();
}

void vm_agent_lasting_end(void)
{
	atomic_fetch_sub_explicit(&vm_node->progress.lasting, 1,
				  memory_order_relaxed);
}

/* Whether there is something to do for it whoever polls.  Where processes share
 * cores it would take one of a rank that polls. */
static bool is_pressed(void)
{
	return core_cvar.progress == VM_PROGRESS_ON ||
	       (core_cvar.progress == VM_PROGRESS_AUTO && !vm_sched.shared &&
		atomic_load(&vm_node->progress.under_way) > 0);
}

/* Whether there is something to do for it, now or when no worker polls. */
static bool is_owed(void)
{
	return is_pressed() ||
	       (core_cvar.progress == VM_PROGRESS_AUTO &&
		(atomic_load(&vm_node->progress.lasting) > 0 ||
		 atomic_load(&vm_node->progress.under_way) > 0 ||
		 (core_cvar.collaborative_polling &&
		  atomic_load(&vm_node->progress.spares) > 0)));
}

static unsigned ports_count(void)
{
	return vm_fabric_limits(vm_node->fabric)->ports;
}

static void polls_note(struct vm_agent *agent)
{
	for (unsigned i = 0; i < ports_count(); i++)
		agent->polls[i] =
			vm_port_polls(vm_fabric_port(vm_node->fabric, i));
}

/* Whether nobody has polled some port since the agent has noted that. */
static bool is_neglected(const struct vm_agent *agent)
{
	for (unsigned i = 0; i < ports_count(); i++)
		if (agent->polls[i] ==
		    vm_port_polls(vm_fabric_port(vm_node->fabric, i)))
			return true;
	return false;
}

/* Whether there is something to do for it now, if nobody else does it. */
static bool is_due(struct vm_agent *agent)
{
	return !atomic_load(&agent->stop) && is_owed() && !somebody_idles();
}

static bool is_needed(struct vm_agent *agent)
{
	return is_due(agent) && (is_pressed() || is_neglected(agent));
}

/* Whether there are errands that it may have to call helpers for. */
static bool has_errands(struct vm_agent *agent)
{
	return core_cvar.progress != VM_PROGRESS_OFF && vm_errands_wait() &&
	       !atomic_load(&agent->stop);
}

static unsigned ports_poll(void)
{
	unsigned ports = ports_count(), events = 0;

	for (unsigned i = 0; i < ports; i++) {
		int rc =
			vm_port_poll(vm_fabric_port(vm_node->fabric, i), false);

		events += rc > 0 ? (unsigned)rc : 0;
	}
	return events;
}

/* Takes in what there is; whether there was anything.  No rank moves
 * meanwhile. */
static bool look(struct vm_agent *agent)
{
	unsigned all = 0, events;
	int looks = 0;

	vm_thread_acting(1);
	while (looks < LOOKS && (events = ports_poll())) {
		all += events;
		looks++;
	}
	vm_thread_acting(-1);
	vm_naps_found(&agent->naps, all, vm_clock_ns());
	if (looks)
		vm_pvar_add(vm_node->pvars.agent_found, 1);
	return looks;
}

/* Sleeps until something comes; false: it has not, because a worker watches, or
 * there is something to poll. */
static bool watch(struct vm_agent *agent)
{
	struct vm_worker *none = NULL, *self = vm_self->worker;
	struct vm_sleep sleep;
	int rc;

	if (!atomic_compare_exchange_strong(&vm_node->progress.poller, &none,
					    self))
		return false;
	rc = vm_fabric_sleep_begin(vm_node->fabric, &sleep);
	if (rc == 0) {
		if (is_due(agent) && !vm_errands_wait())
			vm_fabric_sleep_wait(vm_node->fabric, &sleep,
					     UINT64_MAX);
		vm_fabric_sleep_end(vm_node->fabric);
		vm_pvar_add(vm_node->pvars.agent_wakes, 1);
	}
	/* A worker may have taken its place. */
	atomic_compare_exchange_strong(&vm_node->progress.poller, &self, NULL);
	vm_progress_unwatched();
	return rc == 0;
}

/* Until a worker polls, or nothing is under way; whether it did anything. */
static bool serve(struct vm_agent *agent)
{
	bool did = false;

	vm_naps_begin(&agent->naps, vm_clock_ns());
	while (is_needed(agent) || has_errands(agent)) {
		bool found = look(agent);

		polls_note(agent);
		did |= found;
		if (has_errands(agent))
			did |= vm_errands_look(&agent->errand);
		if (found || has_errands(agent) || !watch(agent))
			nap(agent, has_errands(agent));
	}
	return did;
}

/* Goes off duty; false: it is needed again.  *later: it is to look once more. */
static bool duty_leave(struct vm_agent *agent, bool *later)
{
	*later = false;
	/* Pairs with the addition in vm_agent_begin() and the store in
	 * watch_check(): they see this, or are seen here. */
	atomic_store(&vm_node->progress.agent,
		     is_owed() ? VM_AGENT_OWED : VM_AGENT_FREE);
	vm_sched_fence_all();
	if (!is_due(agent))
		return true;
	/* Who polls now may compute then, and does not call it before. */
	*later = !is_needed(agent);
	atomic_store(&vm_node->progress.agent,
		     *later ? VM_AGENT_LATER : VM_AGENT_CALLED);
	if (!*later || !is_pressed())
		return *later;
	*later = false;
	atomic_store(&vm_node->progress.agent, VM_AGENT_CALLED);
	return false;
}

/* Waits for the timer; false: it is time to stop.  *called: not for what lasts. */
static bool timer_await(struct vm_agent *agent, bool *called)
{
	uint64_t expired;

	if (read(agent->timer_fd, &expired, sizeof(expired)) < 0 &&
	    errno != EINTR)
		vm_panic("cannot wait for a timer: %s", strerror(errno));
	vm_pvar_add(vm_node->pvars.agent_calls, 1);
	*called = atomic_load_explicit(&vm_node->progress.agent,
				       memory_order_relaxed) == VM_AGENT_CALLED;
	return !atomic_load(&agent->stop);
}

static void *agent_main(void *arg)
{
	struct vm_agent *agent = arg;
	bool called = false;

	if (vm_thread_adopt(NULL)) {
		vm_log(VM_WARN, "no memory for the progress agent");
		return NULL;
	}
	vm_thread_away();
	vm_topo_unbind();
	prctl(PR_SET_TIMERSLACK, 1000);
	/* Ranks may have begun something before it was there. */
	do {
		bool did = false, later;

		do
			did |= serve(agent);
		while (!duty_leave(agent, &later));
		/* A worker may have gone to sleep before what it has left
		 * there. */
		if (did)
			vm_fabric_kick(vm_node->fabric);
		vm_pace_adapt(&agent->pace, called, did, later);
		polls_note(agent);
		if (later)
			vm_own_timer_set(agent->timer_fd,
					 vm_pace_later_ns(&agent->pace));
	} while (timer_await(agent, &called));
	vm_thread_back();
	vm_thread_release();
	return NULL;
}

int vm_agent_start(struct vm_node *node)
{
	struct vm_agent *agent;
	int error;

	node->agent_bytes = SIZE_MAX;
	if (!node->fabric || vm_sched.hooks.thread_sleep)
		return 0;
	agent = calloc(1, sizeof(*agent));
	if (!agent)
		return -VMPI_ENOMEM;
	vm_pace_init(&agent->pace);
	agent->polls = calloc(vm_fabric_limits(node->fabric)->ports,
			      sizeof(*agent->polls));
	agent->timer_fd = vm_own_timer();
	node->agent = agent;
	error = !agent->polls ?
			ENOMEM :
		agent->timer_fd < 0 ?
			errno :
			vm_own_thread(&agent->thread, agent_main, agent);
	if (!error) {
		node->agent_bytes = (size_t)core_cvar.eager_limit;
		return 0;
	}
	vm_log(VM_ERROR, "the progress agent cannot be started: %s",
	       vm_own_why(error));
	node->agent = NULL;
	if (agent->timer_fd >= 0)
		close(agent->timer_fd);
	free(agent->polls);
	free(agent);
	return -VMPI_ELIMIT;
}

void vm_agent_stop(struct vm_node *node)
{
	struct vm_agent *agent = node->agent;

	if (!agent)
		return;
	atomic_store(&agent->stop, true);
	vm_own_timer_set(agent->timer_fd, 1);
	vm_fabric_kick(node->fabric);
	pthread_join(agent->thread, NULL);
	atomic_store(&node->progress.agent, VM_AGENT_CALLED);
	node->agent = NULL;
	close(agent->timer_fd);
	free(agent->polls);
	free(agent);
}
