/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Started meetings: members leave their arguments and go on.
 *
 * The place lends a struct vm_meet to each.  The last member to start a meeting
 * holds it and completes the others' requests; with members in other processes
 * that is an errand.
 */
#include "core/meeting/meet_start.h"

#include <stdlib.h>

#include "core/rank/chan.h"
#include "core/local/engine.h"
#include "core/meeting/meet.h"
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

struct vm_meet *vm_meet_started_new(struct vm_meet *place)
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

void vm_meet_started_free(struct vm_meet *meet)
{
	for (uint32_t w = 0; w < meet->worker_count; w++)
		free(meet->workers[w].scratch);
	free(meet);
}

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
		/* The next one has another post. */
		if (w != self && worker->posts[0] &&
		    atomic_load_explicit(
			    &worker->posts[(number + 1) & worker->post_mask]
				     ->number,
			    memory_order_relaxed) == number + 1)
			return true;
	}
	return false;
}

bool vm_meet_somebody_waits(const struct vm_meet *place, uint32_t self,
			    uint32_t number)
{
	if (VM_LIKELY(!somebody_waits(place, self)))
		return false;
	/* Pairs with the stores in vm_meet_count() and vm_meet_post_show(). */
	atomic_thread_fence(memory_order_acquire);
	return !place->parts || !vm_meet_is_started(place, number);
}

/* The first member of a meeting makes it; the lock is held, but not while there
 * is nothing spare.  NULL when out of memory. */
static struct vm_meet *started_open(struct vm_meet *place, uint32_t number)
{
	struct vm_list *link = vm_list_pop(&place->spare);
	struct vm_meet *meet, *other;

	if (!link) {
		vm_lock_give(&place->lock);
		meet = vm_meet_started_new(place);
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
	atomic_store_explicit(&meet->came, 0, memory_order_relaxed);
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
	if (!meet && vm_meet_somebody_waits(place, worker, number))
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

/* How workers have come to a meeting: all members the usual way; or moved from
 * their part, when another one has got their post; and posts so got. */
#define CAME_USUAL 1ull
#define CAME_MOVED (1ull << 16)
#define CAME_POST (1ull << 32)

static uint32_t moved_of(uint64_t came)
{
	return came / CAME_MOVED % (CAME_POST / CAME_MOVED);
}

/* Whether that was the last: all workers have come, and all posts of those moved
 * to the others. */
static bool started_came(struct vm_meet *meet, uint64_t how)
{
	/* The acquire halves pair with the release halves of those before. */
	uint64_t came = how + atomic_fetch_add_explicit(&meet->came, how,
							memory_order_acq_rel);
	uint64_t usual = came % CAME_MOVED, moved = moved_of(came);

	return usual + moved == meet->active_workers &&
	       came / CAME_POST == usual * moved;
}

/* Tells the members of one worker, best on that worker.  If there are parts, its
 * engine's lock is held. */
static void members_complete(struct vm_meet_worker *worker)
{
	struct vm_meet *meet = worker->meet;

	if (atomic_load_explicit(&worker->threads, memory_order_relaxed))
		atomic_store_explicit(&worker->threads, false,
				      memory_order_relaxed);
	for (uint32_t i = 0; i < worker->member_count; i++)
		member_complete(meet, worker->members[i]);
	if (meet->place->parts)
		vm_meet_part_end(meet->place,
				 (uint32_t)(worker - meet->workers),
				 atomic_load_explicit(&meet->number,
						      memory_order_relaxed),
				 moved_of(atomic_load_explicit(
					 &meet->came, memory_order_relaxed)));
	/* The last one sees what all others did to the meeting. */
	if (atomic_fetch_sub_explicit(&meet->missing, 1,
				      memory_order_acq_rel) == 1)
		started_end(meet);
}

static void members_called(void *arg, void *more)
{
	members_complete(arg);
}

static void members_tell(struct vm_meet_worker *worker)
{
	struct vm_engine *engine =
		&vm_node->engines[worker - worker->meet->workers];
	bool parts = worker->meet->place->parts;

	if (parts)
		vm_engine_lock(engine);
	members_complete(worker);
	if (parts)
		vm_engine_unlock(engine);
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
			members_tell(worker);
		else
			vm_engine_call(engine, &vm_node->engines[w],
				       members_called, worker, NULL);
	}
	members_tell(&meet->workers[self]);
}

static void far_end(struct vm_meet *meet)
{
	uint32_t left = meet->active_workers;

	atomic_store_explicit(&meet->missing, left, memory_order_relaxed);
	/* It may be another meeting once the last of them know. */
	for (struct vm_meet_worker *worker = meet->workers; left; worker++) {
		if (!worker->member_count)
			continue;
		left--;
		members_complete(worker);
	}
}

static void far_run(struct vm_errand *errand)
{
	struct vm_meet *meet = vm_container_of(errand, struct vm_meet, errand);

	/* A helper needs somebody who polls; the worker does so itself. */
	if (!errand->helped)
		vm_agent_end();
	vm_meet_run(meet, meet->last);
	if (errand->helped)
		vm_agent_end();
	far_end(meet);
}

/* Others have been told all they need of this process. */
static void told_run(struct vm_errand *errand)
{
	struct vm_meet *meet = vm_container_of(errand, struct vm_meet, errand);

	vm_meet_run(meet, meet->last);
	far_end(meet);
}

static enum vm_errand_ripe told_ripe(struct vm_errand *errand)
{
	return vm_leaders_ripe(vm_container_of(errand, struct vm_meet, errand));
}

static void told_hold(struct vm_meet *meet, struct vm_req *req)
{
	meet->errand.run = told_run;
	meet->errand.ripe = told_ripe;
	if (vm_leaders_ripe(meet) == VM_ERRAND_RIPE)
		told_run(&meet->errand);
	else
		req->errand = vm_errand_keep(&meet->errand);
}

/* All members here have started it; those of other processes may not have, and
 * a member that starts a meeting does not wait.  The caller has joined all
 * meetings that were held here, since it is none's last. */
static void started_hold_far(struct vm_meet *meet, const struct vm_chan *chan,
			     vm_meet_last last, struct vm_req *req,
			     vm_meet_tell tell)
{
	uint32_t number = chan->started - 1;

	meet->context = chan->context;
	meet->tag = (meet->place->meetings + number) & VM_LEADERS_NUMBERS;
	meet->last = last;
	meet->told = false;
	if (tell && tell(meet)) {
		told_hold(meet, req);
		return;
	}
	meet->errand.run = far_run;
	vm_agent_begin();
	req->errand = vm_errand_start(&meet->errand, tell != NULL);
	vm_agent_errand();
}

/* Seats a member of a started meeting; returns whether the workers have all come
 * then. Counted by worker first, as members that wait are, to avoid contention
 * for a line. */
static bool started_seat(struct vm_meet *meet, uint32_t rank, uint32_t index,
			 const struct vm_seat *from)
{
	struct vm_seat *seat = &meet->seats[rank];
	struct vm_meet_worker *worker = &meet->workers[index];

	atomic_store_explicit(&seat->args,
			      atomic_load_explicit(&from->args,
						   memory_order_relaxed),
			      memory_order_relaxed);
	seat->last = from->last;
	seat->req = from->req;
	if (VM_UNLIKELY(vm_self->worker->index < 0))
		atomic_store_explicit(&worker->threads, true,
				      memory_order_relaxed);
	return vm_meet_arrive(worker, index) && started_came(meet, CAME_USUAL);
}

/* Seats all members of a worker, which wait in its part. */
static void seats_move(struct vm_meet *meet, const struct vm_meet *part,
		       uint32_t index)
{
	const struct vm_meet_worker *worker = &part->workers[index];

	for (uint32_t i = 0; i < worker->member_count; i++) {
		uint32_t rank = worker->members[i];
		const struct vm_seat *from = &part->seats[rank];
		struct vm_seat *seat = &meet->seats[rank];

		atomic_store_explicit(&seat->args, vm_meet_args(part, rank),
				      memory_order_relaxed);
		seat->last = from->last;
		seat->req = from->req;
	}
}

/* A post has been got for a meeting: its sender's members are moved there, once;
 * returns as started_seat(). */
static bool post_move(struct vm_meet *meet, const struct vm_meet_sent *sent)
{
	struct vm_meet *part = sent->post.part;
	uint32_t number =
		atomic_load_explicit(&sent->post.number, memory_order_relaxed);
	uint64_t came = CAME_POST;

	if (atomic_compare_exchange_strong_explicit(
		    &part->claimed, &number, number + 1, memory_order_relaxed,
		    memory_order_relaxed)) {
		seats_move(meet, part, sent->from);
		came += CAME_MOVED;
	}
	return started_came(meet, came);
}

/* Members of worker `index` go the usual way: those who have come to its part and
 * those whose posts it has got are moved. */
static bool part_move(struct vm_meet *meet, uint32_t index)
{
	struct vm_meet *place = meet->place;
	struct vm_meet_sent *posts, *sent;
	struct vm_meet *part = vm_meet_part_take(
		place, index,
		atomic_load_explicit(&meet->number, memory_order_relaxed),
		&posts);
	bool all = false;

	for (uint32_t i = 0; part && i < part->workers[index].member_count;
	     i++) {
		uint32_t rank = part->workers[index].members[i];
		struct vm_seat *seat = &part->seats[rank];

		if (!seat->req)
			continue;
		all |= started_seat(meet, rank, index, seat);
		seat->req = NULL;
	}
	for (sent = posts; sent; sent = sent->next)
		all |= post_move(meet, sent);
	if (part || posts)
		vm_meet_part_put(place, index, part, posts);
	return all;
}

static vm_meet_last last_of(const struct vm_meet *meet, uint32_t index)
{
	return meet->seats[meet->workers[index].members[0]].last;
}

int vm_meet_started_turn(struct vm_meet *place, uint32_t number, uint32_t index)
{
	struct vm_meet *meet;
	int error;

	meet = started_get(place, number, index, &error);
	if (!meet)
		return error;
	if (part_move(meet, index))
		started_hold(meet, index, last_of(meet, index));
	return 0;
}

/* The meeting of this number, which has begun. */
static struct vm_meet *started_that(struct vm_meet *place, uint32_t number)
{
	struct vm_meet *meet;

	vm_lock_take(&place->lock);
	meet = started_find(place, number);
	vm_lock_give(&place->lock);
	return meet;
}

void vm_meet_started_move(struct vm_meet *place, struct vm_meet_sent *sent,
			  uint32_t index)
{
	struct vm_meet *meet =
		started_that(place, atomic_load_explicit(&sent->post.number,
							 memory_order_relaxed));
	bool all = post_move(meet, sent);

	free(sent);
	if (all)
		started_hold(meet, index, last_of(meet, index));
}

/* There is no memory for members of a part to say that they differ. */
static void part_fail(struct vm_meet *part, uint32_t index, int error)
{
	part->result = error;
	for (uint32_t i = 0; i < part->workers[index].member_count; i++)
		member_complete(part, part->workers[index].members[i]);
}

void vm_meet_started_differ(struct vm_meet *place, struct vm_meet *part,
			    uint32_t index)
{
	uint32_t number =
		atomic_load_explicit(&part->number, memory_order_relaxed);
	struct vm_meet *meet;
	int error;

	meet = started_get(place, number, index, &error);
	if (!meet) {
		part_fail(part, index, error);
		return;
	}
	seats_move(meet, part, index);
	if (started_came(meet, CAME_MOVED))
		started_hold(meet, index, last_of(meet, index));
}

static void start_alone(void *args, vm_meet_last last, struct vm_req *req)
{
	int result = vm_meet_alone(args, last);

	if (result)
		req->status.error = result;
	vm_req_complete(req);
}

int vm_meet_start(struct vm_chan *chan, void *args, vm_meet_last last,
		  struct vm_req *req, vm_meet_tell tell)
{
	struct vm_meet *place = chan->meet;
	const struct vm_seat from = { .args = args, .last = last, .req = req };
	uint32_t worker = place->seats[chan->rank].worker;
	struct vm_meet *meet;
	bool all;
	int error;

	req->errand = 0;
	if (place->size == 1) {
		vm_pvar_add(vm_counters()->meetings, 1);
		start_alone(args, last, req);
		return 0;
	}
	meet = started_get(place, chan->started, worker, &error);
	if (!meet)
		return error;
	vm_pvar_add(vm_counters()->meetings, 1);
	chan->started++;
	all = place->parts && part_move(meet, worker);
	all |= started_seat(meet, (uint32_t)chan->rank, worker, &from);
	if (!all)
		return 0;
	if (VM_UNLIKELY(meet->leaders != NULL))
		started_hold_far(meet, chan, last, req, tell);
	else
		started_hold(meet, worker, last);
	return 0;
}

int vm_meet_start_short(struct vm_chan *chan, void *args,
			const struct vm_meet_how *how, struct vm_req *req)
{
	int rc;

	req->errand = 0;
	rc = vm_meet_part_start(chan, args, how, req);
	if (VM_UNLIKELY(rc == VM_PENDING))
		return vm_meet_start(chan, args, how->last, req, NULL);
	if (rc == 0)
		vm_pvar_add(vm_counters()->meetings, 1);
	return rc;
}

/* What to do for each started meeting, and by whom. */
struct started_visit {
	void (*visit)(void *args, void *arg);
	void *arg;
	uint32_t rank;
};

static void part_visit(struct vm_meet *part, void *arg)
{
	const struct started_visit *visit = arg;

	visit->visit(vm_meet_args(part, visit->rank), visit->arg);
}

void vm_meet_started_each(const struct vm_chan *chan,
			  void (*visit)(void *args, void *arg), void *arg)
{
	struct vm_meet *place = chan->meet;
	struct started_visit how = { visit, arg, (uint32_t)chan->rank };
	struct vm_list *link;

	if (place->parts)
		vm_meet_parts_each(place, place->seats[chan->rank].worker,
				   chan->started, part_visit, &how);
	vm_lock_take(&place->lock);
	vm_list_each(link, &place->started) {
		struct vm_meet *meet =
			vm_container_of(link, struct vm_meet, link);

		if (vm_meet_is_before(meet->number, chan->started))
			part_visit(meet, &how);
	}
	vm_lock_give(&place->lock);
}
