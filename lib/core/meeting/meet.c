/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrive, and wait for the others.
 *
 * The last member to arrive on each worker is that worker's leader.  Leaders
 * wait for each other; then each wakes the members of its own worker, which
 * costs no cache line transfers.
 */
#include "core/meeting/meet.h"

#include <stdlib.h>
#include <string.h>

#include "core/meeting/meet_pair.h"
#include "core/meeting/meet_start.h"
#include "core/rank/chan.h"
#include "core/local/engine.h"
#include "core/rank/state.h"
#include "core/local/req.h"
#include "core/rank/wait.h"
#include "sched/ult.h"
#include "sched/worker.h"

#define POST_BYTES 1024
#define POST_MEMBER_BYTES 64

/* The members here of one worker; NULL: the rank is elsewhere, or apart from
 * self. */
static struct vm_meet_worker *worker_of(struct vm_meet *meet,
					const struct vm_rank *rank,
					const struct vm_rank *self)
{
	int index = rank->engine->index;

	return index < 0 || (vm_node->apart && rank != self) ?
		       NULL :
		       &meet->workers[index];
}

/* Sorts the members by worker: counts, then lists. */
static void members_sort(struct vm_meet *meet, const struct vm_group *group,
			 const struct vm_rank *self)
{
	struct vm_meet_worker *worker;
	uint32_t *list = meet->members;

	for (uint32_t i = 0; i < meet->size; i++) {
		worker = worker_of(meet, group->ranks[i], self);
		if (worker)
			worker->member_count++;
	}
	for (uint32_t w = 0; w < meet->worker_count; w++) {
		worker = &meet->workers[w];
		worker->members = list;
		list += worker->member_count;
		meet->active_workers += worker->member_count > 0;
		atomic_init(&worker->missing, worker->member_count);
		worker->member_count = 0;
	}
	for (uint32_t i = 0; i < meet->size; i++) {
		worker = worker_of(meet, group->ranks[i], self);
		if (!worker)
			continue;
		worker->members[worker->member_count++] = i;
		meet->seats[i].worker = (uint32_t)(worker - meet->workers);
	}
}

/* Room for what many members send each, or one sends all others: as much as is
 * faster copied twice, on both sides at once, than by one worker alone. */
static size_t post_bytes(const struct vm_meet_worker *worker)
{
	size_t bytes = sizeof(struct vm_meet_post) + POST_BYTES +
		       (size_t)POST_MEMBER_BYTES * worker->member_count;

	return (bytes + VM_CACHELINE - 1) & ~(size_t)(VM_CACHELINE - 1);
}

/* Makes the two workers that have members a pair. */
static void pair_make(struct vm_meet *meet)
{
	struct vm_meet_worker *one = &meet->workers[meet->seats[0].worker];
	struct vm_meet_worker *two = &meet->workers[meet->seats[1].worker];

	meet->pair = true;
	one->other = two;
	two->other = one;
}

/* Gives each worker with members its posts; false: no memory. */
static bool posts_make(struct vm_meet *meet)
{
	uint32_t count = meet->pair ? VM_MEET_POSTS : 2;
	size_t bytes = 0;
	char *next;

	for (uint32_t w = 0; w < meet->worker_count; w++)
		if (meet->workers[w].member_count)
			bytes += count * post_bytes(&meet->workers[w]);
	next = meet->posts = aligned_alloc(VM_CACHELINE, bytes);
	if (!next)
		return false;
	for (uint32_t w = 0; w < meet->worker_count; w++) {
		struct vm_meet_worker *worker = &meet->workers[w];

		if (!worker->member_count)
			continue;
		bytes = post_bytes(worker);
		worker->room = (uint32_t)(bytes - sizeof(struct vm_meet_post));
		worker->post_mask = count - 1;
		for (uint32_t i = 0; i < count; i++, next += bytes) {
			worker->posts[i] = (struct vm_meet_post *)next;
			memset(next, 0, sizeof(struct vm_meet_post));
		}
	}
	return true;
}

struct vm_meet *vm_meet_alloc(uint32_t size, uint32_t workers)
{
	size_t bytes = sizeof(struct vm_meet) +
		       workers * sizeof(struct vm_meet_worker) +
		       size * sizeof(struct vm_seat);
	struct vm_meet *meet;

	bytes += (size * sizeof(uint32_t) + VM_CACHELINE - 1) &
		 ~(size_t)(VM_CACHELINE - 1);
	meet = aligned_alloc(VM_CACHELINE, bytes);
	if (!meet)
		return NULL;
	memset(meet, 0, bytes);
	atomic_init(&meet->refs, 1);
	meet->size = size;
	meet->worker_count = workers;
	meet->workers = (struct vm_meet_worker *)(meet + 1);
	meet->seats = (struct vm_seat *)(meet->workers + workers);
	meet->members = (uint32_t *)(meet->seats + size);
	vm_lock_init(&meet->lock);
	vm_list_init(&meet->started);
	vm_list_init(&meet->spare);
	return meet;
}

struct vm_meet *vm_meet_new(const struct vm_group *group,
			    const struct vm_rank *self)
{
	uint32_t size = (uint32_t)group->size;
	uint32_t workers = size > 1 ? (uint32_t)vm_node->engine_count : 0;
	struct vm_meet *meet = vm_meet_alloc(size, workers);

	if (!meet)
		return NULL;
	if (vm_leaders_new(&meet->leaders, group, self)) {
		free(meet);
		return NULL;
	}
	if (size < 2)
		return meet;
	members_sort(meet, group, self);
	if (size == 2 && meet->active_workers == 2 && !meet->leaders)
		pair_make(meet);
	if (meet->active_workers > 1 && !posts_make(meet)) {
		vm_leaders_free(meet->leaders);
		free(meet);
		return NULL;
	}
	vm_meet_parts_init(meet);
	return meet;
}

/* The place of this context, held, unless it is about to end; the lock is
 * held. */
static struct vm_meet *shared_find(uint32_t context)
{
	struct vm_list *link;

	vm_list_each(link, &vm_node->meets.list) {
		struct vm_meet *meet =
			vm_container_of(link, struct vm_meet, link);
		int refs =
			atomic_load_explicit(&meet->refs, memory_order_relaxed);

		if (meet->key != context)
			continue;
		while (refs > 0)
			if (atomic_compare_exchange_weak_explicit(
				    &meet->refs, &refs, refs + 1,
				    memory_order_relaxed, memory_order_relaxed))
				return meet;
	}
	return NULL;
}

struct vm_meet *vm_meet_shared(const struct vm_group *group, uint32_t context,
			       const struct vm_rank *self)
{
	struct vm_meet *meet = vm_meet_new(group, self), *other;

	if (!meet)
		return NULL;
	meet->key = context;
	if (vm_node->apart)
		return meet;
	vm_lock_take(&vm_node->meets.lock);
	other = shared_find(context);
	if (!other) {
		meet->shared = true;
		vm_list_append(&vm_node->meets.list, &meet->link);
	}
	vm_lock_give(&vm_node->meets.lock);
	if (!other)
		return meet;
	vm_meet_drop(meet);
	return other;
}

struct vm_meet *vm_meet_hold(struct vm_meet *meet)
{
	atomic_fetch_add_explicit(&meet->refs, 1, memory_order_relaxed);
	return meet;
}

void vm_meet_drop(struct vm_meet *meet)
{
	struct vm_list *link;

	if (!meet || atomic_fetch_sub_explicit(&meet->refs, 1,
					       memory_order_acq_rel) != 1)
		return;
	if (meet->shared) {
		vm_lock_take(&vm_node->meets.lock);
		vm_list_remove(&meet->link);
		vm_lock_give(&vm_node->meets.lock);
	}
	/* Unfinished ones are left when the job ends early. */
	while ((link = vm_list_pop(&meet->spare)) ||
	       (link = vm_list_pop(&meet->started)))
		vm_meet_started_free(
			vm_container_of(link, struct vm_meet, link));
	vm_meet_parts_fini(meet);
	free(meet->posts);
	vm_leaders_free(meet->leaders);
	vm_meet_started_free(meet);
}

void *vm_meet_scratch(struct vm_meet_worker *worker, size_t bytes)
{
	if (bytes > worker->scratch_bytes) {
		bytes = (bytes + VM_CACHELINE - 1) &
			~(size_t)(VM_CACHELINE - 1);
		free(worker->scratch);
		worker->scratch = aligned_alloc(VM_CACHELINE, bytes);
		worker->scratch_bytes = worker->scratch ? bytes : 0;
	}
	return worker->scratch;
}

/* As meeting_hold(), when there are members in other processes. */
static void meeting_hold_far(struct vm_meet *meet, vm_meet_last last)
{
	const struct vm_leaders_process *here =
		&meet->leaders->processes[meet->leaders->self];
	enum vm_leaders_topic topic = VM_LEADERS_BARRIER;

	meet->result = 0;
	for (uint32_t i = 0; i < here->count; i++)
		if (meet->seats[here->members[i]].last != last)
			topic = VM_LEADERS_MISMATCH;
	if (last && topic == VM_LEADERS_BARRIER)
		last(meet);
	else
		meet->result = vm_leaders_barrier(meet, topic);
}

void vm_meet_run(struct vm_meet *meet, vm_meet_last last)
{
	if (meet->leaders) {
		meeting_hold_far(meet, last);
		return;
	}
	meet->result = 0;
	for (uint32_t i = 0; i < meet->size; i++)
		if (meet->seats[i].last != last)
			meet->result = -VMPI_EMISMATCH;
	if (last && !meet->result)
		last(meet);
}

int vm_meet_alone(void *args, vm_meet_last last)
{
	struct vm_seat seat = { .args = args, .last = last };
	struct vm_meet meet = { .size = 1, .seats = &seat };

	vm_meet_run(&meet, last);
	return meet.result;
}

/* As meeting_hold_far(), for a meeting that members wait for, on any of their
 * channels. */
static void meeting_hold_named(struct vm_meet *meet, const struct vm_chan *chan,
			       vm_meet_last last)
{
	if (VM_UNLIKELY(meet->leaders != NULL)) {
		meet->context = chan->context;
		meet->tag = (meet->meetings++ + chan->started) &
			    VM_LEADERS_NUMBERS;
	}
	vm_meet_run(meet, last);
}

/* Wakes the members of one worker, all but the caller. */
static void members_wake(struct vm_meet *meet, struct vm_meet_worker *worker,
			 const struct vm_ult *self)
{
	struct vm_worker *here = self->worker;

	for (uint32_t i = 0; i < worker->member_count; i++) {
		struct vm_ult *ult = meet->seats[worker->members[i]].ult;

		if (ult == self)
			continue;
		/* Those who are not OS threads, nor have moved. */
		if (VM_LIKELY(ult->worker == here && here->index >= 0))
			vm_worker_push(here, ult);
		else
			vm_ult_wake(ult);
	}
}

/* Whether all members of a worker are in the same operation. */
static bool members_agree(const struct vm_meet *meet,
			  const struct vm_meet_worker *worker,
			  vm_meet_last last)
{
	for (uint32_t i = 0; i < worker->member_count; i++)
		if (meet->seats[worker->members[i]].last != last)
			return false;
	return true;
}

/* Writes all but the data and the number. */
static void post_write(struct vm_meet_post *post,
		       const struct vm_meet_post *from)
{
	post->bytes = from->bytes;
	post->last = from->last;
	for (int i = 0; i < VM_MEET_KEY_WORDS; i++)
		post->key[i] = from->key[i];
}

/* Whether one of a pair has shown its post and gone. */
static bool is_gone(const struct vm_meet *meet,
		    const struct vm_meet_worker *self)
{
	return meet->pair &&
	       vm_meet_post_is_gone(vm_meet_post_of(self->other, self));
}

/* Whether the posts of all workers are enough for each of them.  They all
 * decide the same, since they read the same. */
static bool posts_agree(const struct vm_meet *meet,
			const struct vm_meet_worker *self,
			const struct vm_meet_post *mine)
{
	if (mine->bytes == VM_MEET_LONG)
		return false;
	for (uint32_t w = 0; w < meet->worker_count; w++) {
		const struct vm_meet_worker *worker = &meet->workers[w];
		const struct vm_meet_post *post;

		if (!worker->member_count || worker == self)
			continue;
		post = vm_meet_post_of(worker, self);
		if (post->bytes == VM_MEET_LONG || post->last != mine->last ||
		    memcmp(post->key, mine->key, VM_MEET_KEY_BYTES))
			return false;
	}
	return true;
}

/* One leader holds the meeting for all members: the first that is free to. */
static int hold_for_all(const struct vm_chan *chan, struct vm_meet_worker *self,
			vm_meet_last last)
{
	struct vm_meet *meet = chan->meet;
	uint32_t number = self->number;
	uint32_t claimed =
		atomic_load_explicit(&meet->claimed, memory_order_relaxed);

	/* Only leaders of this meeting read it, and none writes another one. */
	if (claimed != number &&
	    atomic_compare_exchange_strong_explicit(
		    &meet->claimed, &claimed, number, memory_order_relaxed,
		    memory_order_relaxed)) {
		meeting_hold_named(meet, chan, last);
		vm_meet_post_show(meet, self, &meet->held, number);
	} else {
		vm_meet_post_wait(self, &meet->held, number, chan);
	}
	return meet->result;
}

/* All members of the caller's worker have arrived: meets the other workers. */
static int leaders_meet(const struct vm_chan *chan, struct vm_meet_worker *self,
			void *args, const struct vm_meet_how *way)
{
	struct vm_meet *meet = chan->meet;
	uint32_t number = ++self->number;
	struct vm_meet_post mine = { .last = way->last };
	bool agree, gone;

	if (meet->pair && number % VM_MEET_HALF == 0)
		vm_meet_pair_room(chan, self);
	/* Arguments of members of other processes are known to one worker
	 * only. */
	if (meet->leaders || !members_agree(meet, self, way->last) ||
	    !(way->show ? way->show(meet, self, &mine) : !way->last))
		mine.bytes = VM_MEET_LONG;
	post_write(vm_meet_post_of(self, self), &mine);
	vm_meet_post_show(meet, self, &vm_meet_post_of(self, self)->number,
			  number);
	for (uint32_t w = 0; w < meet->worker_count; w++) {
		struct vm_meet_worker *worker = &meet->workers[w];

		if (worker->member_count && worker != self)
			vm_meet_post_wait(
				self, &vm_meet_post_of(worker, self)->number,
				number, chan);
	}
	self->heard = number;
	agree = posts_agree(meet, self, &mine);
	gone = is_gone(meet, self);
	if (!agree && !gone)
		return hold_for_all(chan, self, way->last);
	if (agree && way->own)
		way->own(meet, self, args);
	if (gone)
		vm_meet_pair_taken(meet, self);
	return agree ? 0 : -VMPI_EMISMATCH;
}

int vm_meet_by(struct vm_chan *chan, void *args, const struct vm_meet_how *way,
	       size_t calls)
{
	struct vm_meet *meet = chan->meet;
	struct vm_seat *seat = &meet->seats[chan->rank];
	struct vm_ult *self = vm_self;
	struct vm_meet_worker *worker;
	int result;

	vm_meet_counts(calls);
	if (meet->size == 1)
		return vm_meet_alone(args, way->last);
	atomic_store_explicit(&seat->args, args, memory_order_relaxed);
	seat->ult = self;
	seat->last = way->last;
	worker = &meet->workers[seat->worker];
	if (worker->member_count > 1 && !vm_meet_arrive(worker, seat->worker)) {
		vm_wait_members(chan);
		return worker->result;
	}
	if (meet->active_workers > 1) {
		result = leaders_meet(chan, worker, args, way);
	} else {
		meeting_hold_named(meet, chan, way->last);
		result = meet->result;
	}
	worker->result = result;
	members_wake(meet, worker, self);
	return result;
}

int vm_meet(struct vm_chan *chan, void *args, vm_meet_last last)
{
	const struct vm_meet_how way = { .last = last };

	return vm_meet_by(chan, args, &way, 0);
}
