/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of meetings with a place for each process's card, whose call is not
 * looked at: who finds another card at the first process says so itself.
 */
#include "core/meeting/leaders_ahead.h"

#include <stdlib.h>

#include "core/meeting/leaders.h"
#include "core/meeting/leaders_board.h"
#include "core/meeting/leaders_chain.h"
#include "core/meeting/leaders_msg.h"
#include "core/meeting/leaders_talk.h"
#include "core/meeting/meet.h"
#include "core/local/layout.h"
#include "core/local/req.h"

/* So many meetings that are heard may be unheard, each so many behind the last. */
#define MEETINGS 16u
#define HEARD 16u

struct unheard_card {
	struct vm_req *req; /* NULL: it has been taken, or never posted */
	char data[VM_LEADERS_HEAD_BYTES +
		  sizeof(struct vm_leaders_card)] VM_ALIGNED(16);
};

struct vm_leaders_unheard {
	/* How many may still write here: the leaders, and requests that were
	 * given up. */
	_Atomic int refs;
	uint32_t first, count; /* the oldest meeting, and how many */
	uint32_t tags[MEETINGS];
	struct unheard_card cards[]; /* by meeting and process */
};

static void unheard_put(struct vm_leaders_unheard *unheard)
{
	if (atomic_fetch_sub_explicit(&unheard->refs, 1,
				      memory_order_acq_rel) == 1)
		free(unheard);
}

static struct vm_leaders_unheard *unheard_get(struct vm_leaders *leaders)
{
	size_t cards = (size_t)leaders->count * MEETINGS;
	struct vm_leaders_unheard *unheard = leaders->unheard;

	if (unheard)
		return unheard;
	unheard = calloc(1, sizeof(*unheard) + cards * sizeof(*unheard->cards));
	if (unheard)
		atomic_init(&unheard->refs, 1);
	leaders->unheard = unheard;
	return unheard;
}

static struct unheard_card *cards_of(const struct vm_leaders *leaders,
				     uint32_t meeting)
{
	size_t row = meeting % MEETINGS;

	return &leaders->unheard->cards[row * (size_t)leaders->count];
}

bool vm_leaders_are_heard(const struct vm_meet *meet)
{
	return meet->tag % HEARD == 0;
}

/* How many meetings ago the lowest of the bits was; at least 1. */
static uint32_t left_ago(const struct vm_meet *meet)
{
	return (meet->tag - meet->leaders->left_tag) & VM_LEADERS_NUMBERS;
}

void vm_leaders_left_note(const struct vm_meet *meet)
{
	struct vm_leaders *leaders = meet->leaders;
	uint32_t before = vm_leaders_left_take(meet);

	leaders->left = before << 1 | 1;
	leaders->left_tag = meet->tag;
}

bool vm_leaders_left_may_be(const struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;
	uint32_t ago = left_ago(meet);

	/* Those of started meetings are not heard. */
	return !leaders->left ||
	       (ago < HEARD && (uint64_t)leaders->left << ago <= UINT16_MAX);
}

uint32_t vm_leaders_left_take(const struct vm_meet *meet)
{
	struct vm_leaders *leaders = meet->leaders;
	uint32_t left = leaders->left;

	/* A helper may hold it, while the members go on. */
	if (VM_LIKELY(!left) || meet->place)
		return 0;
	leaders->left = 0;
	return left_ago(meet) <= 32 ? left << (left_ago(meet) - 1) : 0;
}

/* Receives a message of a process, and forgets it. */
static int message_drop(const struct vm_meet *meet, int process)
{
	struct vm_req *req = NULL;
	int rc = vm_leaders_part_recv(meet, process, NULL, 0, &req);

	if (!rc)
		rc = vm_leaders_msg_wait(meet, &req, NULL);
	return rc == -VMPI_ETRUNC ? 0 : rc; /* as it has to be */
}

/* Receives what a process has sent in meetings before that of a tag. */
static int left_recv(const struct vm_meet *meet, int process, uint32_t tag,
		     uint32_t left)
{
	struct vm_meet old = { .leaders = meet->leaders,
			       .context = meet->context };
	int rc = 0;

	for (uint32_t ago = 1; left && !rc; ago++, left >>= 1) {
		old.tag = (tag - ago) & VM_LEADERS_NUMBERS;
		if (left & 1)
			rc = message_drop(&old, process);
	}
	return rc;
}

int vm_leaders_left_drop(const struct vm_meet *meet,
			 struct vm_leaders_talk *talks)
{
	int rc = 0;

	for (int p = 1; p < meet->leaders->count && !rc; p++) {
		if (VM_LIKELY(!talks[p].left))
			continue;
		rc = left_recv(meet, p, meet->tag, talks[p].left);
		talks[p].left = 0;
	}
	return rc;
}

/* Takes the cards of the oldest meeting. */
static int oldest_take(const struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;
	struct vm_leaders_unheard *unheard = leaders->unheard;
	struct unheard_card *cards = cards_of(leaders, unheard->first);
	uint32_t tag = unheard->tags[unheard->first % MEETINGS];
	int rc = 0;

	for (int p = 0; p < leaders->count; p++) {
		size_t bytes = 0;
		int next = vm_leaders_msg_wait(meet, &cards[p].req, &bytes);
		uint32_t left = vm_leaders_head_left(
			(const struct vm_leaders_head *)(void *)cards[p].data,
			bytes);

		/* It may be longer than a card. */
		if (next == -VMPI_ETRUNC)
			next = 0;
		if (!next && VM_UNLIKELY(left != 0))
			next = left_recv(meet, p, tag, left);
		if (next && !rc)
			rc = next;
	}
	unheard->first++;
	unheard->count--;
	return rc;
}

int vm_leaders_unheard_add(const struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;
	struct vm_leaders_unheard *unheard = unheard_get(meet->leaders);
	struct unheard_card *cards;
	int rc = 0;

	if (!unheard)
		return -VMPI_ENOMEM;
	if (unheard->count == MEETINGS)
		rc = oldest_take(meet);
	if (rc)
		return rc;
	unheard->tags[(unheard->first + unheard->count) % MEETINGS] = meet->tag;
	cards = cards_of(leaders, unheard->first + unheard->count++);
	for (int p = 0; p < leaders->count && !rc; p++) {
		struct vm_data data =
			vm_data_bytes(cards[p].data, sizeof(cards[p].data));

		if (p != leaders->self)
			rc = vm_leaders_msg_recv(meet, p, &data, &cards[p].req);
	}
	return rc;
}

int vm_leaders_unheard_end(const struct vm_meet *meet)
{
	int rc = 0;

	/* A helper may hold it, while the members go on. */
	if (meet->place)
		return 0;
	while (meet->leaders->unheard && meet->leaders->unheard->count) {
		int next = oldest_take(meet);

		rc = rc ? rc : next;
	}
	return rc;
}

int vm_leaders_late_add(const struct vm_meet *meet)
{
	int rc = 0;

	for (int p = 0; p < meet->leaders->count && !rc; p++)
		if (p != meet->leaders->self)
			rc = vm_leaders_head_recv(meet, p, &meet->talks[p]);
	return rc;
}

/* What has been heard of a process: an error if it is that one is gone. */
static int lost_hear(const struct vm_meet *meet,
		     const struct vm_leaders_talk *talk)
{
	if (talk->in->topic != VM_LEADERS_LOST)
		return 0;
	vm_leaders_lose(meet);
	return -VMPI_EPEER;
}

int vm_leaders_late_end(const struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;
	int rc = 0;

	for (int p = 0; p < leaders->count && !rc; p++) {
		if (p == leaders->self)
			continue;
		rc = vm_leaders_head_await(meet, p, meet->talks);
		rc = rc ? rc : lost_hear(meet, &meet->talks[p]);
	}
	if (!rc)
		rc = vm_leaders_left_drop(meet, meet->talks);
	if (!rc && vm_leaders_other(meet) >= 0)
		rc = -VMPI_EMISMATCH;
	return rc ? rc : vm_leaders_unheard_end(meet);
}

/* What the first process says, or another one in its name. */
struct owed {
	uint32_t tag, process, count;
};

bool vm_leaders_is_gone(const struct vm_meet *meet,
			const struct vm_leaders_talk *talk)
{
	/* Only the first process is told of what is left. */
	return talk->ahead || (meet->leaders->self && talk->in && talk->left &&
			       talk->in->topic == VM_LEADERS_MISMATCH);
}

int vm_leaders_owed_tell(const struct vm_meet *meet,
			 struct vm_leaders_talk *talks)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_meet at = { .leaders = meet->leaders,
				    .context = meet->context,
				    .tag = VM_LEADERS_OWED };
	struct owed owed = { meet->tag, (uint32_t)leaders->self, 0 };
	int rc = 0;

	for (int p = 1; p < leaders->count && !rc; p++) {
		owed.count = talks[p].owed;
		if (p != leaders->self && owed.count &&
		    vm_leaders_is_gone(meet, &talks[p]))
			rc = vm_leaders_msg_say_for(&at, p, 0, &owed,
						    sizeof(owed));
	}
	return rc;
}

int vm_leaders_owed_take(const struct vm_meet *meet)
{
	const struct vm_meet from = { .leaders = meet->leaders,
				      .context = meet->context,
				      .tag = VM_LEADERS_OWED };
	int rc = 0;

	while (!rc && vm_leaders_msg_is_here(&from, 0)) {
		struct vm_meet old = from;
		struct vm_req *req = NULL;
		struct owed owed = { 0 };

		rc = vm_leaders_part_recv(&from, 0, &owed, sizeof(owed), &req);
		if (!rc)
			rc = vm_leaders_msg_wait(&from, &req, NULL);
		if (!rc && owed.process >= (uint32_t)meet->leaders->count)
			rc = -VMPI_EIO;
		old.tag = owed.tag;
		for (; owed.count && !rc; owed.count--)
			rc = message_drop(&old, (int)owed.process);
	}
	return rc;
}

int vm_leaders_drain(const struct vm_meet *meet, int process,
		     const struct vm_leaders_talk *talks)
{
	const struct vm_leaders_talk *talk = &talks[process];
	uint32_t follows = 0;
	int rc = 0;

	if (vm_leaders_talk_is_card(talk)) {
		const struct vm_leaders_card *card =
			(const struct vm_leaders_card *)talk->in->data;

		follows = card->board ? 0 : card->follows;
		vm_leaders_board_drop(meet->leaders, process, card);
	}
	while (follows-- && !rc)
		rc = message_drop(meet, process);
	return rc;
}

static void given_up(struct vm_req *req)
{
	unheard_put(req->user);
}

void vm_leaders_unheard_drop(struct vm_leaders *leaders)
{
	struct vm_leaders_unheard *unheard = leaders->unheard;

	if (!unheard)
		return;
	for (; unheard->count; unheard->count--, unheard->first++) {
		struct unheard_card *cards = cards_of(leaders, unheard->first);

		for (int p = 0; p < leaders->count; p++) {
			if (!cards[p].req)
				continue;
			atomic_fetch_add_explicit(&unheard->refs, 1,
						  memory_order_relaxed);
			cards[p].req->user = unheard;
			cards[p].req->on_free = given_up;
			vm_req_detach(cards[p].req);
		}
	}
	leaders->unheard = NULL;
	unheard_put(unheard);
}

int vm_leaders_ahead_tell(const struct vm_meet *meet, int process,
			  struct vm_leaders_talk *talks)
{
	struct vm_leaders_talk *talk = &talks[process];
	int rc;

	if (!vm_leaders_talk_is_card(talk))
		return 0;
	rc = vm_leaders_drain(meet, process, talks);
	talk->in->topic = VM_LEADERS_MISMATCH;
	talk->in->bytes = 0;
	talk->in->left = 1; /* vm_leaders_is_gone() */
	for (int p = 1; p < meet->leaders->count && !rc; p++)
		if (!talks[p].ahead)
			rc = vm_leaders_msg_say_for(meet, p, process, talk->in,
						    VM_LEADERS_HEAD_BYTES);
	return rc;
}

int vm_leaders_other_gone(const struct vm_meet *meet,
			  struct vm_leaders_talk *talks, bool sent)
{
	const struct vm_leaders_card *card =
		(const struct vm_leaders_card *)talks[0].in->data;
	int rc = vm_leaders_drain(meet, 0, talks);

	if (sent && !card->follows && !meet->place &&
	    !vm_leaders_are_heard(meet) && vm_leaders_left_may_be(meet))
		vm_leaders_left_note(meet);
	if (!rc && talks[0].in->topic == VM_LEADERS_CHAINED)
		rc = vm_leaders_chain_break(meet);
	return rc ? rc : -VMPI_EMISMATCH;
}

/* What a process says first: a card, which may be of one that has gone, or a head. */
static int first_hear(const struct vm_meet *meet, int p,
		      struct vm_leaders_talk *talks)
{
	int rc = talks[p].in ? 0 : vm_leaders_head_await(meet, p, talks);

	if (!rc && talks[p].ahead)
		return p == 0 ? vm_leaders_other_gone(meet, talks, true) :
				vm_leaders_ahead_tell(meet, p, talks);
	return rc ? rc : lost_hear(meet, &talks[p]);
}

/* The head behind a card, which says nothing that it does not. */
static int behind_hear(const struct vm_meet *meet, int p,
		       struct vm_leaders_talk *talks)
{
	int rc = 0;

	if (!vm_leaders_talk_is_card(&talks[p]))
		return 0;
	if (!talks[p].reqs[0])
		rc = vm_leaders_head_recv(meet, p, &talks[p]);
	rc = rc ? rc : vm_leaders_head_await(meet, p, talks);
	return rc ? rc : lost_hear(meet, &talks[p]);
}

int vm_leaders_heads_hear(const struct vm_meet *meet,
			  struct vm_leaders_talk *talks)
{
	const struct vm_leaders *leaders = meet->leaders;
	int rc = 0;

	for (int p = 0; p < leaders->count && !rc; p++)
		if (p != leaders->self)
			rc = first_hear(meet, p, talks);
	for (int p = 0; p < leaders->count && !rc; p++)
		if (p != leaders->self)
			rc = behind_hear(meet, p, talks);
	return rc;
}
