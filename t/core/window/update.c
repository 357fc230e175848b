/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock of updates in memory that processes share.
 */
#include "core/window/update.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include "tap.h"

#define TURNS 20000

/* Memory of two processes. */
struct memory {
	struct vm_window_common common;
	long sum;
};

static void add(struct memory *memory)
{
	for (int i = 0; i < TURNS; i++) {
		vm_window_update_take(&memory->common);
		memory->sum = *(volatile long *)&memory->sum + 1;
		vm_window_update_give(&memory->common);
	}
}

int main(void)
{
	struct memory *memory = mmap(NULL, sizeof(*memory),
				     PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t pid;

	vm_window_common_init(&memory->common, true);
	ok(atomic_load(&memory->common.locked),
	   "an update of several processes takes the lock");
	pid = fork();
	if (pid == 0) {
		add(memory);
		_exit(0);
	}
	add(memory);
	waitpid(pid, &status, 0);
	ok(status == 0 && memory->sum == 2 * TURNS,
	   "it excludes those of other processes");
	pid = fork();
	if (pid == 0) {
		vm_window_update_take(&memory->common);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	atomic_store(&memory->common.broken, true);
	vm_window_update_take(&memory->common);
	ok(true, "one that a process has died with is no obstacle");
	vm_window_update_give(&memory->common);
	munmap(memory, sizeof(*memory));
	return done_testing();
}
