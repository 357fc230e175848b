/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operands are combined in the order of the ranks, as by scan_part().
 */
#include "mpi/coll/algo/chain.h"

#include <string.h>

#include "core/meeting/leaders.h"
#include "mpi/op/op.h"

bool vm_coll_is_chain(const struct vm_meet *meet, const struct vm_coll *any)
{
	return any->kind->family == VM_FAMILY_SCAN && any->op->loops &&
	       (uint32_t)meet->leaders->count == meet->size &&
	       vm_leaders_may_go_ahead(meet);
}

void vm_coll_chain_deal(struct vm_meet *meet, const struct vm_leaders_card *own)
{
	for (int p = 1; p < meet->leaders->count; p++) {
		struct vm_leaders_card *card = vm_leaders_card_for(meet, p);

		card->bytes = p == 1 ? own->bytes : 0;
		memcpy(card->data, own->data, card->bytes);
	}
}

int vm_coll_chain(struct vm_meet *meet, struct vm_coll *coll)
{
	int self = meet->leaders->self;
	struct vm_leaders_card *own = vm_leaders_card_for(meet, self);
	const struct vm_leaders_card *before;
	const void *result = own->data;
	size_t bytes;
	int rc = 0;

	if (self) {
		before = vm_leaders_card_of(meet, self - 1, &bytes);
		if (!before || bytes != own->bytes || before->bytes != bytes)
			return -VMPI_EINVAL;
		vm_op_apply(coll->op, coll->recv.type, before->data, own->data,
			    coll->recv.count);
		rc = vm_leaders_pass(meet);
		if (coll->kind == &vm_coll_exscan)
			result = before->data;
	}
	if (self || coll->kind != &vm_coll_exscan)
		memcpy((void *)(uintptr_t)coll->recv.buf, result, own->bytes);
	return rc;
}
