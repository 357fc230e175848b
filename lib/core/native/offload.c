/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h: functions of the program that may block, on threads of their own.
 */
#include "vmpi.h"

#include <errno.h>

#include "core/instrument/calls.h"
#include "core/local/req.h"
#include "core/rank/state.h"
#include "core/rank/wait.h"
#include "core/runtime/helper.h"
#include "sched/worker.h"

#define ENTRY(name) VM_ENTRY_WAITS(vmpi_##name)
VM_API_CALLS_OFFLOAD(ENTRY)
#undef ENTRY

struct offload {
	struct vm_helper_job job;
	struct vm_req req;
	vmpi_body body;
	void *arg;
	int result, error;
};

static void run(struct vm_helper_job *job)
{
	struct offload *offload = vm_container_of(job, struct offload, job);

	offload->result = offload->body(offload->arg);
	offload->error = errno;
	vm_req_complete(&offload->req);
}

/* Never inlined: the address of errno is that of the thread on which the caller
 * is by now. */
static __attribute__((noinline)) void errno_set(int error)
{
	errno = error;
}

int vmpi_offload(int *result, vmpi_body body, void *arg)
{
	struct offload offload = { .job.run = run, .body = body, .arg = arg };
	struct vm_req *req = &offload.req;

	if (!body)
		return -VMPI_EINVAL;
	if (!vm_self || vm_self->worker->index < 0) {
		offload.result = body(arg);
		offload.error = errno;
	} else {
		vm_req_signal(req);
		vm_wait_in(vm_self, VM_API_CALL_offload);
		vm_helper_do(vm_node->callers, &offload.job);
		vm_req_await(&req, 1, 1);
	}
	if (result)
		*result = offload.result;
	errno_set(offload.error);
	return 0;
}
