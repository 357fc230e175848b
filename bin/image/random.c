/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rand, random and their families: each program has its own generator, with
 * glibc's sequences.
 *
 * The state is kept by glibc's own re-entrant functions.  Threads of a rank
 * share it, hence the lock.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "image.h"

OURS(random);
OURS(srandom);
OURS(initstate);
OURS(setstate);
OURS(rand);
OURS(srand);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int32_t table[32];
static struct random_data state;

/* As a new process: additive feedback over 31 words, seed 1. */
static void state_ready(void)
{
	if (!state.state)
		LIBC(initstate_r)(1, (char *)table, sizeof(table), &state);
}

long vm_image_random(void)
{
	int32_t value;

	LIBC(pthread_mutex_lock)(&lock);
	state_ready();
	LIBC(random_r)(&state, &value);
	LIBC(pthread_mutex_unlock)(&lock);
	return value;
}

void vm_image_srandom(unsigned seed)
{
	LIBC(pthread_mutex_lock)(&lock);
	state_ready();
	LIBC(srandom_r)(seed, &state);
	LIBC(pthread_mutex_unlock)(&lock);
}

/* The name of a generator is its table, one word before what random_r uses. */
char *vm_image_initstate(unsigned seed, char *memory, size_t bytes)
{
	char *old;
	int failed;

	LIBC(pthread_mutex_lock)(&lock);
	state_ready();
	old = (char *)(state.state - 1);
	failed = LIBC(initstate_r)(seed, memory, bytes, &state);
	LIBC(pthread_mutex_unlock)(&lock);
	return failed ? NULL : old;
}

char *vm_image_setstate(char *memory)
{
	char *old;
	int failed;

	LIBC(pthread_mutex_lock)(&lock);
	state_ready();
	old = (char *)(state.state - 1);
	failed = LIBC(setstate_r)(memory, &state);
	LIBC(pthread_mutex_unlock)(&lock);
	return failed ? NULL : old;
}

int vm_image_rand(void)
{
	return (int)vm_image_random();
}

void vm_image_srand(unsigned seed)
{
	vm_image_srandom(seed);
}
