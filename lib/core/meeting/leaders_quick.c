/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings in which the first process hears all others by their number go the long
 * way, and so does whoever has to wait.
 */
#include "core/meeting/leaders_quick.h"

#include <string.h>

#include "base/copy.h"
#include "core/meeting/leaders_ahead.h"
#include "core/meeting/leaders_msg.h"
#include "core/meeting/leaders_star.h"
#include "core/meeting/leaders_talk.h"
#include "core/meeting/meet.h"
#include "core/remote/failure.h"
#include "sched/ult.h"

bool vm_leaders_quick_as(struct vm_leaders_quick *quick,
			 const uint64_t key[VM_MEET_KEY_WORDS],
			 enum vm_leaders_topic topic)
{
	quick->begin = vm_leaders_card_begin(quick->packed, key, topic);
	return quick->begin != 0;
}

bool vm_leaders_quick_begin(struct vm_leaders_quick *quick,
			    const struct vm_chan *chan,
			    const uint64_t key[VM_MEET_KEY_WORDS],
			    enum vm_leaders_need need)
{
	struct vm_meet *meet = chan->meet;
	const struct vm_leaders *leaders = meet->leaders;

	meet->context = chan->context;
	meet->tag = (meet->meetings + chan->started) & VM_LEADERS_NUMBERS;
	if (vm_leaders_are_heard(meet) ||
	    (need == VM_LEADERS_UP && VM_UNLIKELY(leaders->left != 0)) ||
	    VM_UNLIKELY(atomic_load_explicit(&leaders->lost,
					     memory_order_relaxed) ||
			vm_failure_any()))
		return false;
	quick->meet = meet;
	quick->in_row = vm_self->sends_in_row;
	return vm_leaders_quick_as(quick, key,
				   need == VM_LEADERS_CHAIN ?
					   VM_LEADERS_CHAINED :
					   VM_LEADERS_AHEAD);
}

int vm_leaders_quick_tell(struct vm_leaders_quick *quick, int process,
			  const void *data, size_t bytes)
{
	struct vmpi_req *req = NULL;
	int rc = 0;

	vm_copy(quick->packed + quick->begin, data, bytes);
	bytes += quick->begin;
	if (VM_UNLIKELY(!vm_leaders_msg_tell(quick->meet, process,
					     quick->packed, bytes, true))) {
		rc = vm_leaders_part_send(quick->meet, process, quick->packed,
					  bytes, &req);
		rc = rc ? rc : vm_leaders_msg_wait(quick->meet, &req, NULL);
	}
	vm_leaders_row_keep(&quick->in_row);
	return rc;
}

int vm_leaders_quick_keep(const struct vm_leaders_quick *quick, int process,
			  struct vm_leaders_quick_card *card)
{
	struct vm_meet *meet = quick->meet;
	struct vm_leaders_talk *talk;

	if (!meet->talks)
		meet->talks = vm_leaders_talks_get(meet->leaders);
	if (!meet->talks)
		return -VMPI_ENOMEM;
	talk = &meet->talks[process];
	memcpy(&talk->heads->in,
	       vm_leaders_quick_data(quick, card) - quick->begin, card->bytes);
	return vm_leaders_head_hear(talk, &talk->heads->in, card->bytes);
}

int vm_leaders_quick_hear(struct vm_leaders_quick *quick, int process,
			  struct vm_leaders_quick_card *card, size_t bytes)
{
	char *packed = vm_leaders_quick_data(quick, card) - quick->begin;
	int rc;

	card->bytes = VM_LEADERS_CARD_PACKED;
	if (!vm_leaders_msg_hear(quick->meet, process, packed, &card->bytes,
				 true))
		return VM_PENDING;
	if (VM_LIKELY(card->bytes == quick->begin + bytes &&
		      !memcmp(packed, quick->packed, quick->begin)))
		return VM_DONE;
	rc = vm_leaders_quick_keep(quick, process, card);
	return rc ? rc : VM_PENDING;
}

int vm_leaders_quick_hear_all(struct vm_leaders_quick *quick,
			      struct vm_leaders_quick_card *cards,
			      const size_t *bytes)
{
	int rc = VM_DONE, p;

	for (p = 1; p < quick->meet->leaders->count && rc == VM_DONE; p++)
		rc = vm_leaders_quick_hear(quick, p, &cards[p], bytes[p]);
	for (int i = 1; i < p - 1 && rc == VM_PENDING; i++)
		if (vm_leaders_quick_keep(quick, i, &cards[i]))
			rc = -VMPI_ENOMEM;
	return rc;
}

int vm_leaders_quick_end(struct vm_leaders_quick *quick, bool all)
{
	struct vm_meet *meet = quick->meet;

	vm_self->sends_in_row++;
	return all && meet->leaders->unheard ? vm_leaders_unheard_end(meet) : 0;
}
