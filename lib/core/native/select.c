/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h: waiting for the first of several things.
 *
 * Each is entered as a request that completes when it can be done.  When one
 * has, all are left, and what can be done is; if another task was faster (a
 * message), it begins again.
 */
#include "vmpi.h"

#include <stdlib.h>

#include "core/comm/probe.h"
#include "core/instrument/calls.h"
#include "core/local/threads.h"
#include "core/native/event.h"
#include "core/native/task_end.h"
#include "core/rank/chan.h"
#include "core/rank/wait.h"
#include "core/runtime/checks.h"
#include "core/service/descriptor.h"

#define ENTRY(name) VM_ENTRY_WAITS(vmpi_##name)
VM_API_CALLS_SELECT(ENTRY)
#undef ENTRY

/* A choice that is waited for. */
struct watch {
	const vmpi_choice *choice;
	struct vm_req *req; /* NULL: it is left out */
	bool done;
	union {
		struct {
			struct vm_prober prober;
			struct vm_req req;
		} match;
		struct vm_task_end task;
		struct vm_queued event;
		struct vm_descriptor fd;
	} of;
};

#define WATCHES_FEW 6 /* so many are on the stack */

static int check(const vmpi_choice *choice)
{
	switch (choice->kind) {
	case VMPI_CHOICE_NONE:
		return 0;
	case VMPI_CHOICE_REQ:
		return choice->req ? 0 : -VMPI_EINVAL;
	case VMPI_CHOICE_MATCH:
		return choice->msg ?
			       vm_match_check(choice->chan, choice->source,
					      choice->tag) :
			       -VMPI_EINVAL;
	case VMPI_CHOICE_TASK:
		return choice->task ? 0 : -VMPI_EINVAL;
	case VMPI_CHOICE_EVENT:
		return choice->event ? 0 : -VMPI_EINVAL;
	case VMPI_CHOICE_FD:
		return choice->fd >= 0 ? 0 : -VMPI_EINVAL;
	}
	return -VMPI_EINVAL;
}

static int match_watch(struct watch *watch)
{
	const vmpi_choice *choice = watch->choice;
	vmpi_msg *msg;
	int rc;

	watch->req = &watch->of.match.req;
	rc = vm_match_enter(&watch->of.match.prober,
			    vm_chan_env(choice->chan, choice->source,
					choice->tag),
			    watch->req, false, &msg);
	return rc == -VMPI_EAGAIN ? VM_PENDING : rc;
}

/* VM_DONE: it can be done now, and is not entered; VM_PENDING: its request will
 * complete; or an error. */
static int watch_enter(struct watch *watch, const vmpi_choice *choice)
{
	*watch = (struct watch){ .choice = choice };
	switch (choice->kind) {
	case VMPI_CHOICE_REQ:
		watch->req = *choice->req;
		return watch->req && vm_req_is_done(watch->req) ? VM_DONE :
								  VM_PENDING;
	case VMPI_CHOICE_MATCH:
		return match_watch(watch);
	case VMPI_CHOICE_TASK:
		if (!*choice->task)
			return VM_PENDING;
		watch->req = &watch->of.task.req;
		return vm_task_end_enter(&watch->of.task,
					 (struct vm_ult *)*choice->task) ?
			       VM_DONE :
			       VM_PENDING;
	case VMPI_CHOICE_EVENT:
		watch->req = &watch->of.event.req;
		vm_queued_begin(&watch->of.event, VM_API_CALL_select);
		return vm_event_enter(choice->event, &watch->of.event) ?
			       VM_DONE :
			       VM_PENDING;
	case VMPI_CHOICE_FD:
		watch->req = &watch->of.fd.req;
		return vm_descriptor_enter(&watch->of.fd, choice->fd,
					   choice->events);
	}
	return VM_PENDING;
}

/* Leaves one that was entered: whether it can be done. */
static bool watch_leave(struct watch *watch)
{
	if (!watch->req)
		return false;
	switch (watch->choice->kind) {
	case VMPI_CHOICE_MATCH:
		return !vm_match_leave(&watch->of.match.prober);
	case VMPI_CHOICE_TASK:
		return vm_task_end_leave(&watch->of.task);
	case VMPI_CHOICE_EVENT:
		return vm_queued_leave(&watch->of.event,
				       &watch->choice->event->waiters);
	case VMPI_CHOICE_FD:
		return vm_descriptor_leave(&watch->of.fd);
	}
	return vm_req_is_done(watch->req);
}

/* Does what can be done; -VMPI_EAGAIN: another task has. */
static int watch_do(struct watch *watch)
{
	const vmpi_choice *choice = watch->choice;

	switch (choice->kind) {
	case VMPI_CHOICE_REQ:
		return vmpi_wait(choice->req, choice->status);
	case VMPI_CHOICE_MATCH:
		return vm_match_try(vm_chan_env(choice->chan, choice->source,
						choice->tag),
				    choice->msg);
	case VMPI_CHOICE_TASK:
		return vmpi_join(choice->task, choice->result);
	case VMPI_CHOICE_FD:
		if (choice->ready)
			*choice->ready = watch->of.fd.ready;
		break;
	}
	return 0;
}

/* The first of `entered` that can be done, all of which are left; or -1. */
static int watches_leave(struct watch *watches, int entered)
{
	int first = -1;

	for (int i = entered - 1; i >= 0; i--)
		if (watch_leave(&watches[i]))
			first = i;
	return first;
}

/* Enters all, and waits for the requests: the number of the first that can be
 * done; none: -1; or in *rc an error. */
static int watches_wait(struct watch *watches, struct vm_req **reqs,
			const vmpi_choice *choices, int n, uint64_t deadline_ns,
			int *rc)
{
	int entered = 0, count = 0, first;

	*rc = VM_PENDING;
	for (; entered < n && *rc == VM_PENDING; entered++) {
		*rc = watch_enter(&watches[entered], &choices[entered]);
		if (*rc == VM_PENDING && watches[entered].req)
			reqs[count++] = watches[entered].req;
	}
	if (*rc != VM_PENDING) {
		/* The last one is not entered. */
		first = watches_leave(watches, --entered);
		return first >= 0 && *rc >= 0 ? first : entered;
	}
	*rc = 0;
	if (!count)
		return -1;
	vm_req_await_one_until(reqs, count, deadline_ns);
	first = watches_leave(watches, entered);
	if (first < 0)
		*rc = -VMPI_ETIMEDOUT;
	return first;
}

static int choose(const vmpi_choice *choices, int *index, int n,
		  uint64_t deadline_ns, struct watch *watches,
		  struct vm_req **reqs)
{
	int first, rc;

	do {
		first = watches_wait(watches, reqs, choices, n, deadline_ns,
				     &rc);
		if (rc == 0 && first >= 0)
			rc = watch_do(&watches[first]);
	} while (rc == -VMPI_EAGAIN);
	if (rc != -VMPI_ETIMEDOUT)
		*index = first;
	return rc;
}

/* With memory for all. */
static int choose_many(const vmpi_choice *choices, int *index, int n,
		       uint64_t deadline_ns)
{
	struct watch *watches = calloc((size_t)n, sizeof(*watches));
	struct vm_req **reqs = calloc((size_t)n, sizeof(*reqs));
	int rc = -VMPI_ENOMEM;

	if (watches && reqs)
		rc = choose(choices, index, n, deadline_ns, watches, reqs);
	free(watches);
	free(reqs);
	return rc;
}

static int choose_few(const vmpi_choice *choices, int *index, int n,
		      uint64_t deadline_ns)
{
	struct watch watches[WATCHES_FEW];
	struct vm_req *reqs[WATCHES_FEW];

	return choose(choices, index, n, deadline_ns, watches, reqs);
}

int vmpi_select(const vmpi_choice *choices, int *index, int n,
		uint64_t deadline_ns)
{
	bool stranger = vm_self == NULL;
	int rc = 0;

	if (n < 0 || (!choices && n) || !index)
		return -VMPI_EINVAL;
	for (int i = 0; i < n && !rc; i++)
		rc = check(&choices[i]);
	if (!rc && stranger)
		rc = vm_thread_adopt(NULL);
	if (rc)
		return rc;
	vm_wait_in(vm_self, VM_API_CALL_select);
	rc = n > WATCHES_FEW ? choose_many(choices, index, n, deadline_ns) :
			       choose_few(choices, index, n, deadline_ns);
	if (stranger)
		vm_thread_release();
	return rc;
}
