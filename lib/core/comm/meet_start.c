/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Started meetings: members leave their arguments and go on.
 *
 * The place lends a struct vm_meet to each.  The last member to start a meeting
 * holds it and completes the others' requests; with members in other processes
 * that is an errand.
 */
#include <stdlib.h>

#include "core/rank/chan.h"
#include "core/local/engine.h"
#include "core/comm/meet.h"
#include "core/rank/state.h"
#include "core/remote/agent.h"
#include "core/local/req.h"
#include "sched/ult.h"
#include "sched/worker.h"

/* The started meeting of this number; the lock is held.  Members that are ahead
 * of others ask for young ones. */
static struct vm_meet *started_find(const struct vm_meet *place,
				    uint32_t number)
{
	for (struct vm_list *link = place->started.prev;
	     link != &place->started; link = link->prev) {
		struct vm_meet *meet =
			vm_container_of(link, struct vm_meet, link);

		if (atomic_load_explicit(&meet->number, memory_order_relaxed) ==
		    number)
			return meet;
	}
	return NULL;
}

/* A meeting to be started, with the members of the place; NULL when out of
 * memory. */
static struct vm_meet *started_new(struct vm_meet *place)
{
	struct vm_meet *meet = vm_meet_alloc(place->size, place->worker_count);

	if (!meet)
		return NULL;
	meet->place = place;
	meet->leaders = place->leaders;
	meet->active_workers = place->active_workers;
	for (uint32_t w = 0; w < place->worker_count; w++) {
		uint32_t count = place->workers[w].member_count;

		meet->workers[w].meet = meet;
		meet->workers[w].members = place->workers[w].members;
		meet->workers[w].member_count = count;
		atomic_init(&meet->workers[w].missing, count);
	}
	return meet;
}

/*
 * Whether members wait in a meeting that the caller, a member who waits in
 * none, has not joined: some of a worker, or all and their leader for other
 * workers.
 */
static bool somebody_waits(const struct vm_meet *place, uint32_t self)
{
	uint32_t number;

	number = place->workers[self].number;
	for (uint32_t w = 0; w < place->worker_count; w++) {
		const struct vm_meet_worker *worker = &place->workers[w];

		if (atomic_load_explicit(&worker->missing,
					 memory_order_relaxed) !=
		    worker->member_count)
			return true;
		/* The next one has the other post. */
		if (w != self && worker->posts[0] &&
		    atomic_load_explicit(
			    &worker->posts[(number + 1) & 1]->number,
			    memory_order_relaxed) == number + 1)
			return true;
	}
	return false;
}

/* The first member of a meeting makes it; the lock is held, but not while there
 * is nothing spare.  NULL when out of memory. */
static struct vm_meet *started_open(struct vm_meet *place, uint32_t number)
{
	struct vm_list *link = vm_list_pop(&place->spare);
	struct vm_meet *meet, *other;

	if (!link) {
		vm_lock_give(&place->lock);
		meet = started_new(place);
		vm_lock_take(&place->lock);
		if (!meet)
			return NULL;
		link = &meet->link;
		other = started_find(place, number);
		if (other) {
			vm_list_append(&place->spare, link);
			return other;
		}
	}
	meet = vm_container_of(link, struct vm_meet, link);
	atomic_store_explicit(&meet->missing, meet->active_workers,
			      memory_order_relaxed);
	/* Before any other member can have started it: in_order() in
	 * mpi/coll/coll.c. */
	atomic_store_explicit(&place->number, number + 1, memory_order_relaxed);
	/* Both pair with the loads in started_get(). */
	atomic_store_explicit(&meet->number, number, memory_order_release);
	atomic_store_explicit(&place->window[number % VM_MEET_WINDOW], meet,
			      memory_order_release);
	vm_list_append(&place->started, link);
	/* Members may leave the channel before the meeting ends. */
	vm_meet_hold(place);
	return meet;
}

/*
 * The started meeting that a member of it asks for.  Those in the window may be
 * over, or be another one by now, but never go before their place does; and the
 * one that has our number stays ours until we have come to it.  NULL: *error
 * says why.
 */
static struct vm_meet *started_get(struct vm_meet *place, uint32_t number,
				   uint32_t worker, int *error)
{
	struct vm_meet *meet = atomic_load_explicit(
		&place->window[number % VM_MEET_WINDOW], memory_order_acquire);

	if (meet &&
	    atomic_load_explicit(&meet->number, memory_order_acquire) == number)
		return meet;
	vm_lock_take(&place->lock);
	meet = started_find(place, number);
	*error = -VMPI_ENOMEM;
	if (!meet && somebody_waits(place, worker))
		*error = -VMPI_EMISMATCH;
	else if (!meet)
		meet = started_open(place, number);
	vm_lock_give(&place->lock);
	return meet;
}

/* All members know that the meeting is over. */
static void started_end(struct vm_meet *meet)
{
	struct vm_meet *place = meet->place;

	vm_lock_take(&place->lock);
	vm_list_remove(&meet->link);
	vm_list_append(&place->spare, &meet->link);
	vm_lock_give(&place->lock);
	vm_meet_drop(place);
}

static void member_complete(struct vm_meet *meet, uint32_t rank)
{
	struct vm_req *req = meet->seats[rank].req;

	if (meet->result)
		req->status.error = meet->result;
	vm_req_complete(req);
}

/* Tells the members of one worker, best on that worker. */
static void members_complete(void *arg)
{
	struct vm_meet_worker *worker = arg;
	struct vm_meet *meet = worker->meet;

	if (atomic_load_explicit(&worker->threads, memory_order_relaxed))
		atomic_store_explicit(&worker->threads, false,
				      memory_order_relaxed);
	for (uint32_t i = 0; i < worker->member_count; i++)
		member_complete(meet, worker->members[i]);
	/* The last one sees what all others did to the meeting. */
	if (atomic_fetch_sub_explicit(&meet->missing, 1,
				      memory_order_acq_rel) == 1)
		started_end(meet);
}

/* Holds a meeting that all have started; the caller's worker is `self`. */
static void started_hold(struct vm_meet *meet, uint32_t self, vm_meet_last last)
{
	struct vm_engine *engine = vm_thread_cache_self()->engine;

	vm_meet_run(meet, last);
	atomic_store_explicit(&meet->missing, meet->active_workers,
			      memory_order_relaxed);
	for (uint32_t w = 0; w < meet->worker_count; w++) {
		struct vm_meet_worker *worker = &meet->workers[w];

		if (!worker->member_count || w == self)
			continue;
		/* Threads do not wait for a worker that may be computing; one
		 * that has moved to this worker is there already. */
		if (!engine || engine->index == (int)w ||
		    atomic_load_explicit(&worker->threads,
					 memory_order_relaxed))
			members_complete(worker);
		else
			vm_engine_call(engine, &vm_node->engines[w],
				       members_complete, worker);
	}
	members_complete(&meet->workers[self]);
}

static void far_run(struct vm_errand *errand)
{
	struct vm_meet *meet = vm_container_of(errand, struct vm_meet, errand);
	uint32_t left = meet->active_workers;

	/* A helper needs somebody who polls; the worker does so itself. */
	if (!errand->helped)
		vm_agent_end();
	vm_meet_run(meet, meet->last);
	if (errand->helped)
		vm_agent_end();
	atomic_store_explicit(&meet->missing, left, memory_order_relaxed);
	/* It may be another meeting once the last of them know. */
	for (struct vm_meet_worker *worker = meet->workers; left; worker++) {
		if (!worker->member_count)
			continue;
		left--;
		members_complete(worker);
	}
}

/* All members here have started it; those of other processes may not have, and
 * a member that starts a meeting does not wait. */
static void started_hold_far(struct vm_meet *meet, const struct vm_chan *chan,
			     uint32_t number, vm_meet_last last)
{
	meet->context = chan->context;
	meet->tag = (number & VM_LEADERS_NUMBERS) | VM_LEADERS_STARTED;
	meet->last = last;
	meet->errand.run = far_run;
	vm_agent_begin();
	vm_errand_start(&meet->errand);
	vm_agent_errand();
}

/* Counts a member that has started a meeting; returns whether it is the last.
 * Counted by worker first, as members that wait are, to avoid contention for a
 * line. */
static bool started_last(struct vm_meet *meet, uint32_t index)
{
	struct vm_meet_worker *worker;

	worker = &meet->workers[index];
	if (VM_UNLIKELY(vm_self->worker->index < 0))
		atomic_store_explicit(&worker->threads, true,
				      memory_order_relaxed);
	if (!vm_meet_arrive(worker, index))
		return false;
	/* The acquire halves pair with the release halves of those before. */
	return atomic_fetch_sub_explicit(&meet->missing, 1,
					 memory_order_acq_rel) == 1;
}

static void start_alone(void *args, vm_meet_last last, struct vm_req *req)
{
	int result = vm_meet_alone(args, last);

	if (result)
		req->status.error = result;
	vm_req_complete(req);
}

int vm_meet_start(struct vm_chan *chan, void *args, vm_meet_last last,
		  struct vm_req *req)
{
	struct vm_meet *place = chan->meet;
	uint32_t worker = place->seats[chan->rank].worker;
	struct vm_meet *meet;
	struct vm_seat *seat;
	int error;

	vm_pvar_add(vm_counters()->meetings, 1);
	if (place->size == 1) {
		start_alone(args, last, req);
		return 0;
	}
	meet = started_get(place, chan->started, worker, &error);
	if (!meet)
		return error;
	chan->started++;
	seat = &meet->seats[chan->rank];
	atomic_store_explicit(&seat->args, args, memory_order_relaxed);
	seat->last = last;
	seat->req = req;
	if (!started_last(meet, worker))
		return 0;
	if (VM_UNLIKELY(meet->leaders != NULL))
		started_hold_far(meet, chan, chan->started - 1, last);
	else
		started_hold(meet, worker, last);
	return 0;
}
