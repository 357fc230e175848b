/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Out by one call of the fabric; in by one look at the posted receives.
 */
#include "core/remote/straight.h"

#include "base/copy.h"
#include "core/local/chan_stats.h"
#include "core/local/engine.h"
#include "core/local/observe.h"
#include "core/rank/rank.h"
#include "core/rank/state.h"
#include "core/remote/credit_queue.h"
#include "core/remote/progress.h"
#include "sched/vars.h"

/* Whether nothing is special about a message of the rank. */
static inline bool is_plain(const struct vm_rank *rank, uint32_t context,
			    size_t bytes)
{
	return VM_LIKELY(
		bytes <= (size_t)vm_rank_cvars(rank)->eager_limit &&
		bytes <= vm_fabric_limits(vm_node->fabric)->data_bytes &&
		!vm_observed() && !rank->overlap &&
		vm_chan_stats_setting(rank, context,
				      VM_CHAN_STATS_EAGER_LIMIT) ==
			VM_CHAN_STATS_UNSET);
}

/* Sends as soon as credits come back, if that is soon. */
static __attribute__((noinline)) bool
later_send(struct vm_port *port, struct vm_to to, const struct vm_send *send)
{
	int looks = VM_CREDIT_LOOKS;

	while (vm_credits_await(port, to, &looks))
		if (vm_port_send(port, to, send, NULL) == VM_DONE)
			return true;
	return false;
}

bool vm_straight_send(struct vm_ult *self, const struct vm_rank *dest,
		      struct vm_env env, const void *addr, size_t bytes)
{
	struct core_rank_pvars *pvars = self->counts;
	const struct vm_rank *rank = self->owner;
	const struct vm_wire_envelope envelope = {
		.context = env.context,
		.source = env.source,
		.tag = env.tag,
		.rank = (uint32_t)dest->there,
		.bytes = bytes,
	};
	const struct vm_send send = { .upper = &envelope,
				      .data = addr,
				      .bytes = (uint32_t)bytes,
				      .kind = VM_PACKET_EAGER };

	if (VM_UNLIKELY(
		    atomic_load_explicit(&dest->failed, memory_order_relaxed) ||
		    self->sends_in_row + 1 >=
			    (unsigned)vm_rank_cvars(rank)->send_budget ||
		    !is_plain(rank, env.context, bytes)))
		return false;
	/* Nobody overtakes those who wait already. */
	if (VM_UNLIKELY(vm_credit_queue_waits(rank->port, dest->to) ||
			vm_port_send(rank->port, dest->to, &send, NULL) !=
				VM_DONE) &&
	    !later_send(rank->port, dest->to, &send))
		return false;
	self->sends_in_row++;
	/* It waits when it has no credits left, and polls for them. */
	if (VM_UNLIKELY(self->worker->index < 0))
		vm_progress_waits();
	vm_count_sent_away(pvars, env.context, bytes);
	return true;
}

/* Under the lock of its engine: the receive that a message goes to right away;
 * or NULL. */
static inline struct vm_req *
receive_find(struct vm_rank *rank, const struct vm_env *env, size_t bytes)
{
	struct vm_match_node *node = vm_match_front(&rank->match, env);
	struct vm_req *req;

	if (VM_UNLIKELY(!node))
		return NULL;
	req = vm_container_of(node, struct vm_req, node);
	return VM_LIKELY(!req->data.layout && req->data.bytes >= bytes) ? req :
									  NULL;
}

/* Completes a receive; whether that has woken who posts the next one. */
static inline bool receive_end(struct vm_req *req)
{
	/* The waiter of such a request waits for nothing else. */
	bool wakes = req->transient || req->leads;

	vm_req_complete(req);
	return wakes;
}

bool vm_straight_take(struct vm_rank *rank, struct vm_pkt *pkt,
		      const struct vm_wire_envelope *envelope)
{
	const struct vm_env env = { envelope->context, envelope->source,
				    envelope->tag };
	struct vm_engine *engine = rank->engine;
	struct vm_req *req;

	if (VM_UNLIKELY(vm_observed() || rank->overlap || envelope->sender))
		return false;
	vm_engine_lock(engine);
	req = receive_find(rank, &env, pkt->bytes);
	if (VM_UNLIKELY(!req)) {
		vm_engine_unlock(engine);
		pkt->stays = pkt->woke;
		return pkt->stays;
	}
	vm_match_unpost(&rank->match, &req->node);
	req->posted = false;
	vm_engine_unlock(engine);
	req->status.source = env.source;
	req->status.tag = env.tag;
	req->status.bytes = pkt->bytes;
	req->status.error = 0;
	vm_copy(req->data.addr, pkt->data, pkt->bytes);
	pkt->woke |= receive_end(req);
	return true;
}

/* Of a receive, before it is posted: calls, and looks or polls of each; where the
 * sender may need this core a single one. */
#define CALLS 6
#define LOOKS 256
#define POLLS 4 /* each a system call: as long as the looks */

/* ... where the worker, too, would only poll: it finds the message later, and runs
 * the rank later yet.  Less than half as long as it does so before it sleeps. */
#define POLLS_ALONE 32
#define ALONE_SPIN_US 200

/* Whether nobody but the receive of `self` wants to go on. */
static inline bool is_alone(const struct vm_worker *worker)
{
	return !worker->head && !worker->next && !worker->sleepers &&
	       !atomic_load_explicit(&worker->inbox, memory_order_relaxed);
}

static __attribute__((noinline)) bool has_arrived(struct vm_rank *rank,
						  struct vm_env env)
{
	bool arrived;

	vm_engine_lock(rank->engine);
	arrived = vm_match_peek(&rank->match, &env) != NULL;
	vm_engine_unlock(rank->engine);
	return arrived;
}

/*
 * Whether the mailbox has nothing that comes before a message for it.  Messages
 * of the source are delivered by who polls the port, and receives are posted by
 * the rank; in the context of collectives no other one wants the same, and others
 * may be ahead.
 */
static inline bool is_empty(struct vm_rank *rank, struct vm_env env)
{
	if (env.context & 1)
		return !vm_match_arrived(&rank->match) ||
		       !has_arrived(rank, env);
	return !vm_match_arrived(&rank->match) &&
	       !vm_match_posted(&rank->match);
}

static inline bool may_look(const struct vm_ult *self, struct vm_rank *rank,
			    struct vm_env env)
{
	return VM_LIKELY(((env.context & 1) || is_empty(rank, env)) &&
			 is_alone(self->worker) && !vm_observed() &&
			 !rank->overlap &&
			 !atomic_load_explicit(&rank->peer_failed,
					       memory_order_relaxed));
}

/* Whether a packet is the message, and one without anything unusual. */
static inline bool is_wanted(struct vm_rank *rank, const struct vm_pkt *pkt,
			     struct vm_env env, size_t bytes)
{
	const struct vm_wire_envelope *envelope = pkt->upper;

	return VM_LIKELY(pkt->kind == VM_PACKET_EAGER && !pkt->control &&
			 envelope->context == env.context &&
			 envelope->source == env.source &&
			 envelope->tag == env.tag &&
			 envelope->rank == (uint32_t)rank->index &&
			 !envelope->sender && envelope->bytes == pkt->bytes &&
			 pkt->bytes <= bytes && is_empty(rank, env));
}

/* ... of each call where the core is nobody else's. */
static inline int polls_most(void)
{
	return vm_sched.worker_count == 1 &&
			       sched_cvar.spin_us >= ALONE_SPIN_US ?
		       POLLS_ALONE :
		       POLLS;
}

bool vm_straight_recv(struct vm_ult *self, struct vm_rank *rank,
		      const struct vm_rank *source, struct vm_env env,
		      void *addr, size_t bytes, bool waits, vmpi_status *status)
{
	/* What a test does in a step does not wait either. */
	bool shared = !waits || vm_sched_contended() || vm_ult_in_steps(self);
	int looks = shared ? 1 : LOOKS, polls = shared ? 1 : polls_most();
	const struct vm_pkt *pkt;
	int rc = -VMPI_EAGAIN;
	bool took;

	for (int i = 0; i < (shared ? 1 : CALLS) && rc == -VMPI_EAGAIN; i++) {
		if (!may_look(self, rank, env))
			return false;
		rc = vm_port_look(rank->port, source->to, looks, polls, &pkt);
	}
	if (rc != VM_DONE)
		return false;
	took = is_wanted(rank, pkt, env, bytes);
	if (VM_LIKELY(took)) {
		vm_copy(addr, pkt->data, pkt->bytes);
		status->source = env.source;
		status->tag = env.tag;
		status->bytes = pkt->bytes;
		status->error = 0;
	}
	vm_port_look_end(rank->port, took);
	if (VM_UNLIKELY(!took))
		return false;
	self->sends_in_row = 0;
	if (self->worker->index < 0)
		vm_progress_waits();
	vm_count_received(env.context, status->bytes);
	return true;
}
