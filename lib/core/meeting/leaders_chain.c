/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A card is a message to the next process, as those to and from the first one.
 */
#include "core/meeting/leaders_chain.h"

#include "core/meeting/leaders.h"
#include "core/meeting/leaders_msg.h"
#include "core/meeting/leaders_star.h"
#include "core/meeting/leaders_talk.h"
#include "core/meeting/meet.h"

int vm_leaders_chain_break(const struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_leaders_head head = { .topic = VM_LEADERS_MISMATCH };
	struct vm_req *req = NULL;
	int rc;

	if (leaders->self + 1 == leaders->count)
		return 0;
	rc = vm_leaders_part_send(meet, leaders->self + 1, &head,
				  VM_LEADERS_HEAD_BYTES, &req);
	return rc ? rc : vm_leaders_msg_wait(meet, &req, NULL);
}

int vm_leaders_chain_hear(const struct vm_meet *meet,
			  struct vm_leaders_talk *talks)
{
	int self = meet->leaders->self, before = self - 1, rc;
	struct vm_leaders_talk *talk = &talks[before];
	struct vm_leaders_head *in = &talk->heads->in;
	size_t bytes = sizeof(*in);

	if (talk->in) { /* leaders_quick.h */
		rc = 0;
	} else if (vm_leaders_msg_hear(meet, before, in, &bytes, true)) {
		rc = vm_leaders_head_hear(talk, in, bytes);
	} else {
		rc = vm_leaders_head_recv(meet, before, talk);
		rc = rc ? rc : vm_leaders_head_await(meet, before, talks);
	}
	if (rc)
		return rc;
	if (VM_LIKELY(vm_leaders_is_alike(talk, &talks[self].heads->out)))
		return VM_DONE;
	if (talk->in->topic == VM_LEADERS_LOST) {
		vm_leaders_lose(meet);
		return -VMPI_EPEER;
	}
	rc = vm_leaders_chain_break(meet);
	return rc ? rc : -VMPI_EMISMATCH;
}

int vm_leaders_pass(struct vm_meet *meet)
{
	int self = meet->leaders->self;
	struct vm_leaders_head *out = &meet->talks[self].heads->out;
	struct vm_leaders_card *card = (struct vm_leaders_card *)out->data;

	if (self + 1 == meet->leaders->count)
		return 0;
	out->topic = VM_LEADERS_SHORT;
	out->left = 0;
	out->bytes = sizeof(*card) + card->bytes;
	return vm_leaders_card_pass(meet, self + 1, out, card->bytes);
}
