/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h: the functions of the native API.  Arguments are checked here and
 * nowhere below.
 */
#include "vmpi.h"

#include <errno.h>
#include <stdlib.h>

#include "core/instrument/intercept.h"
#include "core/comm/cancel.h"
#include "core/instrument/calls.h"
#include "core/rank/chan.h"
#include "core/local/engine.h"
#include "core/meeting/meet.h"
#include "core/runtime/node.h"
#include "core/comm/p2p.h"
#include "core/comm/probe.h"
#include "core/rank/vars.h"
#include "core/rank/wait.h"
#include "core/local/threads.h"
#include "core/local/task.h"
#include "core/meeting/chan_make.h"
#include "core/runtime/checks.h"

#define ENTRY(name) VM_ENTRY_WAITS(vmpi_##name)
VM_API_CALLS_BASIC(ENTRY)
#undef ENTRY

#define STACK_BYTES_MIN 16384

/* The calling task is in this call, which may wait. */
#define WAITS_IN(name) vm_wait_in(vm_self, VM_API_CALL_##name)

/* Variables of an embedding program come from its environment and files; those
 * of a job have been loaded when it runs. */
static int vars_load(void)
{
	static bool loaded;
	int rc;

	vm_core_vars_add();
	if (loaded || vm_node)
		return 0;
	rc = vm_vars_load(NULL);
	loaded = rc == 0;
	return rc;
}

int vmpi_start(const vmpi_config *config)
{
	int rc;

	if (vm_node)
		return -VMPI_ESTATE;
	rc = vars_load();
	return rc ? rc : vm_node_start(config);
}

int vmpi_stop(void)
{
	return vm_node_stop();
}

int vmpi_run(const vmpi_config *config, vmpi_body body, void *arg)
{
	bool started = vm_node != NULL;
	int rc, stopped;

	if (!body || (started && config))
		return -VMPI_EINVAL;
	if (!started) {
		rc = vmpi_start(config);
		if (rc)
			return rc;
	}
	rc = vm_node_run(body, arg);
	if (!started) {
		stopped = vm_node_stop();
		if (!rc)
			rc = stopped;
	}
	return rc;
}

int vmpi_attach(int rank)
{
	int rc;

	if (!vm_node)
		return -VMPI_ESTATE;
	if (rank < 0 || rank >= vm_node->rank_count ||
	    !vm_rank_here(&vm_node->ranks[rank]))
		return -VMPI_ERANK;
	rc = vm_thread_adopt(&vm_node->ranks[rank]);
	if (!rc)
		vm_intercept_body_begin();
	return rc;
}

int vmpi_detach(void)
{
	if (!vm_self || vm_self->worker->index >= 0)
		return -VMPI_ESTATE;
	vm_thread_release();
	return 0;
}

int vmpi_spawn(vmpi_task **task, vmpi_body body, void *arg)
{
	struct vm_ult *ult;
	int rc;

	if (!vm_node)
		return -VMPI_ESTATE;
	if (!body)
		return -VMPI_EINVAL;
	rc = vm_task_new_user(&ult, body, arg);
	if (rc)
		return rc;
	if (task)
		*task = (vmpi_task *)ult;
	else
		vm_ult_detach(ult);
	return 0;
}

int vmpi_spawn_with(vmpi_task **task, const vmpi_task_config *config,
		    vmpi_body body, void *arg)
{
	struct vm_ult *ult;
	int rc;

	if (!vm_node)
		return -VMPI_ESTATE;
	if (!body || (config && config->stack_bytes &&
		      config->stack_bytes < STACK_BYTES_MIN))
		return -VMPI_EINVAL;
	if (!config || !config->stack_bytes)
		return vmpi_spawn(task, body, arg);
	rc = vm_task_new_sized(&ult, config->stack_bytes, body, arg);
	if (rc)
		return rc;
	if (task)
		*task = (vmpi_task *)ult;
	else
		vm_ult_detach(ult);
	return 0;
}

int vmpi_join(vmpi_task **task, int *result)
{
	bool stranger = vm_self == NULL;
	struct vm_rank *rank;
	int rc = 0;

	if (!task || !*task)
		return -VMPI_EINVAL;
	if (stranger)
		rc = vm_thread_adopt(NULL);
	if (rc)
		return rc;
	rank = vm_wait_begin(VM_EXPORT_OTHER);
	rc = vm_ult_join((struct vm_ult *)*task);
	vm_wait_end(rank);
	if (stranger)
		vm_thread_release();
	*task = NULL;
	if (result)
		*result = rc;
	return 0;
}

void vmpi_yield(void)
{
	if (vm_self)
		vm_rank_yield();
	else
		sched_yield();
	vm_entry_end();
}

void vmpi_sleep(uint64_t ns)
{
	struct vm_rank *rank = vm_wait_begin(VM_EXPORT_SLEEP);

	vm_ult_sleep(ns);
	vm_wait_end(rank);
}

int vmpi_rank(void)
{
	struct vm_rank *rank = vm_rank_self();

	return rank ? rank->index : -VMPI_ENORANK;
}

int vmpi_size(void)
{
	return vm_node ? vm_node->rank_count : -VMPI_ESTATE;
}

vmpi_chan *vmpi_world(void)
{
	struct vm_rank *rank = vm_rank_self();

	return rank ? rank->world : NULL;
}

int vmpi_chan_rank(const vmpi_chan *chan)
{
	return chan ? chan->rank : -VMPI_EINVAL;
}

int vmpi_chan_size(const vmpi_chan *chan)
{
	return chan ? chan->group->size : -VMPI_EINVAL;
}

int vmpi_chan_dup(vmpi_chan *chan, vmpi_chan **out)
{
	int rc = vm_chan_check(chan);

	if (!rc && !out)
		rc = -VMPI_EINVAL;
	if (rc)
		return rc;
	WAITS_IN(chan_dup);
	return vm_chan_dup(chan, out);
}

int vmpi_chan_split(vmpi_chan *chan, vmpi_chan **out, int color, int key)
{
	int rc = vm_chan_check(chan);

	if (!rc && (!out || (color < 0 && color != VMPI_UNDEFINED)))
		rc = -VMPI_EINVAL;
	if (rc)
		return rc;
	WAITS_IN(chan_split);
	return vm_chan_split(chan, out, color, key);
}

int vmpi_barrier(vmpi_chan *chan)
{
	int rc = vm_chan_check(chan);

	if (rc)
		return rc;
	WAITS_IN(barrier);
	rc = vm_meet(chan, NULL, NULL);
	vm_entry_end();
	return rc;
}

int vmpi_chan_free(vmpi_chan **chan)
{
	int rc = chan ? vm_chan_check(*chan) : -VMPI_EINVAL;

	if (!rc && (*chan == (*chan)->owner->world))
		rc = -VMPI_EINVAL;
	if (rc)
		return rc;
	vm_chan_free(*chan);
	*chan = NULL;
	return 0;
}

static int send_check(const vmpi_chan *chan, const void *buf, size_t bytes,
		      int dest, int tag)
{
	int rc = vm_chan_check(chan);

	if (rc)
		return rc;
	if (dest < 0 || dest >= chan->group->size)
		return -VMPI_ERANK;
	if (tag < 0)
		return -VMPI_ETAG;
	return buf || !bytes ? 0 : -VMPI_EINVAL;
}

static int send_mode(vmpi_chan *chan, const void *buf, size_t bytes, int dest,
		     int tag, enum vm_send_mode mode, enum vm_api_call_id call)
{
	struct vm_data data = vm_data_bytes(buf, bytes);
	int rc = send_check(chan, buf, bytes, dest, tag);

	if (rc)
		return rc;
	vm_wait_in(vm_self, call);
	return vm_send(chan->group->ranks[dest],
		       vm_chan_env(chan, chan->rank, tag), &data, mode);
}

int vmpi_send(vmpi_chan *chan, const void *buf, size_t bytes, int dest, int tag)
{
	return send_mode(chan, buf, bytes, dest, tag, VM_SEND_STANDARD,
			 VM_API_CALL_send);
}

int vmpi_ssend(vmpi_chan *chan, const void *buf, size_t bytes, int dest,
	       int tag)
{
	return send_mode(chan, buf, bytes, dest, tag, VM_SEND_SYNC,
			 VM_API_CALL_ssend);
}

int vmpi_recv(vmpi_chan *chan, void *buf, size_t bytes, int source, int tag,
	      vmpi_status *status)
{
	struct vm_data data = vm_data_bytes(buf, bytes);
	int rc = vm_recv_check(chan, buf, bytes, source, tag);

	if (rc)
		return rc;
	WAITS_IN(recv);
	return vm_recv(vm_chan_env(chan, source, tag), &data, status);
}

static int isend_mode(vmpi_chan *chan, vmpi_req **req, const void *buf,
		      size_t bytes, int dest, int tag, enum vm_send_mode mode)
{
	struct vm_data data = vm_data_bytes(buf, bytes);
	int rc = send_check(chan, buf, bytes, dest, tag);

	if (!rc && !req)
		rc = -VMPI_EINVAL;
	if (rc)
		return rc;
	return vm_isend(chan->group->ranks[dest],
			vm_chan_env(chan, chan->rank, tag), &data, mode, req);
}

int vmpi_isend(vmpi_chan *chan, vmpi_req **req, const void *buf, size_t bytes,
	       int dest, int tag)
{
	return isend_mode(chan, req, buf, bytes, dest, tag, VM_SEND_STANDARD);
}

int vmpi_issend(vmpi_chan *chan, vmpi_req **req, const void *buf, size_t bytes,
		int dest, int tag)
{
	return isend_mode(chan, req, buf, bytes, dest, tag, VM_SEND_SYNC);
}

int vmpi_irecv(vmpi_chan *chan, vmpi_req **req, void *buf, size_t bytes,
	       int source, int tag)
{
	struct vm_data data = vm_data_bytes(buf, bytes);
	int rc = vm_recv_check(chan, buf, bytes, source, tag);

	if (!rc && !req)
		rc = -VMPI_EINVAL;
	return rc ? rc : vm_irecv(vm_chan_env(chan, source, tag), &data, req);
}

/* The status of a request that does not exist. */
static void status_empty(vmpi_status *status)
{
	if (status)
		*status = (vmpi_status){ .source = VMPI_ANY, .tag = VMPI_ANY };
}

int vmpi_wait(vmpi_req **req, vmpi_status *status)
{
	int rc;

	if (!req || !vm_self)
		return req ? -VMPI_ENORANK : -VMPI_EINVAL;
	if (!*req) {
		status_empty(status);
		return 0;
	}
	WAITS_IN(wait);
	vm_req_await(req, 1, 1);
	rc = vm_req_finish(*req, status);
	*req = NULL;
	return rc;
}

int vmpi_test(vmpi_req **req, vmpi_status *status)
{
	if (req && vm_self && *req && !vm_req_is_done(*req)) {
		vm_req_poll();
		if (!vm_req_is_done(*req))
			return -VMPI_EAGAIN;
	}
	return vmpi_wait(req, status);
}

int vmpi_wait_all(vmpi_req **reqs, vmpi_status *statuses, int n)
{
	int result = 0;

	if (n < 0 || (!reqs && n))
		return -VMPI_EINVAL;
	if (!vm_self)
		return -VMPI_ENORANK;
	WAITS_IN(wait_all);
	vm_req_await(reqs, n, n);
	for (int i = 0; i < n; i++) {
		int rc = vmpi_wait(&reqs[i], statuses ? &statuses[i] : NULL);

		if (!result)
			result = rc;
	}
	return result;
}

int vmpi_test_any(vmpi_req **reqs, int *index, vmpi_status *status, int n)
{
	bool active = false;

	if (n < 0 || (!reqs && n) || !index)
		return -VMPI_EINVAL;
	if (!vm_self)
		return -VMPI_ENORANK;
	for (int i = 0; i < n; i++) {
		if (!reqs[i])
			continue;
		active = true;
		if (vm_req_is_done(reqs[i])) {
			*index = i;
			return vmpi_wait(&reqs[i], status);
		}
	}
	if (active) {
		vm_req_poll();
		return -VMPI_EAGAIN;
	}
	status_empty(status);
	*index = -1;
	return 0;
}

int vmpi_wait_any(vmpi_req **reqs, int *index, vmpi_status *status, int n)
{
	if (n < 0 || (!reqs && n) || !index)
		return -VMPI_EINVAL;
	if (!vm_self)
		return -VMPI_ENORANK;
	WAITS_IN(wait_any);
	vm_req_await(reqs, n, 1);
	return vmpi_test_any(reqs, index, status, n);
}

int vmpi_cancel(vmpi_req *req)
{
	if (!req)
		return -VMPI_EINVAL;
	if (!vm_self)
		return -VMPI_ENORANK;
	vm_req_cancel(req);
	return 0;
}

int vmpi_match(vmpi_chan *chan, vmpi_msg **msg, int source, int tag)
{
	int rc = vm_match_check(chan, source, tag);

	if (!rc && !msg)
		rc = -VMPI_EINVAL;
	if (rc)
		return rc;
	WAITS_IN(match);
	rc = vm_match_wait(vm_chan_env(chan, source, tag), msg);
	vm_entry_end();
	return rc;
}

int vmpi_try_match(vmpi_chan *chan, vmpi_msg **msg, int source, int tag)
{
	int rc = vm_match_check(chan, source, tag);

	if (!rc && !msg)
		rc = -VMPI_EINVAL;
	return rc ? rc : vm_match_try(vm_chan_env(chan, source, tag), msg);
}

int vmpi_msg_source(const vmpi_msg *msg)
{
	return msg ? msg->node.env.source : -VMPI_EINVAL;
}

int vmpi_msg_tag(const vmpi_msg *msg)
{
	return msg ? msg->node.env.tag : -VMPI_EINVAL;
}

size_t vmpi_msg_size(const vmpi_msg *msg)
{
	return msg ? msg->bytes : 0;
}

int vmpi_msg_recv(vmpi_msg **msg, void *buf, size_t bytes, vmpi_status *status)
{
	struct vm_data data = vm_data_bytes(buf, bytes);
	int rc;

	if (!msg || !*msg || (!buf && bytes))
		return -VMPI_EINVAL;
	if (!vm_rank_self())
		return -VMPI_ENORANK;
	WAITS_IN(msg_recv);
	rc = vm_msg_receive(*msg, &data, status);
	*msg = NULL;
	return rc;
}

int vmpi_msg_irecv(vmpi_msg **msg, vmpi_req **req, void *buf, size_t bytes)
{
	struct vm_data data = vm_data_bytes(buf, bytes);
	int rc;

	if (!msg || !*msg || !req || (!buf && bytes))
		return -VMPI_EINVAL;
	if (!vm_rank_self())
		return -VMPI_ENORANK;
	rc = vm_msg_ireceive(*msg, &data, req);
	if (!rc)
		*msg = NULL;
	return rc;
}

int vmpi_msg_borrow(vmpi_msg *msg, const void **data)
{
	if (!msg || !data)
		return -VMPI_EINVAL;
	if (vm_self)
		WAITS_IN(msg_borrow);
	return vm_msg_borrow(msg, data);
}

int vmpi_msg_drop(vmpi_msg **msg)
{
	if (!msg || !*msg)
		return -VMPI_EINVAL;
	if (!vm_rank_self())
		return -VMPI_ENORANK;
	vm_msg_drop(*msg);
	*msg = NULL;
	return 0;
}

int vmpi_set(const char *name, const char *value)
{
	int rc = name && value ? vars_load() : -VMPI_EINVAL;

	return rc ? rc : vm_cvar_set(name, value, VM_SOURCE_RUNTIME);
}

int vmpi_get(const char *name, char *value, size_t bytes)
{
	int rc = name && value && bytes ? vars_load() : -VMPI_EINVAL;

	return rc ? rc : vm_cvar_get(name, value, bytes);
}
