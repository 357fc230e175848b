/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h: calls with a deadline.
 *
 * What has not happened in time is taken back here, or is found to have
 * happened after all; then the call succeeds.
 */
#include "vmpi.h"

#include "base/clock.h"
#include "core/comm/cancel.h"
#include "core/comm/p2p.h"
#include "core/comm/probe.h"
#include "core/instrument/calls.h"
#include "core/local/req.h"
#include "core/local/threads.h"
#include "core/native/task_end.h"
#include "core/rank/chan.h"
#include "core/rank/wait.h"
#include "core/runtime/checks.h"

#define ENTRY(name) VM_ENTRY_WAITS(vmpi_##name)
VM_API_CALLS_UNTIL(ENTRY)
#undef ENTRY

/* The calling task is in this call, which may wait. */
#define WAITS_IN(name) vm_wait_in(vm_self, VM_API_CALL_##name)

uint64_t vmpi_time_ns(void)
{
	return vm_clock_ns();
}

void vmpi_sleep_until(uint64_t deadline_ns)
{
	uint64_t now = vm_clock_ns();

	if (deadline_ns > now)
		vmpi_sleep(deadline_ns - now);
	else
		vmpi_yield();
}

int vmpi_recv_until(vmpi_chan *chan, void *buf, size_t bytes, int source,
		    int tag, vmpi_status *status, uint64_t deadline_ns)
{
	struct vm_data data = vm_data_bytes(buf, bytes);
	vmpi_status own;
	vmpi_req *req;
	int rc = vm_recv_check(chan, buf, bytes, source, tag);

	if (!rc)
		rc = vm_irecv(vm_chan_env(chan, source, tag), &data, &req);
	if (rc)
		return rc;
	WAITS_IN(recv_until);
	if (!vm_req_await_one_until(&req, 1, deadline_ns)) {
		vm_req_cancel(req);
		/* What was matched before comes soon. */
		vm_req_await(&req, 1, 1);
	}
	rc = vm_req_finish(req, &own);
	if (rc == -VMPI_ECANCELED)
		return -VMPI_ETIMEDOUT;
	if (status)
		*status = own;
	return rc;
}

int vmpi_match_until(vmpi_chan *chan, vmpi_msg **msg, int source, int tag,
		     uint64_t deadline_ns)
{
	int rc = vm_match_check(chan, source, tag);

	if (!rc && !msg)
		rc = -VMPI_EINVAL;
	if (rc)
		return rc;
	WAITS_IN(match_until);
	return vm_match_until(vm_chan_env(chan, source, tag), msg, deadline_ns);
}

int vmpi_wait_until(vmpi_req **req, vmpi_status *status, uint64_t deadline_ns)
{
	if (!req || !vm_self)
		return req ? -VMPI_ENORANK : -VMPI_EINVAL;
	WAITS_IN(wait_until);
	if (!vm_req_await_one_until(req, 1, deadline_ns))
		return -VMPI_ETIMEDOUT;
	return vmpi_wait(req, status);
}

int vmpi_wait_all_until(vmpi_req **reqs, vmpi_status *statuses, int n,
			uint64_t deadline_ns)
{
	if (n < 0 || (!reqs && n))
		return -VMPI_EINVAL;
	if (!vm_self)
		return -VMPI_ENORANK;
	WAITS_IN(wait_all_until);
	if (!vm_req_await_all_until(reqs, n, deadline_ns))
		return -VMPI_ETIMEDOUT;
	return vmpi_wait_all(reqs, statuses, n);
}

int vmpi_wait_any_until(vmpi_req **reqs, int *index, vmpi_status *status, int n,
			uint64_t deadline_ns)
{
	if (n < 0 || (!reqs && n) || !index)
		return -VMPI_EINVAL;
	if (!vm_self)
		return -VMPI_ENORANK;
	WAITS_IN(wait_any_until);
	if (!vm_req_await_one_until(reqs, n, deadline_ns))
		return -VMPI_ETIMEDOUT;
	return vmpi_test_any(reqs, index, status, n);
}

/* Whether a task ends in time; the caller is a task or known to vmpi. */
static bool task_await(struct vm_ult *task, uint64_t deadline_ns)
{
	struct vm_task_end end;
	struct vm_req *req = &end.req;

	return vm_task_end_enter(&end, task) ||
	       vm_req_await_one_until(&req, 1, deadline_ns) ||
	       vm_task_end_leave(&end);
}

int vmpi_join_until(vmpi_task **task, int *result, uint64_t deadline_ns)
{
	bool stranger = vm_self == NULL, ended;
	int rc = 0;

	if (!task || !*task)
		return -VMPI_EINVAL;
	if (stranger)
		rc = vm_thread_adopt(NULL);
	if (rc)
		return rc;
	WAITS_IN(join_until);
	ended = task_await((struct vm_ult *)*task, deadline_ns);
	if (stranger)
		vm_thread_release();
	return ended ? vmpi_join(task, result) : -VMPI_ETIMEDOUT;
}
