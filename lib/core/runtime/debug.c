/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The offsets, as the compiler knows them.
 */
#include "core/runtime/debug.h"

#include <stddef.h>

#include "core/rank/rank.h"
#include "core/rank/state.h"

#define WORD(name, word) word " "

const struct vm_debug vmpi_debug = {
	.version = VM_DEBUG_VERSION,
	.bytes = sizeof(struct vm_debug),
	.library = VM_VERSION,
	.states = VM_EXPORT_STATES(WORD),
	.node = &vm_node,
	.node_own = offsetof(struct vm_node, own),
	.node_ranks = offsetof(struct vm_node, rank_here),
	.rank_index = offsetof(struct vm_rank, index),
	.rank_state = offsetof(struct vm_rank, pvars.state),
	.rank_main = offsetof(struct vm_rank, main),
	.task_sp = offsetof(struct vm_ult, sp),
	.task_base = offsetof(struct vm_ult, stack.base),
	.task_bytes = offsetof(struct vm_ult, stack.bytes),
	.context = VM_CTX_LAYOUT,
};
