/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives end when any process of the channel dies (core/remote/failure.c).  A
 * send to one that is alive does not, and that one may have given up: then it
 * is withdrawn, if the receiver has not begun to fetch it.
 */
#include "core/meeting/leaders_msg.h"

#include "core/comm/cancel.h"
#include "core/rank/chan.h"
#include "core/meeting/leaders.h"
#include "core/meeting/meet.h"
#include "core/comm/p2p.h"
#include "core/local/engine.h"
#include "core/remote/cards.h"
#include "core/remote/straight.h"

static struct vm_env env_of(const struct vm_meet *meet, int process)
{
	const struct vm_leaders_process *from =
		&meet->leaders->processes[process];

	return (struct vm_env){ .context = meet->context + 1,
				.source = (int)from->members[0],
				.tag = (int)(meet->tag | VM_LEADERS_TAG) };
}

void vm_leaders_lose(const struct vm_meet *meet)
{
	atomic_store_explicit(&meet->leaders->lost, true, memory_order_relaxed);
}

/* Notes the error of a message. */
static int checked(const struct vm_meet *meet, int rc)
{
	if (VM_UNLIKELY(rc == -VMPI_EPEER))
		vm_leaders_lose(meet);
	return rc;
}

int vm_leaders_msg_recv(const struct vm_meet *meet, int process,
			const struct vm_data *data, struct vm_req **req)
{
	const struct vm_leaders *leaders = meet->leaders;

	return checked(meet,
		       vm_irecv_for(leaders->processes[leaders->self].first,
				    env_of(meet, process), data, req));
}

int vm_leaders_msg_send(const struct vm_meet *meet, int process,
			const struct vm_data *data, struct vm_req **req)
{
	const struct vm_leaders *leaders = meet->leaders;

	return checked(meet, vm_isend(leaders->processes[process].first,
				      env_of(meet, leaders->self), data,
				      VM_SEND_STANDARD, req));
}

int vm_leaders_part_recv(const struct vm_meet *meet, int p, void *buf,
			 size_t bytes, struct vm_req **req)
{
	struct vm_data data = vm_data_bytes(buf, bytes);

	return vm_leaders_msg_recv(meet, p, &data, req);
}

int vm_leaders_part_send(const struct vm_meet *meet, int p, const void *buf,
			 size_t bytes, struct vm_req **req)
{
	struct vm_data data = vm_data_bytes(buf, bytes);

	return vm_leaders_msg_send(meet, p, &data, req);
}

bool vm_leaders_msg_tell(const struct vm_meet *meet, int process,
			 const void *buf, size_t bytes, bool alone)
{
	const struct vm_rank *to = meet->leaders->processes[process].first;
	struct vm_env env = env_of(meet, meet->leaders->self);
	const struct vm_rank *rank = vm_self->owner;

	return rank && rank->port && to->via == &vm_engine_remote &&
	       ((alone && vm_cards_send(vm_self, to, env, buf, bytes)) ||
		vm_straight_send(vm_self, to, env, buf, bytes));
}

bool vm_leaders_msg_hear(const struct vm_meet *meet, int process, void *buf,
			 size_t *bytes, bool waits)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_rank *source = leaders->processes[process].first;
	struct vm_rank *first = leaders->processes[leaders->self].first;
	const struct vm_rank *rank = vm_self->owner;
	struct vm_env env = env_of(meet, process);
	vmpi_status status;

	if (source->via == &vm_engine_remote &&
	    vm_cards_recv(vm_self, first, source, env, buf, bytes))
		return true;
	if (!rank || !rank->port || rank->port != first->port ||
	    source->via != &vm_engine_remote)
		return false;
	/* Others may be ahead. */
	if (!(vm_match_arrived(&first->match) &&
	      vm_recv_arrived(first, env, buf, *bytes, &status)) &&
	    !vm_straight_recv(vm_self, first, source, env, buf, *bytes, waits,
			      &status))
		return false;
	*bytes = status.bytes;
	return true;
}

bool vm_leaders_msg_is_here(const struct vm_meet *meet, int process)
{
	const struct vm_leaders *leaders = meet->leaders;
	struct vm_rank *first = leaders->processes[leaders->self].first;
	struct vm_env env = env_of(meet, process);
	bool is_here;

	if (!vm_match_arrived(&first->match))
		return false;
	vm_engine_lock(first->engine);
	is_here = vm_match_peek(&first->match, &env) != NULL;
	vm_engine_unlock(first->engine);
	return is_here;
}

/* A receive that only a death ends: from ourselves, since others may leave. */
static int never_begin(const struct vm_meet *meet, struct vm_req **req)
{
	const struct vm_leaders *leaders = meet->leaders;
	struct vm_data data = vm_data_bytes(NULL, 0);
	struct vm_env env = env_of(meet, leaders->self);

	env.tag = (int)((uint32_t)env.tag | VM_LEADERS_NEVER);
	return vm_irecv_for(leaders->processes[leaders->self].first, env, &data,
			    req);
}

static int send_await(const struct vm_meet *meet, struct vm_req *req)
{
	struct vm_req *both[2] = { req, NULL };
	int rc;

	if (vm_req_is_done(req))
		return 0;
	rc = never_begin(meet, &both[1]);
	if (rc)
		return rc;
	vm_req_await(both, 2, 1);
	if (!vm_req_is_done(req)) {
		vm_req_cancel(req);
		vm_req_await(both, 1, 1);
		rc = -VMPI_EPEER;
	}
	vm_req_cancel(both[1]);
	vm_req_await(&both[1], 1, 1);
	vm_req_finish(both[1], NULL);
	return rc;
}

int vm_leaders_msg_say_for(const struct vm_meet *meet, int to, int process,
			   const void *buf, size_t bytes)
{
	struct vm_data data = vm_data_bytes(buf, bytes);
	struct vm_req *req;
	int rc = vm_isend(meet->leaders->processes[to].first,
			  env_of(meet, process), &data, VM_SEND_STANDARD, &req);

	return rc ? checked(meet, rc) : vm_leaders_msg_wait(meet, &req, NULL);
}

int vm_leaders_msg_wait(const struct vm_meet *meet, struct vm_req **req,
			size_t *bytes)
{
	vmpi_status status = { 0 };
	int rc = 0, end;

	if (!*req)
		return 0;
	if ((*req)->kind == VM_REQ_SEND)
		rc = send_await(meet, *req);
	else
		vm_req_await(req, 1, 1);
	end = vm_req_finish(*req, &status);
	*req = NULL;
	if (bytes)
		*bytes = status.bytes;
	return checked(meet, rc ? rc : end);
}
