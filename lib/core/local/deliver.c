/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a payload, and the delivery while somebody observes.
 */
#include "core/local/deliver.h"

#include "core/instrument/overlap_events.h"

void vm_local_end(struct vm_arrival *arrival)
{
	vm_payload_free(arrival->payload, arrival->data->addr,
			arrival->data->bytes);
	if (arrival->sender) {
		vm_overlap_events_end(&arrival->sender->xfer);
		vm_req_complete(arrival->sender);
	}
}

int vm_arrival_receive_observed(struct vm_arrival *arrival, struct vm_req *req,
				const struct vm_rank *rank,
				const struct vm_payload_ops *ops)
{
	struct vm_observed_move move;
	int rc;

	vm_observe_move_begin(&move, arrival, rank, req);
	rc = vm_arrival_receive(arrival, req, ops);
	vm_observe_move_end(&move);
	return rc;
}
