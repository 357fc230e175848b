/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock is a word with the number of the process that has it, and the bit
 * WAITED if another one sleeps for it.  It is held while something is written,
 * which lasts as long as nobody reads.
 */
#include "report/outlet.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mapfile.h"

#define WAITED (UINT32_C(1) << 31)
#define LOOK_NS 20000000 /* whether the holder has died */

int vm_outlet_new(void)
{
	int fd = memfd_create("vmpi-outlet", MFD_CLOEXEC);

	if (fd >= 0 && vm_mapfile_reserve(fd, sizeof(struct vm_outlet))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

struct vm_outlet *vm_outlet_open(int fd)
{
	struct stat stat;
	void *outlet;

	if (fstat(fd, &stat) || stat.st_size != sizeof(struct vm_outlet))
		return NULL;
	outlet = mmap(NULL, sizeof(struct vm_outlet), PROT_READ | PROT_WRITE,
		      MAP_SHARED, fd, 0);
	return outlet == MAP_FAILED ? NULL : outlet;
}

static bool is_dead(uint32_t holder)
{
	return kill((pid_t)holder, 0) && errno == ESRCH;
}

/* Sleeps until the lock, which is `held`, may be free. */
static void holder_wait(struct vm_outlet *outlet, uint32_t held)
{
	const struct timespec most = { .tv_nsec = LOOK_NS };
	uint32_t waited = held | WAITED;

	if (held != waited &&
	    !atomic_compare_exchange_strong(&outlet->lock, &held, waited))
		return;
	if (syscall(SYS_futex, &outlet->lock, FUTEX_WAIT, waited, &most, NULL,
		    0) &&
	    errno == ETIMEDOUT && is_dead(waited & ~WAITED))
		atomic_compare_exchange_strong(&outlet->lock, &waited, 0);
}

bool vm_outlet_lock(struct vm_outlet *outlet, pid_t pid, uint64_t ns_max)
{
	uint32_t mine = (uint32_t)pid, held = 0;
	uint64_t since;

	if (atomic_compare_exchange_strong_explicit(&outlet->lock, &held, mine,
						    memory_order_acquire,
						    memory_order_relaxed))
		return true;
	since = vm_outlet_now();
	/* Others may sleep as well. */
	for (mine |= WAITED, held = 0;
	     !atomic_compare_exchange_strong(&outlet->lock, &held, mine);
	     held = 0) {
		if (vm_outlet_now() - since >= ns_max)
			return false;
		if (held)
			holder_wait(outlet, held);
	}
	return true;
}

void vm_outlet_unlock(struct vm_outlet *outlet)
{
	if (atomic_exchange(&outlet->lock, 0) & WAITED)
		syscall(SYS_futex, &outlet->lock, FUTEX_WAKE, 1, NULL, NULL, 0);
}

uint64_t vm_outlet_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
