/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looking for a message without receiving it: as it lies in the mailbox, or
 * taken out as a handle.
 */
#include "core/comm/probe.h"

#include "core/local/engine.h"
#include "core/remote/failure.h"
#include "core/local/mailbox.h"
#include "core/rank/state.h"
#include "core/rank/wait.h"
#include "sched/thread.h"

static void msg_status(const struct vm_msg *msg, vmpi_status *status)
{
	*status = (vmpi_status){ .source = msg->node.env.source,
				 .tag = msg->node.env.tag,
				 .bytes = msg->bytes };
}

/* Finds a message that fits; without one, enters `prober` (NULL: gives up),
 * whose req is set.
 * Where none can come any more it is not entered, but has an error. */
static struct vm_msg *probe(struct vm_env env, struct vm_prober *prober,
			    bool take, vmpi_status *status)
{
	struct vm_rank *rank = vm_rank_self();
	struct vm_match_node *node;
	struct vm_msg *msg = NULL;

	vm_engine_lock(rank->engine);
	node = vm_match_peek(&rank->match, &env);
	if (node) {
		msg = vm_container_of(node, struct vm_msg, node);
		msg_status(msg, status);
		if (take)
			vm_mailbox_take(msg);
	} else if (prober) {
		*prober = (struct vm_prober){ .env = env,
					      .ult = vm_self,
					      .req = prober->req,
					      .take = take };
		prober->error = vm_failure_wanted(rank, &env);
		if (!prober->error)
			vm_list_append(&rank->probers, &prober->link);
	}
	vm_engine_unlock(rank->engine);
	return msg;
}

/* The result of a probe that found nothing. */
static int none(const struct vm_env *env)
{
	struct vm_rank *rank = vm_rank_self();
	int lost;

	if (VM_LIKELY(!atomic_load_explicit(&rank->peer_failed,
					    memory_order_relaxed)))
		return -VMPI_EAGAIN;
	vm_engine_lock(rank->engine);
	lost = vm_match_peek(&rank->match, env) ? 0 :
						  vm_failure_wanted(rank, env);
	vm_engine_unlock(rank->engine);
	return lost ? lost : -VMPI_EAGAIN;
}

/* An OS thread's search for a message. */
struct look {
	struct vm_rank *rank;
	struct vm_env env;
	bool take;
	uint64_t seen; /* messages that had come at the last search */
	struct vm_msg *msg;
	vmpi_status *status;
};

static bool look(void *arg)
{
	struct look *look = arg;
	uint64_t come = __atomic_load_n(&look->rank->match.pvars.unexpected,
					__ATOMIC_RELAXED);

	if (look->seen == come)
		return false;
	look->seen = come;
	look->msg = probe(look->env, NULL, look->take, look->status);
	return look->msg != NULL;
}

/*
 * Finds a message that fits, or enters `prober`.  An OS thread first searches
 * itself for a while: of several that wait for any message the one that has a
 * processor takes it, instead of one that must be woken.
 */
static struct vm_msg *probe_soon(struct vm_env env, struct vm_prober *prober,
				 bool take, vmpi_status *status)
{
	struct vm_ult *self = vm_self;
	struct look args = { .rank = self->owner,
			     .env = env,
			     .take = take,
			     .seen = UINT64_MAX,
			     .status = status };
	struct vm_msg *msg;

	if (VM_LIKELY(self->worker->index >= 0))
		return probe(env, prober, take, status);
	if (look(&args) || vm_thread_spin(self->worker, look, &args))
		return args.msg;
	msg = probe(env, prober, take, status);
	if (msg)
		self->worker->spun = false;
	return msg;
}

int vm_probe(struct vm_env env, vmpi_status *status)
{
	struct vm_prober prober;

	prober.req = NULL;
	vm_self->sends_in_row = 0;
	if (probe_soon(env, &prober, false, status))
		return 0;
	if (!prober.error)
		vm_wait_message(VM_EXPORT_PROBE, &env, env.source, 0, 0);
	if (!prober.error)
		*status = prober.status;
	return prober.error;
}

/* Finds a message that fits, if there are any at all: programs that look often
 * mostly find none, and the count needs no lock. */
static inline struct vm_msg *probe_now(struct vm_env env, bool take,
				       vmpi_status *status)
{
	struct vm_rank *rank = vm_rank_self();

	if (!vm_match_arrived(&rank->match))
		return NULL;
	return probe(env, NULL, take, status);
}

int vm_iprobe(struct vm_env env, vmpi_status *status)
{
	if (probe_now(env, false, status))
		return 0;
	vm_req_poll();
	return probe_now(env, false, status) ? 0 : none(&env);
}

int vm_match_wait(struct vm_env env, struct vm_msg **msg)
{
	struct vm_prober prober;
	vmpi_status status;
	struct vm_msg *found;

	prober.req = NULL;
	vm_self->sends_in_row = 0;
	found = probe_soon(env, &prober, true, &status);
	if (!found) {
		if (!prober.error)
			vm_wait_message(VM_EXPORT_PROBE, &env, env.source, 0,
					0);
		if (prober.error)
			return prober.error;
		found = prober.msg;
	}
	*msg = found;
	return 0;
}

int vm_match_enter(struct vm_prober *prober, struct vm_env env,
		   struct vm_req *req, bool take, struct vm_msg **msg)
{
	vmpi_status status;
	struct vm_msg *found;

	vm_req_signal(req);
	prober->req = req;
	found = probe(env, prober, take, &status);
	if (!found)
		return prober->error ? prober->error : -VMPI_EAGAIN;
	*msg = found;
	return 0;
}

bool vm_match_leave(struct vm_prober *prober)
{
	struct vm_rank *rank = vm_rank_self();
	bool waits;

	/* Who takes it out completes its request under the lock. */
	vm_engine_lock(rank->engine);
	waits = !prober->msg && !prober->error;
	if (waits)
		vm_list_remove(&prober->link);
	vm_engine_unlock(rank->engine);
	return waits;
}

int vm_match_until(struct vm_env env, struct vm_msg **msg, uint64_t deadline_ns)
{
	struct vm_prober prober;
	struct vm_req req, *reqs = &req;
	int rc = vm_match_enter(&prober, env, &req, true, msg);

	if (rc != -VMPI_EAGAIN)
		return rc;
	if (!vm_req_await_one_until(&reqs, 1, deadline_ns) &&
	    vm_match_leave(&prober))
		return -VMPI_ETIMEDOUT;
	if (prober.error)
		return prober.error;
	*msg = prober.msg;
	return 0;
}

int vm_match_try(struct vm_env env, struct vm_msg **msg)
{
	vmpi_status status;
	struct vm_msg *found = probe_now(env, true, &status);

	if (!found) {
		vm_req_poll();
		found = probe_now(env, true, &status);
	}
	if (!found)
		return none(&env);
	*msg = found;
	return 0;
}
