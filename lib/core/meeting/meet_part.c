/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening, posting, and ending of parts.
 *
 * A part is a struct vm_meet of which one worker's seats are used.  `missing`
 * counts this worker, until its members have come, and the posts of others.
 */
#include "core/meeting/meet_part.h"

#include <stdlib.h>
#include <string.h>

#include "core/meeting/meet.h"
#include "core/meeting/meet_start.h"
#include "core/local/engine.h"
#include "core/local/req.h"
#include "core/local/threads.h"
#include "core/rank/chan.h"
#include "sched/ult.h"

/* How many blocks a member sends to those of other workers, at most. */
static uint32_t blocks_of(const struct vm_meet *place,
			  const struct vm_meet_worker *worker)
{
	uint32_t count = worker->member_count;
	uint32_t first = worker->members[0];
	uint32_t end = worker->members[count - 1] + 1;

	return end - first == count && (first == 0 || end == place->size) ?
		       place->size - count :
		       place->size;
}

static void least_set(uint32_t *least, uint32_t value)
{
	if (*least == 0 || value < *least)
		*least = value;
}

void vm_meet_parts_init(struct vm_meet *place)
{
	place->parts = place->active_workers > 1 && !place->leaders &&
		       place->active_workers <= VM_MEET_PARTS_MAX;
	for (uint32_t w = 0; place->parts && w < place->worker_count; w++) {
		struct vm_meet_worker *worker = &place->workers[w];
		uint32_t count = worker->member_count, blocks;

		vm_list_init(&worker->parts.open);
		vm_list_init(&worker->parts.spare);
		worker->meet = place;
		if (!count)
			continue;
		blocks = blocks_of(place, worker);
		if (worker->room > place->most_room)
			place->most_room = worker->room;
		least_set(&place->fits_one, worker->room);
		least_set(&place->fits_each, worker->room / count);
		least_set(&place->fits_block, worker->room / (count * blocks));
	}
}

static void posts_free(struct vm_meet_sent *sent)
{
	struct vm_meet_sent *next;

	for (; sent; sent = next) {
		next = sent->next;
		free(sent);
	}
}

void vm_meet_parts_fini(struct vm_meet *place)
{
	struct vm_list *link;

	if (!place->parts)
		return;
	for (uint32_t w = 0; w < place->worker_count; w++) {
		struct vm_meet_parts *parts = &place->workers[w].parts;

		/* Unfinished ones are left when the job ends early. */
		while ((link = vm_list_pop(&parts->spare)) ||
		       (link = vm_list_pop(&parts->open)))
			vm_meet_started_free(
				vm_container_of(link, struct vm_meet, link));
		posts_free(parts->free);
		posts_free(parts->early);
	}
}

static uint32_t number_of(const struct vm_meet *part)
{
	return atomic_load_explicit(&part->number, memory_order_relaxed);
}

static uint32_t post_number(const struct vm_meet_sent *sent)
{
	return atomic_load_explicit(&sent->post.number, memory_order_relaxed);
}

/* The open part of this number, or NULL; usually the oldest or the youngest. */
static struct vm_meet *part_find(const struct vm_meet_parts *parts,
				 uint32_t number)
{
	const struct vm_list *link = parts->open.next;
	struct vm_meet *part;

	if (link == &parts->open)
		return NULL;
	part = vm_container_of(link, struct vm_meet, link);
	if (number_of(part) == number)
		return part;
	for (link = parts->open.prev; link != &parts->open; link = link->prev) {
		part = vm_container_of(link, struct vm_meet, link);
		if (number_of(part) == number)
			return part;
		if (vm_meet_is_before(number_of(part), number))
			return NULL;
	}
	return NULL;
}

static void part_count(struct vm_meet *part)
{
	atomic_store_explicit(
		&part->missing,
		atomic_load_explicit(&part->missing, memory_order_relaxed) - 1,
		memory_order_relaxed);
}

static bool is_complete(const struct vm_meet *part)
{
	return atomic_load_explicit(&part->missing, memory_order_relaxed) == 0;
}

static void post_store(struct vm_meet *part, struct vm_meet_sent *sent)
{
	part->workers[sent->from].posts[0] = &sent->post;
	part_count(part);
}

static void early_add(struct vm_meet_parts *parts, struct vm_meet_sent *sent)
{
	struct vm_meet_sent **at = &parts->early;

	while (*at && !vm_meet_is_before(post_number(sent), post_number(*at)))
		at = &(*at)->next;
	sent->next = *at;
	*at = sent;
}

/* The first early post, if it is of this meeting, taken out; or NULL. */
static struct vm_meet_sent *early_pop(struct vm_meet_parts *parts,
				      uint32_t number)
{
	struct vm_meet_sent *sent = parts->early;

	if (!sent || post_number(sent) != number)
		return NULL;
	parts->early = sent->next;
	return sent;
}

static void next_set(struct vm_meet_parts *parts, uint32_t next)
{
	/* Pairs with the fence in in_order_behind() (mpi/coll/algo/run.c). */
	atomic_store_explicit(&parts->next, next, memory_order_release);
}

static uint32_t next_of(const struct vm_meet_parts *parts)
{
	return atomic_load_explicit(&parts->next, memory_order_relaxed);
}

/* The first member here of a meeting opens the part; NULL: no memory. */
static struct vm_meet *part_open(struct vm_meet_worker *here, uint32_t number,
				 const struct vm_meet_how *how)
{
	struct vm_meet_parts *parts = &here->parts;
	struct vm_list *link = vm_list_pop(&parts->spare);
	struct vm_meet_sent *sent;
	struct vm_meet *part;

	part = link ? vm_container_of(link, struct vm_meet, link) :
		      vm_meet_started_new(here->meet);
	if (!part)
		return NULL;
	atomic_store_explicit(&part->number, number, memory_order_relaxed);
	atomic_store_explicit(&part->claimed, number, memory_order_relaxed);
	atomic_store_explicit(&part->missing, part->active_workers,
			      memory_order_relaxed);
	atomic_store_explicit(
		&part->workers[here - here->meet->workers].missing,
		here->member_count, memory_order_relaxed);
	part->how = how;
	part->over = false;
	vm_list_append(&parts->open, &part->link);
	next_set(parts, number + 1);
	while ((sent = early_pop(parts, number)))
		post_store(part, sent);
	return part;
}

static void post_put(struct vm_meet_parts *parts, struct vm_meet_sent *sent)
{
	sent->next = parts->free;
	parts->free = sent;
	/* It was the sender's, and will be written. */
	vm_fetch_to_write(sent->post.data);
}

static struct vm_meet_sent *post_of(struct vm_meet_worker *worker)
{
	struct vm_meet_post *post = worker->posts[0];

	worker->posts[0] = NULL;
	return post ? vm_container_of(post, struct vm_meet_sent, post) : NULL;
}

/* Ends a part, which is in no list any more; its place may end with it. */
static void part_recycle(struct vm_meet_worker *here, struct vm_meet *part)
{
	struct vm_meet_parts *parts = &here->parts;
	struct vm_meet *place = here->meet;
	uint32_t leaving = parts->leaving;
	struct vm_meet_sent *sent;

	for (uint32_t w = 0; w < part->worker_count; w++)
		if ((sent = post_of(&part->workers[w])))
			post_put(parts, sent);
	vm_list_append(&parts->spare, &part->link);
	if (VM_LIKELY(leaving == 0) || !vm_list_empty(&parts->open))
		return;
	parts->leaving = 0;
	while (leaving--)
		vm_meet_drop(place);
}

/* Whether all workers have shown the same call; they all decide the same. */
static bool posts_agree(const struct vm_meet *part,
			const struct vm_meet_worker *self)
{
	for (uint32_t w = 0; w < part->worker_count; w++) {
		const struct vm_meet_worker *worker = &part->workers[w];

		if (worker->member_count && worker != self &&
		    memcmp(worker->posts[0]->key, part->shown,
			   VM_MEET_KEY_BYTES))
			return false;
	}
	return true;
}

/* All posts are here.  The lock is held, and let go if they do not agree. */
static void part_finish(struct vm_meet_worker *here, struct vm_meet *part)
{
	struct vm_meet *place = here->meet;
	uint32_t index = (uint32_t)(here - place->workers);
	struct vm_engine *engine = &vm_node->engines[index];
	struct vm_meet_worker *self = &part->workers[index];

	if (VM_UNLIKELY(!posts_agree(part, self))) {
		vm_engine_unlock(engine);
		vm_meet_started_differ(place, part, index);
		vm_engine_lock(engine);
		return;
	}
	vm_list_remove(&part->link);
	part->how->own(part, self, vm_meet_args(part, self->members[0]));
	for (uint32_t i = 0; i < self->member_count; i++) {
		struct vm_seat *seat = &part->seats[self->members[i]];
		struct vm_req *req = seat->req;

		seat->req = NULL;
		vm_req_complete(req);
	}
	part_recycle(here, part);
}

/* A post has come: called by the reader of the ring. */
static void post_arrive(void *arg, void *more)
{
	struct vm_meet_worker *here = arg;
	struct vm_meet_sent *sent = more;
	struct vm_meet_parts *parts = &here->parts;
	uint32_t number = post_number(sent);
	struct vm_meet *part = part_find(parts, number), *place = here->meet;
	uint32_t index;

	if (VM_LIKELY(part != NULL)) {
		post_store(part, sent);
		if (!is_complete(part))
			return;
		if (VM_LIKELY(!part->over)) {
			part_finish(here, part);
			return;
		}
		vm_list_remove(&part->link);
		part_recycle(here, part);
	} else if (!vm_meet_is_before(number, next_of(parts))) {
		early_add(parts, sent);
	} else {
		index = (uint32_t)(here - place->workers);
		vm_engine_unlock(&vm_node->engines[index]);
		vm_meet_started_move(place, sent, index);
		vm_engine_lock(&vm_node->engines[index]);
	}
}

/* The same, of one that is no note. */
static void post_come(void *arg, void *more)
{
	struct vm_meet_worker *here = arg;

	here->parts.others++;
	post_arrive(here, more);
}

/* Whether a post of a pair may travel in a slot, so that its line need not come too.
 * If we hold any of the other's it goes itself, or who has longer ones to tell would
 * need ever new ones. */
static bool fits_slot(const struct vm_meet_worker *here,
		      const struct vm_meet_sent *sent)
{
	const uint64_t *key = sent->post.key;

	return here->meet->pair && here->parts.others <= 0 &&
	       sent->post.bytes <= sizeof(uint64_t) &&
	       (key[1] | key[2] | key[3]) <= UINT32_MAX;
}

static struct vm_meet_sent *post_get(struct vm_meet_worker *here)
{
	struct vm_meet_sent *sent = here->parts.free;
	size_t bytes = sizeof(*sent) + here->meet->most_room;

	if (VM_LIKELY(sent != NULL)) {
		here->parts.free = sent->next;
		return sent;
	}
	bytes = (bytes + VM_CACHELINE - 1) & ~(size_t)(VM_CACHELINE - 1);
	return aligned_alloc(VM_CACHELINE, bytes);
}

/* The post of a part for another worker; NULL: it needs the usual way. */
static struct vm_meet_sent *post_make(struct vm_meet_worker *here,
				      struct vm_meet *part, uint32_t index)
{
	struct vm_meet_worker *self = &part->workers[index];
	struct vm_meet_sent *sent = post_get(here);
	struct vm_meet_post mine;

	if (!sent)
		return NULL;
	self->posts[0] = &sent->post;
	self->room = here->room;
	if (!part->how->show(part, self, &mine)) {
		self->posts[0] = NULL;
		post_put(&here->parts, sent);
		return NULL;
	}
	self->posts[0] = NULL;
	sent->from = index;
	sent->post.bytes = mine.bytes;
	sent->post.part = part;
	for (int i = 0; i < VM_MEET_KEY_WORDS; i++)
		sent->post.key[i] = part->shown[i] = mine.key[i];
	atomic_store_explicit(&sent->post.number, number_of(part),
			      memory_order_relaxed);
	sent->note = fits_slot(here, sent);
	here->parts.others -= !sent->note;
	return sent;
}

/* The posts of a part whose members have all come, for the others in turn;
 * NULL: it needs the usual way. */
static struct vm_meet_sent *posts_make(struct vm_meet_worker *here,
				       struct vm_meet *part, uint32_t index)
{
	struct vm_meet_sent *list = NULL, *sent;

	for (uint32_t n = 1; n < part->active_workers; n++) {
		sent = post_make(here, part, index);
		if (!sent) {
			while ((sent = list)) {
				list = sent->next;
				post_put(&here->parts, sent);
			}
			return NULL;
		}
		sent->next = list;
		list = sent;
	}
	return list;
}

/* A post has come in a slot. */
static void note_arrive(void *arg, void *more)
{
	struct vm_meet_worker *here = arg;
	const struct vm_slot *slot = more;
	struct vm_meet_sent *sent = post_get(here);

	if (!sent)
		vm_panic("collective: no memory for the call of another rank");
	sent->from = (uint32_t)(here->other - here->meet->workers);
	sent->post.bytes = slot->signature;
	sent->post.part = slot->call.more;
	sent->post.key[0] = slot->call.words[0];
	sent->post.key[1] = slot->env.context;
	sent->post.key[2] = (uint32_t)slot->env.source;
	sent->post.key[3] = (uint32_t)slot->env.tag;
	memcpy(sent->post.data, &slot->call.words[1], sizeof(uint64_t));
	atomic_store_explicit(&sent->post.number, slot->rank,
			      memory_order_relaxed);
	post_arrive(here, sent);
}

static void note_send(struct vm_meet *place, uint32_t index,
		      struct vm_meet_worker *to, struct vm_meet_sent *sent)
{
	struct vm_meet_parts *parts = &place->workers[index].parts;
	struct vm_engine *from = &vm_node->engines[index];
	struct vm_engine *there = &vm_node->engines[to - place->workers];
	struct vm_slot *slot = vm_engine_note(from, there, note_arrive, to);

	slot->env = (struct vm_env){ (uint32_t)sent->post.key[1],
				     (int32_t)sent->post.key[2],
				     (int32_t)sent->post.key[3] };
	slot->rank = post_number(sent);
	slot->signature = sent->post.bytes;
	slot->call.more = sent->post.part;
	slot->call.words[0] = sent->post.key[0];
	memcpy(&slot->call.words[1], sent->post.data, sizeof(uint64_t));
	vm_engine_publish(from, there, slot);
	vm_engine_lock(from);
	sent->next = parts->free;
	parts->free = sent;
	vm_engine_unlock(from);
}

static void posts_send(struct vm_meet *place, uint32_t index,
		       struct vm_meet_sent *list)
{
	for (uint32_t w = 0; list; w++) {
		struct vm_meet_sent *sent = list;

		if (!place->workers[w].member_count || w == index)
			continue;
		list = sent->next;
		if (sent->note) {
			note_send(place, index, &place->workers[w], sent);
			continue;
		}
		vm_engine_call(&vm_node->engines[index], &vm_node->engines[w],
			       post_come, &place->workers[w], sent);
	}
}

/* The part that a member is to come to.  VM_PENDING: others here have taken the
 * usual way; or an error. */
static int part_get(struct vm_meet_worker *here, uint32_t number,
		    const struct vm_meet_how *how, struct vm_meet **part)
{
	*part = part_find(&here->parts, number);
	if (*part)
		return 0;
	if (vm_meet_is_before(number, next_of(&here->parts)))
		return VM_PENDING;
	if (vm_meet_somebody_waits(
		    here->meet, (uint32_t)(here - here->meet->workers), number))
		return -VMPI_EMISMATCH;
	*part = part_open(here, number, how);
	return *part ? 0 : -VMPI_ENOMEM;
}

int vm_meet_part_start(struct vm_chan *chan, void *args,
		       const struct vm_meet_how *how, struct vm_req *req)
{
	struct vm_meet *place = chan->meet, *part;
	uint32_t index = place->seats[chan->rank].worker;
	struct vm_engine *engine = &vm_node->engines[index];
	struct vm_meet_worker *here = &place->workers[index];
	struct vm_meet_sent *posts = NULL;
	uint32_t number = chan->started;
	struct vm_seat *seat;
	bool last, all = false;
	int rc;

	/* Only the worker itself writes to its rings; threads do not wait for
	 * one that may be computing. */
	if (!place->parts || engine->worker != vm_self->worker ||
	    VM_UNLIKELY(vm_threads_act()))
		return VM_PENDING;
	vm_engine_lock(engine);
	rc = part_get(here, number, how, &part);
	if (VM_UNLIKELY(rc)) {
		vm_engine_unlock(engine);
		return rc;
	}
	chan->started++;
	seat = &part->seats[chan->rank];
	atomic_store_explicit(&seat->args, args, memory_order_relaxed);
	seat->last = how->last;
	seat->req = req;
	last = vm_meet_count(&part->workers[index]);
	if (last && (posts = posts_make(here, part, index))) {
		part_count(part);
		/* If not, the part may be over once the lock is given. */
		all = is_complete(part);
	}
	vm_engine_unlock(engine);
	if (!last)
		return 0;
	if (VM_UNLIKELY(!posts))
		return vm_meet_started_turn(place, number, index);
	posts_send(place, index, posts);
	if (!all)
		return 0;
	vm_engine_lock(engine);
	part_finish(here, part);
	vm_engine_unlock(engine);
	return 0;
}

struct vm_meet *vm_meet_part_take(struct vm_meet *place, uint32_t index,
				  uint32_t number, struct vm_meet_sent **posts)
{
	struct vm_engine *engine = &vm_node->engines[index];
	struct vm_meet_parts *parts = &place->workers[index].parts;
	struct vm_meet_sent *sent;
	struct vm_meet *part;

	*posts = NULL;
	vm_engine_lock(engine);
	part = part_find(parts, number);
	if (part)
		vm_list_remove(&part->link);
	else if (!vm_meet_is_before(number, next_of(parts)))
		next_set(parts, number + 1);
	for (uint32_t w = 0; part && w < part->worker_count; w++) {
		sent = post_of(&part->workers[w]);
		if (sent) {
			sent->next = *posts;
			*posts = sent;
		}
	}
	while ((sent = early_pop(parts, number))) {
		sent->next = *posts;
		*posts = sent;
	}
	vm_engine_unlock(engine);
	return part;
}

void vm_meet_part_put(struct vm_meet *place, uint32_t index,
		      struct vm_meet *part, struct vm_meet_sent *posts)
{
	struct vm_engine *engine = &vm_node->engines[index];
	struct vm_meet_worker *here = &place->workers[index];
	struct vm_meet_sent *sent;

	vm_engine_lock(engine);
	while ((sent = posts)) {
		posts = sent->next;
		post_put(&here->parts, sent);
	}
	if (part)
		part_recycle(here, part);
	vm_engine_unlock(engine);
}

void vm_meet_part_end(struct vm_meet *place, uint32_t index, uint32_t number,
		      uint32_t moved)
{
	struct vm_meet_worker *here = &place->workers[index];
	struct vm_meet *part = part_find(&here->parts, number);
	uint32_t come;

	if (VM_LIKELY(!part))
		return;
	come = part->active_workers - 1 -
	       atomic_load_explicit(&part->missing, memory_order_relaxed);
	for (uint32_t i = 0; i < here->member_count; i++)
		part->seats[here->members[i]].req = NULL;
	part->over = true;
	atomic_store_explicit(&part->missing, moved - 1 - come,
			      memory_order_relaxed);
	if (!is_complete(part))
		return;
	vm_list_remove(&part->link);
	part_recycle(here, part);
}

void vm_meet_parts_each(const struct vm_meet *place, uint32_t index,
			uint32_t number,
			void (*visit)(struct vm_meet *part, void *arg),
			void *arg)
{
	struct vm_engine *engine = &vm_node->engines[index];
	struct vm_list *link;

	vm_engine_lock(engine);
	vm_list_each(link, &place->workers[index].parts.open) {
		struct vm_meet *part =
			vm_container_of(link, struct vm_meet, link);

		if (vm_meet_is_before(number_of(part), number) && !part->over)
			visit(part, arg);
	}
	vm_engine_unlock(engine);
}

void vm_meet_leave(struct vm_chan *chan)
{
	struct vm_meet *place = chan->meet;
	struct vm_meet_worker *here;
	struct vm_engine *engine;
	bool open;

	/* At the end there are no workers any more. */
	if (place->parts && vm_self) {
		here = &place->workers[place->seats[chan->rank].worker];
		engine = &vm_node->engines[here - place->workers];
		vm_engine_lock(engine);
		open = !vm_list_empty(&here->parts.open);
		here->parts.leaving += open;
		vm_engine_unlock(engine);
		if (open)
			return;
	}
	vm_meet_drop(place);
}
