/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What fork() has called in a child.
 */
#include "core/runtime/child.h"

#include <pthread.h>

#include "core/runtime/node.h"
#include "sched/topo.h"
#include "sched/ult.h"
#include "sched/worker.h"

/* The only thread of the child acts for no rank: it must not switch to the
 * tasks of its parent, of which it has copies.  Nor is it a worker, which has a
 * core of its own. */
static void child_begin(void)
{
	if (!vm_node)
		return;
	vm_node_hooks.child = true;
	if (vm_self && vm_self->worker->index >= 0)
		vm_topo_unbind_worker(vm_self->worker->index);
	vm_self = NULL;
}

int vm_child_watch(void)
{
	if (vm_node_hooks.watched)
		return 0;
	if (pthread_atfork(NULL, NULL, child_begin))
		return -VMPI_ENOMEM;
	vm_node_hooks.watched = true;
	return 0;
}

bool vm_child(void)
{
	return vm_node_hooks.child;
}
