/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Light requests: receives of the usual kind, whose message is, too.
 *
 * All that distinguishes them from others is in one word, so that a look tells
 * them, and the other fields that vm_req_begin() sets stay as they are from use
 * to use.
 */
#ifndef CORE_LOCAL_LIGHT_H
#define CORE_LOCAL_LIGHT_H

#include "core/local/req.h"
#include "core/rank/rank.h"

#define VM_LIGHT_MARK_(field, value)                                \
	((uint64_t)(value) << 8 * (offsetof(struct vm_req, field) - \
				   offsetof(struct vm_req, marks)))
#define VM_LIGHT_MARKS_(posted_, light_)                                   \
	(VM_LIGHT_MARK_(posted, posted_) | VM_LIGHT_MARK_(light, light_) | \
	 VM_LIGHT_MARK_(kind, VM_REQ_RECV) | VM_LIGHT_MARK_(active, 1))
#define VM_LIGHT_POSTED VM_LIGHT_MARKS_(1, VM_REQ_LIGHT_POSTED)
#define VM_LIGHT_DONE VM_LIGHT_MARKS_(0, VM_REQ_LIGHT_DONE)
/* Of a receive on its task's stack. */
#define VM_LIGHT_TRANSIENT                                               \
	(VM_LIGHT_MARK_(posted, 1) | VM_LIGHT_MARK_(kind, VM_REQ_RECV) | \
	 VM_LIGHT_MARK_(active, 1) | VM_LIGHT_MARK_(transient, 1))
VM_STATIC_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
		 "the marks are bytes of a word");

/*
 * The receive that a message has matched, and that is not completed: takes it
 * out, and sets all but the bytes.  NULL: it cannot be done quickly.  The engine
 * has been entered.
 */
static VM_ALWAYS_INLINE struct vm_req *
vm_light_match(struct vm_rank *dest, struct vm_env env, size_t bytes)
{
	struct vm_match_node *node = vm_match_front(&dest->match, &env);
	struct vm_req *req;

	if (VM_UNLIKELY(!node))
		return NULL;
	req = vm_container_of(node, struct vm_req, node);
	if (VM_UNLIKELY(req->data.bytes < bytes))
		return NULL;
	if (VM_LIKELY(req->marks == VM_LIGHT_POSTED)) {
		req->light = VM_REQ_LIGHT_DONE;
		vm_match_unpost_plain(&dest->match, node);
	} else if (VM_LIKELY(!req->data.layout)) {
		vm_match_unpost(&dest->match, node);
	} else {
		return NULL;
	}
	req->posted = false;
	req->status.source = env.source;
	req->status.tag = env.tag;
	req->status.bytes = bytes;
	req->status.error = 0;
	return req;
}

/* Completes a receive by its worker, which is in its engine; false: somebody waits
 * for it.  No exchange: whoever would begin to wait for it on another thread enters
 * the engine for that (waiter_enter()). */
static VM_ALWAYS_INLINE bool vm_light_done(struct vm_req *req)
{
	if (VM_UNLIKELY(
		    atomic_load_explicit(&req->state, memory_order_relaxed) !=
		    VM_REQ_PENDING))
		return false;
	atomic_store_explicit(&req->state, VM_REQ_DONE, memory_order_release);
	return true;
}

#endif
