/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two processes each store a word and then look at the other's: one of them sees
 * the other, although only one of them passes a barrier.
 */
#include "fabric/shm/barrier.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

enum { ROUNDS = 3000 };

struct shared {
	_Atomic uint32_t begun __attribute__((aligned(64)));
	_Atomic uint32_t ended __attribute__((aligned(64)));
	_Atomic uint32_t here __attribute__((aligned(64)));
	_Atomic uint32_t there __attribute__((aligned(64)));
	uint32_t seen __attribute__((aligned(64))); /* by the child */
};

static void word_wait(_Atomic uint32_t *word, uint32_t value)
{
	for (int i = 0; atomic_load(word) != value; i++)
		if (i % 1000 == 999)
			sched_yield();
}

/* The side that sends often. */
static _Noreturn void child(struct shared *shared)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!vm_barrier_join())
		_exit(1);
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		word_wait(&shared->begun, i);
		atomic_store_explicit(&shared->there, i, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		shared->seen = atomic_load_explicit(&shared->here,
						    memory_order_relaxed);
		atomic_store(&shared->ended, i);
	}
	_exit(0);
}

int main(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared),
				     PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int missed = 0, refused = 0, status;
	pid_t pid;

	if (!vm_barrier_join())
		skip_all("membarrier() is refused: %s", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		child(shared);
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		uint32_t seen;

		atomic_store(&shared->begun, i);
		atomic_store_explicit(&shared->here, i, memory_order_relaxed);
		refused += !vm_barrier_pass();
		seen = atomic_load_explicit(&shared->there,
					    memory_order_relaxed);
		word_wait(&shared->ended, i);
		missed += seen != i && shared->seen != i;
	}
	waitpid(pid, &status, 0);
	is_int(refused, 0, "whoever may join passes barriers");
	is_int(missed, 0, "one of the two sees the other");
	is_int(status, 0, "and both end");
	return done_testing();
}
