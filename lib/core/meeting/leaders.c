/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every leader sends to every other: with a few processes that is one message
 * time, and no leader waits for what another one has to pass on.  Cards of more
 * processes are collected and spread by the first one.
 */
#include "core/meeting/leaders.h"

#include <stdlib.h>
#include <string.h>

#include "core/comm/cancel.h"
#include "core/rank/chan.h"
#include "core/meeting/leaders_ahead.h"
#include "core/meeting/leaders_chain.h"
#include "core/meeting/leaders_msg.h"
#include "core/meeting/leaders_star.h"
#include "core/meeting/leaders_talk.h"
#include "core/meeting/meet.h"
#include "core/rank/state.h"
#include "core/comm/p2p.h"
#include "core/remote/failure.h"

/* The place of a process in leaders; a new one if it is not there. */
static uint32_t process_find(struct vm_leaders *leaders, uint32_t process)
{
	uint32_t i = vm_node->apart ? (uint32_t)leaders->count : 0;

	while (i < (uint32_t)leaders->count &&
	       leaders->processes[i].process != process)
		i++;
	if (i == (uint32_t)leaders->count) {
		leaders->processes[i].process = process;
		leaders->count++;
	}
	return i;
}

/* An upper bound on the number of processes. */
static size_t processes_most(const struct vm_group *group)
{
	return (size_t)(vm_node->apart || group->size < vm_node->process_room ?
				group->size :
				vm_node->process_room);
}

static bool all_here(const struct vm_group *group)
{
	uint32_t process = (uint32_t)vm_node->process;

	if (vm_node->apart)
		return group->size == 1;
	if (vm_node->process_count == 1 && !vm_node->guests)
		return true;
	for (int i = 0; i < group->size; i++)
		if (group->ranks[i]->to.process != process)
			return false;
	return true;
}

int vm_leaders_new(struct vm_leaders **out, const struct vm_group *group,
		   const struct vm_rank *self)
{
	size_t size = (size_t)group->size, most = processes_most(group);
	size_t head = sizeof(struct vm_leaders) +
		      most * sizeof(struct vm_leaders_process);
	uint32_t *list, last = UINT32_MAX, at = 0;
	struct vm_leaders *leaders;

	*out = NULL;
	if (all_here(group))
		return 0;
	leaders = calloc(1, head + 2 * size * sizeof(uint32_t));
	if (!leaders)
		return -VMPI_ENOMEM;
	leaders->of = (uint32_t *)((char *)leaders + head);
	list = leaders->of + size;
	for (size_t i = 0; i < size; i++) {
		struct vm_rank *rank = group->ranks[i];

		/* Neighbours are often in one process. */
		if (rank->to.process != last || vm_node->apart)
			at = process_find(leaders, rank->to.process);
		last = rank->to.process;
		if (!leaders->processes[at].count++)
			leaders->processes[at].first = rank;
		leaders->of[i] = at;
	}
	for (int p = 0; p < leaders->count; p++) {
		struct vm_leaders_process *process = &leaders->processes[p];

		if (vm_node->apart ?
			    process->first == self :
			    process->process == (uint32_t)vm_node->process)
			leaders->self = p;
		process->members = list;
		list += process->count;
		process->count = 0;
	}
	for (uint32_t i = 0; i < size; i++) {
		struct vm_leaders_process *process =
			&leaders->processes[leaders->of[i]];

		process->members[process->count++] = i;
	}
	leaders->ones = leaders->count == group->size &&
			leaders->count <= VM_LEADERS_STAR_MOST;
	leaders->blocks = true;
	for (size_t i = 1, changes = 0; i < size; i++) {
		changes += leaders->of[i] != leaders->of[i - 1];
		leaders->blocks = changes < (size_t)leaders->count;
	}
	*out = leaders;
	return 0;
}

bool vm_leaders_near(const struct vm_leaders *leaders, int process)
{
	/* Ranks of one process are, which need no fabric. */
	return !vm_node->fabric ||
	       vm_fabric_near(vm_node->fabric,
			      leaders->processes[process].process);
}

bool vm_leaders_crowded(const struct vm_leaders *leaders)
{
	if (!vm_node->fabric)
		return false;
	for (int p = 0; p < leaders->count; p++)
		if (!vm_fabric_crowded(vm_node->fabric,
				       leaders->processes[p].process))
			return false;
	return true;
}

void vm_leaders_free(struct vm_leaders *leaders)
{
	if (!leaders)
		return;
	vm_leaders_unheard_drop(leaders);
	free(atomic_load_explicit(&leaders->spare, memory_order_relaxed));
	free(leaders);
}

static size_t head_part(size_t bytes)
{
	return bytes < VM_LEADERS_HEAD_ROOM ? bytes : VM_LEADERS_HEAD_ROOM;
}

static void first_error(int *rc, int next)
{
	if (next && !*rc)
		*rc = next;
}

static int talk_begin(const struct vm_meet *meet, int p,
		      struct vm_leaders_talk *talk, enum vm_leaders_topic topic,
		      const struct vm_leaders_msg *part)
{
	struct vm_leaders_head *out = &talk->heads->out;
	size_t n = head_part(part->out_bytes);
	int rc = 0;

	out->topic = topic;
	out->left = p == 0 && !meet->place ? vm_leaders_left_take(meet) : 0;
	out->bytes = part->out_bytes;
	if (n)
		memcpy(out->data, part->out, n);
	/* Who has gone does not want it. */
	if (vm_leaders_is_gone(meet, talk))
		return 0;
	if (!talk->in || vm_leaders_talk_is_card(talk))
		rc = vm_leaders_head_recv(meet, p, talk);
	if (rc)
		return rc;
	rc = vm_leaders_part_send(meet, p, out, VM_LEADERS_HEAD_BYTES + n,
				  &talk->reqs[1]);
	talk->owed++;
	if (!rc && n < part->out_bytes && ++talk->owed)
		rc = vm_leaders_part_send(meet, p, (const char *)part->out + n,
					  part->out_bytes - n, &talk->reqs[2]);
	return rc;
}

int vm_leaders_follow(struct vm_meet *meet, const struct vm_data *data)
{
	struct vm_leaders_talk *talk = &meet->talks[0];
	struct vm_req *reqs[2];
	int rc = vm_leaders_msg_send(meet, 0, data, &reqs[0]), sent;

	if (rc)
		return rc;
	rc = vm_leaders_head_recv(meet, 0, talk);
	reqs[1] = talk->reqs[0];
	if (!rc)
		vm_req_await(reqs, 2, 1);
	if (!rc && !vm_req_is_done(reqs[0]))
		rc = vm_leaders_head_await(meet, 0, meet->talks);
	/* Who has not gone hears this one. */
	if (rc || talk->ahead)
		vm_req_cancel(reqs[0]);
	sent = vm_leaders_msg_wait(meet, &reqs[0], NULL);
	if (!rc && talk->ahead)
		return vm_leaders_other_gone(meet, meet->talks, true);
	return rc ? rc : sent;
}

/* The head has come. */
static int talk_rest(const struct vm_meet *meet, int p,
		     struct vm_leaders_talk *talk, struct vm_leaders_msg *part)
{
	size_t bytes = talk->in->bytes, n = head_part(bytes);

	part->in_bytes = bytes;
	part->in = bytes ? malloc(bytes) : NULL;
	if (bytes && !part->in)
		return -VMPI_ENOMEM;
	if (n)
		memcpy(part->in, talk->in->data, n);
	if (n == bytes)
		return 0;
	return vm_leaders_part_recv(meet, p, (char *)part->in + n, bytes - n,
				    &talk->reqs[3]);
}

static int talk_all(const struct vm_meet *meet, enum vm_leaders_topic topic,
		    struct vm_leaders_talk *talks, struct vm_leaders_msg *parts)
{
	const struct vm_leaders *leaders = meet->leaders;
	bool mismatch = topic == VM_LEADERS_MISMATCH;
	int rc = 0;

	for (int p = 0; p < leaders->count; p++)
		if (p != leaders->self)
			first_error(&rc, talk_begin(meet, p, &talks[p], topic,
						    &parts[p]));
	/* Errors are for good here: a process is gone, or memory is. */
	if (!rc)
		rc = vm_leaders_heads_hear(meet, talks);
	for (int p = 0; p < leaders->count && !rc; p++) {
		if (p == leaders->self)
			continue;
		mismatch |= talks[p].in->topic != (uint32_t)topic;
		rc = talk_rest(meet, p, &talks[p], &parts[p]);
	}
	if (!rc && mismatch)
		rc = vm_leaders_owed_tell(meet, talks);
	for (int p = 0; p < leaders->count; p++, talks[p - 1].owed = 0)
		for (int i = 1; i < 4; i++)
			first_error(&rc,
				    vm_leaders_msg_wait(meet, &talks[p].reqs[i],
							NULL));
	return !rc && mismatch ? -VMPI_EMISMATCH : rc;
}

/* Ends receives that will get no message, after an error. */
static void talks_end(const struct vm_meet *meet, struct vm_leaders_talk *talks,
		      int used)
{
	for (int p = 0; p < used; p++) {
		if (!talks[p].reqs[0])
			continue;
		vm_req_cancel(talks[p].reqs[0]);
		vm_leaders_msg_wait(meet, &talks[p].reqs[0], NULL);
	}
	vm_leaders_talks_put(meet->leaders, talks, used);
}

/* Whether a process of the channel is known to be gone. */
static bool is_lost(const struct vm_leaders *leaders)
{
	if (atomic_load_explicit(&leaders->lost, memory_order_relaxed))
		return true;
	if (VM_LIKELY(!vm_failure_any()))
		return false;
	for (int p = 0; p < leaders->count; p++)
		if (p != leaders->self &&
		    vm_failure_gone(leaders->processes[p].first))
			return true;
	return false;
}

/*
 * Tells the other leaders that this call fails, and does not wait for them.
 * Those that have not yet heard of the death may have come out of the last call
 * without an error, and so be in another one now: they must not compare it.
 */
static int lost_tell(const struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;
	struct vm_leaders_head head = { .topic = VM_LEADERS_LOST };
	struct vm_req *req = NULL;

	for (int p = 0; p < leaders->count; p++)
		/* A process that cannot be told needs not be told. */
		if (p != leaders->self &&
		    !vm_leaders_part_send(meet, p, &head, VM_LEADERS_HEAD_BYTES,
					  &req))
			vm_leaders_msg_wait(meet, &req, NULL);
	return -VMPI_EPEER;
}

struct vm_leaders_card *vm_leaders_card(struct vm_meet *meet)
{
	/* It may have been begun (leaders_quick.h). */
	if (!meet->talks)
		meet->talks = vm_leaders_talks_get(meet->leaders);
	if (!meet->talks)
		return NULL;
	return vm_leaders_card_for(meet, meet->leaders->self);
}

struct vm_leaders_card *vm_leaders_card_for(struct vm_meet *meet, int process)
{
	struct vm_leaders_card *card =
		(struct vm_leaders_card *)meet->talks[process].heads->out.data;

	card->follows = card->board = card->reads = 0;
	return card;
}

const struct vm_leaders_card *
vm_leaders_card_of(const struct vm_meet *meet, int process, size_t *data_bytes)
{
	const struct vm_leaders_head *in = meet->talks[process].in;

	if (!vm_leaders_talk_is_card(&meet->talks[process]))
		return NULL;
	*data_bytes = head_part(in->bytes) - sizeof(struct vm_leaders_card);
	return (const struct vm_leaders_card *)in->data;
}

/* How many of the first processes a process tells its card, and hears. */
static int told_by(const struct vm_leaders *leaders)
{
	return vm_leaders_star(leaders) && leaders->self ? 1 : leaders->count;
}

/* Whether the first process has said all by its own card. */
static bool is_told(const struct vm_leaders *leaders,
		    const struct vm_leaders_talk *talks)
{
	return leaders->self && talks[0].ahead;
}

void vm_leaders_short_end(struct vm_meet *meet)
{
	const struct vm_leaders_talk *talks = meet->talks;
	/* Others have been heard only in a bundle. */
	bool few = !talks[0].in || is_told(meet->leaders, talks);
	int before = meet->leaders->self - 1;

	if (before > 0 && (talks[before].in || talks[before].reqs[0]))
		few = false;
	talks_end(meet, meet->talks,
		  few ? told_by(meet->leaders) : meet->leaders->count);
	meet->talks = NULL;
}

/* Gets the cards of all others, or what they say instead, for this one. */
static int cards_exchange(const struct vm_meet *meet,
			  struct vm_leaders_head *out,
			  struct vm_leaders_talk *talks, size_t data_bytes,
			  enum vm_leaders_need need)
{
	const struct vm_leaders *leaders = meet->leaders;
	bool star = vm_leaders_star(leaders);
	bool all = need == VM_LEADERS_ALL || !vm_leaders_may_go_ahead(meet);
	int rc = 0;

	if (leaders->self && (star || !all))
		return vm_leaders_star_follow(meet, out, talks, data_bytes,
					      !all);
	if (star)
		return vm_leaders_star_lead(meet, talks);
	if (leaders->self)
		out->left = vm_leaders_left_take(meet);
	if (meet->told)
		rc = meet->told_error;
	else if (all)
		rc = vm_leaders_cards_send(meet, leaders->count, out, talks,
					   data_bytes);
	return rc ? rc : vm_leaders_cards_hear(meet, talks);
}

bool vm_leaders_may_go_ahead(const struct vm_meet *meet)
{
	return meet->leaders->count <= VM_LEADERS_STAR_MOST && !meet->place;
}

/* Sends a card to those who wait for it, and does not wait itself. */
static int cards_ahead(const struct vm_meet *meet, struct vm_leaders_head *out,
		       struct vm_leaders_talk *talks, size_t data_bytes,
		       bool dealt)
{
	const struct vm_leaders *leaders = meet->leaders;
	int rc;

	if (leaders->self) {
		out->left = vm_leaders_left_take(meet);
		return vm_leaders_cards_send(meet, 1, out, talks, data_bytes);
	}
	rc = ((struct vm_leaders_card *)out->data)->follows ?
		     vm_leaders_late_add(meet) :
	     vm_leaders_are_heard(meet) ? vm_leaders_unheard_add(meet) :
					  0;
	if (rc)
		return rc;
	return dealt ? vm_leaders_cards_deal(meet, out, talks) :
		       vm_leaders_cards_send(meet, leaders->count, out, talks,
					     data_bytes);
}

/* What the cards that were heard mean for this process. */
static int cards_compare(const struct vm_meet *meet,
			 struct vm_leaders_talk *talks,
			 enum vm_leaders_need need)
{
	const struct vm_leaders *leaders = meet->leaders;
	bool told = is_told(leaders, talks), all = true;

	for (int p = 0; p < leaders->count && !told; p++)
		if (p != leaders->self && talks[p].in &&
		    talks[p].in->topic == VM_LEADERS_LOST) {
			vm_leaders_lose(meet);
			return -VMPI_EPEER;
		}
	/* Who waits for others is none of those that leave it their cards. */
	for (int p = 1; p < leaders->count && need == VM_LEADERS_UP; p++)
		all &= talks[p].ahead || vm_leaders_star(leaders);
	if (all &&
	    vm_leaders_are_alike(leaders, told ? 1 : leaders->count, talks))
		return VM_DONE;
	if (!told && !vm_leaders_star(leaders) &&
	    (need == VM_LEADERS_ALL || !vm_leaders_may_go_ahead(meet)))
		for (int p = 0; p < leaders->count; p++)
			talks[p].owed = 1;
	return told ? vm_leaders_other_gone(meet, talks,
					    need == VM_LEADERS_ALL) :
		      VM_PENDING;
}

/* What is sent of a card besides it. */
static void card_end(struct vm_leaders_head *out, enum vm_leaders_topic topic,
		     size_t data_bytes)
{
	out->topic = topic;
	out->left = 0;
	out->bytes = sizeof(struct vm_leaders_card) + data_bytes;
}

bool vm_leaders_tell(struct vm_meet *meet, size_t data_bytes)
{
	const struct vm_leaders *leaders = meet->leaders;
	struct vm_leaders_head *out = &meet->talks[leaders->self].heads->out;

	if (VM_UNLIKELY(is_lost(leaders)))
		return false;
	card_end(out, VM_LEADERS_SHORT, data_bytes);
	meet->told_error = vm_leaders_cards_send(meet, leaders->count, out,
						 meet->talks, data_bytes);
	meet->told = true;
	return true;
}

int vm_leaders_short(struct vm_meet *meet, size_t data_bytes,
		     enum vm_leaders_need need)
{
	const struct vm_leaders *leaders = meet->leaders;
	struct vm_leaders_talk *talks = meet->talks;
	struct vm_leaders_head *out = &talks[leaders->self].heads->out;
	bool chain = need == VM_LEADERS_CHAIN;
	bool dealt = need == VM_LEADERS_DEALT || chain;
	bool ahead = vm_leaders_may_go_ahead(meet) &&
		     (leaders->self ? need == VM_LEADERS_UP :
				      need == VM_LEADERS_DOWN || dealt);
	int rc, alike = VM_DONE;

	if (VM_UNLIKELY(is_lost(leaders)) && !meet->told)
		return lost_tell(meet);
	if (leaders->self && vm_leaders_are_heard(meet) && !meet->place) {
		rc = vm_leaders_owed_take(meet);
		if (rc)
			return rc;
	}
	if (!meet->told)
		card_end(out,
			 !ahead ? VM_LEADERS_SHORT :
			 chain	? VM_LEADERS_CHAINED :
				  VM_LEADERS_AHEAD,
			 data_bytes);
	rc = ahead ? cards_ahead(meet, out, talks, data_bytes, dealt) :
		     cards_exchange(meet, out, talks, data_bytes, need);
	if (!rc && !ahead)
		alike = cards_compare(meet, talks, need);
	if (!rc && alike == VM_DONE && chain && leaders->self > 1)
		alike = vm_leaders_chain_hear(meet, talks);
	if (!rc && !ahead && leaders->self == 0)
		rc = vm_leaders_left_drop(meet, talks);
	for (int p = 0; p < told_by(leaders); p++)
		if (VM_UNLIKELY(talks[p].reqs[1] != NULL))
			first_error(&rc,
				    vm_leaders_msg_wait(meet, &talks[p].reqs[1],
							NULL));
	if (!rc && !ahead && alike == VM_DONE)
		rc = vm_leaders_unheard_end(meet);
	return rc ? rc : alike;
}

int vm_leaders_exchange(struct vm_meet *meet, enum vm_leaders_topic topic,
			struct vm_leaders_msg *parts)
{
	int rc, count = meet->leaders->count;
	struct vm_leaders_talk *talks = meet->talks;

	meet->talks = NULL;
	for (int p = 0; p < count; p++) {
		parts[p].in = NULL;
		parts[p].in_bytes = 0;
	}
	if (VM_UNLIKELY(!talks && is_lost(meet->leaders)))
		return lost_tell(meet);
	if (!talks)
		talks = vm_leaders_talks_get(meet->leaders);
	if (!talks)
		return -VMPI_ENOMEM;
	rc = talk_all(meet, topic, talks, parts);
	meet->gone = 0;
	if (rc == -VMPI_EMISMATCH && talks[0].ahead)
		meet->gone = ((const struct vm_leaders_card *)talks[0].in->data)
				     ->key[0];
	if ((!rc || rc == -VMPI_EMISMATCH) && meet->leaders->self == 0)
		first_error(&rc, vm_leaders_left_drop(meet, talks));
	talks_end(meet, talks, count);
	if (!rc)
		rc = vm_leaders_unheard_end(meet);
	for (int p = 0; rc && p < count; p++) {
		free(parts[p].in);
		parts[p].in = NULL;
	}
	return rc;
}

int vm_leaders_barrier(struct vm_meet *meet, enum vm_leaders_topic topic)
{
	int count = meet->leaders->count;
	struct vm_leaders_msg *parts = calloc((size_t)count, sizeof(*parts));
	int rc;

	if (!parts)
		return -VMPI_ENOMEM;
	rc = vm_leaders_exchange(meet, topic, parts);
	for (int p = 0; p < count; p++)
		free(parts[p].in);
	free(parts);
	return rc;
}
