/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h: waiting for file descriptors.
 */
#include "vmpi.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "core/instrument/calls.h"
#include "core/rank/wait.h"
#include "core/service/descriptor.h"

#define ENTRY(name) VM_ENTRY_WAITS(vmpi_##name)
VM_API_CALLS_FD(ENTRY)
#undef ENTRY

/* For poll(2); long waits are made in parts. */
static int limit_ms(uint64_t deadline_ns)
{
	const uint64_t most_ms = 1000000;
	uint64_t now, ms;

	if (deadline_ns == VMPI_NEVER)
		return -1;
	now = vm_clock_ns();
	if (deadline_ns <= now)
		return 0;
	ms = (deadline_ns - now - 1) / 1000000 + 1;
	return (int)(ms < most_ms ? ms : most_ms);
}

/* A thread that vmpi does not know just blocks. */
static int thread_wait(int fd, int *ready, int events, uint64_t deadline_ns)
{
	struct pollfd wait = { .fd = fd, .events = (short)events };
	int rc;

	do
		rc = poll(&wait, 1, limit_ms(deadline_ns));
	while ((rc < 0 && errno == EINTR) ||
	       (rc == 0 && vm_clock_ns() < deadline_ns));
	if (rc < 0 || wait.revents & POLLNVAL)
		return -VMPI_EINVAL;
	*ready = wait.revents;
	return rc > 0 ? 0 : -VMPI_ETIMEDOUT;
}

static int task_wait(int fd, int *ready, int events, uint64_t deadline_ns,
		     uint32_t call)
{
	struct vm_descriptor wait;
	struct vm_req *req = &wait.req;
	int rc = vm_descriptor_enter(&wait, fd, events);

	if (rc == VM_PENDING) {
		vm_wait_in(vm_self, call);
		vm_req_await_one_until(&req, 1, deadline_ns);
		rc = vm_descriptor_leave(&wait) ? 0 : -VMPI_ETIMEDOUT;
	}
	*ready = wait.ready;
	return rc;
}

static int wait(int fd, int *ready, int events, uint64_t deadline_ns,
		uint32_t call)
{
	int seen = 0, rc;

	if (fd < 0)
		return -VMPI_EINVAL;
	rc = vm_self ? task_wait(fd, &seen, events, deadline_ns, call) :
		       thread_wait(fd, &seen, events, deadline_ns);
	if (!rc && ready)
		*ready = seen;
	return rc;
}

int vmpi_fd_wait(int fd, int *ready, int events)
{
	return wait(fd, ready, events, VMPI_NEVER, VM_API_CALL_fd_wait);
}

int vmpi_fd_wait_until(int fd, int *ready, int events, uint64_t deadline_ns)
{
	return wait(fd, ready, events, deadline_ns, VM_API_CALL_fd_wait_until);
}
