/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cards are sent by a call of the fabric where that does, and taken from where
 * they were written.
 */
#include "core/meeting/leaders_star.h"

#include <string.h>

#include "core/meeting/leaders_ahead.h"
#include "core/meeting/leaders_card.h"
#include "core/meeting/leaders_msg.h"
#include "core/meeting/meet.h"
#include "sched/ult.h"

/* A card as it is sent, which may be packed; what waits is sent from memory that
 * stays. */
struct form {
	const struct vm_leaders_head *card;
	size_t card_bytes;
	const void *short_lived;
	size_t bytes;
	char packed[VM_LEADERS_CARD_PACKED];
};

static void form_init(struct form *form, const struct vm_leaders_head *out,
		      size_t data_bytes)
{
	form->card = out;
	form->card_bytes = VM_LEADERS_HEAD_BYTES +
			   sizeof(struct vm_leaders_card) + data_bytes;
	form->bytes = 0;
	if (VM_LIKELY(!out->left))
		form->bytes = vm_leaders_card_pack(
			form->packed, (const struct vm_leaders_card *)out->data,
			data_bytes, out->topic);
	form->short_lived = form->bytes ? (const void *)form->packed : out;
	if (!form->bytes)
		form->bytes = form->card_bytes;
}

static int form_send(const struct vm_meet *meet, int p, const struct form *form,
		     struct vm_leaders_talk *talk)
{
	if (vm_leaders_msg_tell(meet, p, form->short_lived, form->bytes, false))
		return 0;
	return vm_leaders_part_send(meet, p, form->card, form->card_bytes,
				    &talk->reqs[1]);
}

void vm_leaders_row_keep(unsigned *in_row)
{
	if (vm_self->sends_in_row > *in_row)
		vm_self->sends_in_row = *in_row;
	else
		*in_row = vm_self->sends_in_row; /* it may have yielded */
}

int vm_leaders_cards_send(const struct vm_meet *meet, int count,
			  struct vm_leaders_head *out,
			  struct vm_leaders_talk *talks, size_t data_bytes)
{
	unsigned in_row = vm_self->sends_in_row;
	struct form form;
	int rc = 0;

	form_init(&form, out, data_bytes);
	for (int p = 0; p < count && !rc; p++)
		if (p != meet->leaders->self) {
			rc = form_send(meet, p, &form, &talks[p]);
			vm_leaders_row_keep(&in_row);
		}
	vm_self->sends_in_row++;
	return rc;
}

int vm_leaders_card_pass(const struct vm_meet *meet, int process,
			 const struct vm_leaders_head *out, size_t data_bytes)
{
	struct vm_leaders_talk talk = { .in = NULL };
	struct form form;
	int rc;

	form_init(&form, out, data_bytes);
	rc = form_send(meet, process, &form, &talk);
	return rc ? rc : vm_leaders_msg_wait(meet, &talk.reqs[1], NULL);
}

int vm_leaders_cards_deal(const struct vm_meet *meet,
			  const struct vm_leaders_head *out,
			  struct vm_leaders_talk *talks)
{
	const struct vm_leaders_card *own =
		(const struct vm_leaders_card *)out->data;
	unsigned in_row = vm_self->sends_in_row;
	int rc = 0;

	for (int p = 0; p < meet->leaders->count && !rc; p++) {
		struct vm_leaders_head *to = &talks[p].heads->out;
		struct vm_leaders_card *card =
			(struct vm_leaders_card *)to->data;
		struct form form;
		size_t bytes;

		if (p == meet->leaders->self)
			continue;
		bytes = card->follows ? 0 : card->bytes;
		to->topic = out->topic;
		to->left = 0;
		to->bytes = sizeof(*card) + bytes;
		memcpy(card->key, own->key, sizeof(card->key));
		form_init(&form, to, bytes);
		rc = form_send(meet, p, &form, &talks[p]);
		vm_leaders_row_keep(&in_row);
	}
	vm_self->sends_in_row++;
	return rc;
}

int vm_leaders_cards_hear(const struct vm_meet *meet,
			  struct vm_leaders_talk *talks)
{
	const struct vm_leaders *leaders = meet->leaders;
	bool soon = true;
	int rc = 0;

	for (int p = 0; p < leaders->count && !rc; p++) {
		struct vm_leaders_head *in = &talks[p].heads->in;
		size_t bytes = sizeof(*in);

		if (p == leaders->self || talks[p].in)
			continue;
		soon = soon && vm_leaders_msg_hear(meet, p, in, &bytes, true);
		rc = soon ? vm_leaders_head_hear(&talks[p], in, bytes) :
			    vm_leaders_head_recv(meet, p, &talks[p]);
		if (talks[0].ahead)
			return rc;
	}
	for (int p = 0; p < leaders->count && !rc && !talks[0].ahead; p++)
		if (p != leaders->self && !talks[p].in)
			rc = vm_leaders_head_await(meet, p, talks);
	return rc;
}

/* Whether the send of our card to a process has ended. */
static bool is_sent(const struct vm_leaders_talk *talk)
{
	return VM_LIKELY(!talk->reqs[1]) || vm_req_is_done(talk->reqs[1]);
}

enum vm_errand_ripe vm_leaders_ripe(struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;
	struct vm_leaders_talk *talks = meet->talks;

	if (VM_UNLIKELY(meet->told_error ||
			atomic_load_explicit(&vm_rank_self()->peer_failed,
					     memory_order_relaxed)))
		return VM_ERRAND_ODD;
	for (int p = 0; p < leaders->count; p++) {
		struct vm_leaders_head *in = &talks[p].heads->in;
		size_t bytes = sizeof(*in);

		if (p == leaders->self)
			continue;
		if (!is_sent(&talks[p]))
			return VM_ERRAND_WAITS;
		if (talks[p].in)
			continue;
		if (!vm_leaders_msg_hear(meet, p, in, &bytes, false))
			return vm_leaders_msg_is_here(meet, p) ?
				       VM_ERRAND_ODD :
				       VM_ERRAND_WAITS;
		if (vm_leaders_head_hear(&talks[p], in, bytes))
			return VM_ERRAND_ODD;
	}
	return vm_leaders_are_alike(leaders, leaders->count, talks) ?
		       VM_ERRAND_RIPE :
		       VM_ERRAND_ODD;
}

bool vm_leaders_is_alike(const struct vm_leaders_talk *talk,
			 const struct vm_leaders_head *out)
{
	return vm_leaders_talk_is_card(talk) &&
	       talk->in->bytes >= sizeof(struct vm_leaders_card) &&
	       talk->in->bytes <= VM_LEADERS_CARD_MOST &&
	       !memcmp(talk->in->data, out->data, VM_MEET_KEY_BYTES);
}

bool vm_leaders_are_alike(const struct vm_leaders *leaders, int count,
			  const struct vm_leaders_talk *talks)
{
	for (int p = 0; p < count; p++)
		if (p != leaders->self &&
		    !vm_leaders_is_alike(&talks[p],
					 &talks[leaders->self].heads->out))
			return false;
	return true;
}

int vm_leaders_other(const struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_leaders_talk *talks = meet->talks;

	for (int p = 0; p < leaders->count; p++)
		if (p != leaders->self && talks[p].in &&
		    !vm_leaders_is_alike(&talks[p],
					 &talks[leaders->self].heads->out))
			return p;
	return -1;
}

/* Somebody is in another call: those that have gone are missed by all others. */
static int absent_tell(const struct vm_meet *meet,
		       struct vm_leaders_talk *talks)
{
	int rc = 0;

	for (int p = 0; p < meet->leaders->count && !rc; p++)
		if (p != meet->leaders->self && talks[p].ahead)
			rc = vm_leaders_ahead_tell(meet, p, talks);
	return rc;
}

static bool is_waited_for(const struct vm_leaders *leaders,
			  const struct vm_leaders_talk *talks)
{
	for (int p = 0; p < leaders->count; p++)
		if (p != leaders->self && !talks[p].ahead)
			return true;
	return false;
}

/* Tells all others that wait for it what has come, if that is alike; rc: an
 * error. */
static int star_tell(const struct vm_meet *meet, struct vm_leaders_talk *talks,
		     bool alike, int rc)
{
	const struct vm_leaders *leaders = meet->leaders;
	struct vm_leaders_head *bundle = vm_leaders_bundle(leaders, talks);
	bool lost = rc != 0;
	size_t bytes = VM_LEADERS_HEAD_BYTES;

	/* That ends the others' receives too. */
	if (rc == -VMPI_EREVOKED)
		return rc;
	for (int p = 0; p < leaders->count && !lost; p++)
		lost = p != leaders->self &&
		       talks[p].in->topic == VM_LEADERS_LOST;
	/* Else a card without anything, behind which a head follows. */
	bundle->topic = lost ? VM_LEADERS_LOST : VM_LEADERS_SHORT;
	bundle->left = 0;
	bundle->bytes = 0;
	if (alike && is_waited_for(leaders, talks))
		bytes = vm_leaders_bundle_fill(leaders, talks);
	for (int p = 0; p < leaders->count; p++) {
		int next = 0;

		if (p != leaders->self && !talks[p].ahead &&
		    !vm_leaders_msg_tell(meet, p, bundle, bytes, false))
			next = vm_leaders_part_send(meet, p, bundle, bytes,
						    &talks[p].reqs[1]);
		rc = rc ? rc : next;
	}
	return rc;
}

/* Whether any card has data, or says that there are some. */
static bool have_data(const struct vm_leaders *leaders,
		      const struct vm_leaders_talk *talks)
{
	for (int p = 0; p < leaders->count; p++) {
		const struct vm_leaders_head *head =
			p == leaders->self ? &talks[p].heads->out : talks[p].in;

		const struct vm_leaders_card *card =
			(const struct vm_leaders_card *)head->data;

		if (head->bytes > sizeof(*card) || card->follows || card->board)
			return true;
	}
	return false;
}

int vm_leaders_star_lead(const struct vm_meet *meet,
			 struct vm_leaders_talk *talks)
{
	const struct vm_leaders *leaders = meet->leaders;
	struct vm_leaders_head *out = &talks[leaders->self].heads->out;
	int rc = vm_leaders_cards_hear(meet, talks);
	bool alike = !rc &&
		     vm_leaders_are_alike(leaders, leaders->count, talks);

	if (alike && !have_data(leaders, talks) &&
	    is_waited_for(leaders, talks)) {
		/* That this one has gone says all. */
		out->topic = VM_LEADERS_AHEAD;
		return vm_leaders_cards_send(meet, leaders->count, out, talks,
					     0);
	}
	if (!rc && !alike)
		rc = absent_tell(meet, talks);
	return star_tell(meet, talks, alike, rc);
}

/* What the first process says of itself, or a bundle. */
static int word_take(const struct vm_leaders *leaders,
		     struct vm_leaders_talk *talks, struct vm_leaders_head *in,
		     size_t bytes)
{
	if (vm_leaders_star(leaders) && in->topic == VM_LEADERS_SHORT &&
	    bytes > VM_LEADERS_HEAD_BYTES)
		return vm_leaders_bundle_take(leaders, talks, bytes) ?
			       0 :
			       -VMPI_EIO;
	return vm_leaders_head_hear(&talks[0], in, bytes);
}

/* Whether the first process, which has said so much, hears what this one says. */
static bool hears(const struct vm_meet *meet,
		  const struct vm_leaders_talk *talks)
{
	return !talks[0].ahead || vm_leaders_are_heard(meet) ||
	       ((const struct vm_leaders_card *)talks[0].in->data)->follows;
}

int vm_leaders_star_follow(const struct vm_meet *meet,
			   struct vm_leaders_head *out,
			   struct vm_leaders_talk *talks, size_t data_bytes,
			   bool goes_ahead)
{
	const struct vm_leaders *leaders = meet->leaders;
	bool star = vm_leaders_star(leaders);
	struct vm_leaders_head *in = star ? vm_leaders_bundle(leaders, talks) :
					    &talks[0].heads->in;
	size_t bytes = star ? vm_leaders_bundle_room(leaders) : sizeof(*in);
	bool is_heard = !goes_ahead || vm_leaders_are_heard(meet), soon, sent;
	bool kept = talks[0].in != NULL; /* leaders_quick.h */
	int rc = 0;

	soon = !is_heard &&
	       (kept || vm_leaders_msg_hear(meet, 0, in, &bytes, true));
	sent = !soon && (is_heard || vm_leaders_left_may_be(meet));
	if (sent) {
		out->left = is_heard ? vm_leaders_left_take(meet) : 0;
		rc = vm_leaders_cards_send(meet, 1, out, talks, data_bytes);
	}
	if (!soon && !kept && !rc &&
	    !vm_leaders_msg_hear(meet, 0, in, &bytes, true)) {
		rc = vm_leaders_part_recv(meet, 0, in, bytes,
					  &talks[0].reqs[0]);
		if (!rc) {
			talks[0].reqs[0]->leads = true;
			rc = vm_leaders_msg_wait(meet, &talks[0].reqs[0],
						 &bytes);
		}
	}
	if (!rc && !kept)
		rc = word_take(leaders, talks, in, bytes);
	if (rc || is_heard)
		return rc;
	if (!sent && hears(meet, talks)) {
		out->left = vm_leaders_left_take(meet);
		return vm_leaders_cards_send(meet, 1, out, talks, data_bytes);
	}
	if (sent && !hears(meet, talks))
		vm_leaders_left_note(meet);
	return 0;
}
