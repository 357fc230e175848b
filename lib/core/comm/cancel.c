/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Withdrawing what was started: from a mailbox of this process, or by asking
 * another one.
 */
#include "core/comm/cancel.h"

#include <limits.h>

#include "core/instrument/overlap_events.h"
#include "core/local/engine.h"
#include "core/local/mailbox.h"
#include "core/local/req.h"
#include "core/remote/remote.h"

/* Takes an unmatched request out of its queue; the lock is held. */
static bool req_withdraw(struct vm_req *req)
{
	struct vm_msg *msg;

	if (req->kind == VM_REQ_RECV) {
		if (!req->posted)
			return false;
		req->posted = false;
		vm_match_unpost(&req->rank->match, &req->node);
		return true;
	}
	if (!req->msg)
		return false;
	msg = req->msg;
	vm_overlap_events_forget(&req->xfer);
	vm_mailbox_take(msg);
	vm_pool_put(&vm_thread_cache_self()->msg, msg);
	return true;
}

/* How the message has gone.  A rank that has failed since is reached by the
 * fabric only, but what was sent before lies where it was. */
static bool went_by_fabric(const struct vm_req *req)
{
	return core_cvar.loopback || req->rank->engine == &vm_engine_remote;
}

void vm_req_cancel(struct vm_req *req)
{
	struct vm_engine *engine;
	struct vm_rank *self = vm_rank_self();
	bool withdrawn;

	if (vm_req_is_done(req) || !req->rank)
		return;
	if (req->kind == VM_REQ_SEND && went_by_fabric(req)) {
		vm_remote_cancel(req);
		return;
	}
	engine = req->rank->engine;
	vm_engine_lock(engine);
	/* A send may still be on its way in our ring. */
	if (self && self->engine != engine)
		vm_engine_drain(engine, self->engine->index, INT_MAX);
	withdrawn = req_withdraw(req);
	vm_engine_unlock(engine);
	if (withdrawn) {
		if (req->kind == VM_REQ_RECV)
			req->status = (vmpi_status){ 0 };
		req->status.error = -VMPI_ECANCELED;
		vm_req_complete(req);
	}
}
