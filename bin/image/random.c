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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int32_t table[32];
static struct random_data state;

/* As a new process: additive feedback over 31 words, seed 1. */
static void state_ready(void)
{
	if (!state.state)
		initstate_r(1, (char *)table, sizeof(table), &state);
}

long random(void)
{
	int32_t value;

	pthread_mutex_lock(&lock);
	state_ready();
	random_r(&state, &value);
	pthread_mutex_unlock(&lock);
	return value;
}

void srandom(unsigned seed)
{
	pthread_mutex_lock(&lock);
	state_ready();
	srandom_r(seed, &state);
	pthread_mutex_unlock(&lock);
}

/* The name of a generator is its table, one word before what random_r uses. */
char *initstate(unsigned seed, char *memory, size_t bytes)
{
	char *old;
	int failed;

	pthread_mutex_lock(&lock);
	state_ready();
	old = (char *)(state.state - 1);
	failed = initstate_r(seed, memory, bytes, &state);
	pthread_mutex_unlock(&lock);
	return failed ? NULL : old;
}

char *setstate(char *memory)
{
	char *old;
	int failed;

	pthread_mutex_lock(&lock);
	state_ready();
	old = (char *)(state.state - 1);
	failed = setstate_r(memory, &state);
	pthread_mutex_unlock(&lock);
	return failed ? NULL : old;
}

int rand(void)
{
	return (int)random();
}

void srand(unsigned seed)
{
	srandom(seed);
}
