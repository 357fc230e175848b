/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one rank of an ordinary executable.
 */
#include "core/process.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/node.h"

static struct {
	pthread_mutex_t lock; /* guards the start */
	_Atomic(struct vm_rank *) rank;
	pthread_key_t leave; /* its destructor runs when a thread ends */
} process = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct vm_rank *vm_process_rank(void)
{
	/* Pairs with the store in process_start(). */
	return atomic_load_explicit(&process.rank, memory_order_acquire);
}

static void thread_leave(void *rank)
{
	vm_thread_release();
}

/* One worker is enough: it is where the rank's messages are at home. */
static int process_start(void)
{
	vmpi_config config = { .ranks = 1, .workers = 1 };
	int rc;

	if (vm_node)
		return -VMPI_ENORANK;
	if (pthread_key_create(&process.leave, thread_leave))
		return -VMPI_ENOMEM;
	rc = vmpi_start(&config);
	if (rc) {
		pthread_key_delete(process.leave);
		return rc;
	}
	atomic_store_explicit(&process.rank, &vm_node->ranks[0],
			      memory_order_release);
	return 0;
}

int vm_process_join(void)
{
	int rc = 0;

	if (vm_self)
		return vm_rank_self() ? 0 : -VMPI_ENORANK;
	pthread_mutex_lock(&process.lock);
	if (!vm_process_rank())
		rc = process_start();
	pthread_mutex_unlock(&process.lock);
	if (!rc)
		rc = vm_thread_adopt(vm_process_rank());
	if (!rc && pthread_setspecific(process.leave, vm_process_rank())) {
		vm_thread_release();
		rc = -VMPI_ENOMEM;
	}
	return rc;
}
