/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request that the end of a task completes.
 */
#include "core/native/task_end.h"

static void task_ended(struct vm_ult_end *end)
{
	vm_req_complete(&vm_container_of(end, struct vm_task_end, end)->req);
}

bool vm_task_end_enter(struct vm_task_end *end, struct vm_ult *task)
{
	end->end.ended = task_ended;
	end->task = task;
	vm_req_signal(&end->req);
	return !vm_ult_end_watch(task, &end->end);
}

bool vm_task_end_leave(struct vm_task_end *end)
{
	struct vm_req *req = &end->req;

	if (vm_ult_end_unwatch(end->task, &end->end))
		return false;
	/* It is about to be told, or has been. */
	vm_req_await(&req, 1, 1);
	return true;
}
