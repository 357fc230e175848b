/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for the end of a task beside other things.
 */
#ifndef CORE_NATIVE_TASK_END_H
#define CORE_NATIVE_TASK_END_H

#include <stdbool.h>

#include "core/local/req.h"
#include "sched/ult.h"

struct vm_task_end {
	struct vm_ult_end end;
	struct vm_ult *task;
	struct vm_req req; /* completes when it has ended */
};

/* Whether the task has ended.  If not, _leave follows, which says whether it has
 * by now.  The task is still to be joined. */
bool vm_task_end_enter(struct vm_task_end *end, struct vm_ult *task);
bool vm_task_end_leave(struct vm_task_end *end);

#endif
