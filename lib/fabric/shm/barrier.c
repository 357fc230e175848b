/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's membarrier(), between processes.
 */
#include "fabric/shm/barrier.h"

#include <linux/membarrier.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool ask(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) == 0;
}

bool vm_barrier_join(void)
{
	return ask(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}

bool vm_barrier_pass(void)
{
	/* It says nothing of the caller. */
	atomic_thread_fence(memory_order_seq_cst);
	return ask(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}
