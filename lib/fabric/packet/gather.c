/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread for the batches that no other thread has sent.
 */
#include "fabric/packet/gather.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/own.h"
#include "fabric/packet/vars.h"

void vm_gather_arm(struct vm_gather *gather)
{
	if (!atomic_load_explicit(&gather->armed, memory_order_relaxed) &&
	    !atomic_exchange(&gather->armed, true))
		vm_own_timer_set(gather->timer_fd,
				 (uint64_t)fabric_cvar.gather_us * 1000);
}

static void *gather_main(void *arg)
{
	struct vm_gather *gather = arg;
	uint64_t expired;

	while (!atomic_load(&gather->stop)) {
		if (read(gather->timer_fd, &expired, sizeof(expired)) < 0 &&
		    errno != EINTR)
			vm_panic("cannot wait for a timer: %s",
				 strerror(errno));
		/* Before the flush: a packet that queues behind it arms
		 * again. */
		atomic_store(&gather->armed, false);
		gather->late(gather->arg);
	}
	return NULL;
}

void vm_gather_open(struct vm_gather *gather, void (*late)(void *arg),
		    void *arg)
{
	int error = 0;

	gather->late = late;
	gather->arg = arg;
	gather->timer_fd = vm_own_timer();
	if (gather->timer_fd < 0)
		error = errno;
	else
		error = vm_own_thread(&gather->thread, gather_main, gather);
	if (error)
		vm_log(VM_WARN,
		       "small packets are not put together, because there is "
		       "no thread for what is late: %s",
		       vm_own_why(error));
	gather->running = !error;
}

void vm_gather_close(struct vm_gather *gather)
{
	if (gather->running) {
		gather->running = false;
		atomic_store(&gather->stop, true);
		vm_own_timer_set(gather->timer_fd, 1000);
		pthread_join(gather->thread, NULL);
	}
	if (gather->timer_fd >= 0)
		close(gather->timer_fd);
}
