/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drand48 and its family, one generator per program; see random.c.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

OURS(drand48);
OURS(erand48);
OURS(lrand48);
OURS(nrand48);
OURS(mrand48);
OURS(jrand48);
OURS(srand48);
OURS(seed48);
OURS(lcong48);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct drand48_data state;
static unsigned short old_seed[3];

/* One value of type, from the generator's own state or the caller's. */
#define DRAW(type, name)                           \
	type vm_image_##name##48(void)             \
	{                                          \
		type value;                        \
                                                   \
		LIBC(pthread_mutex_lock)(&lock);   \
		LIBC(name##48_r)(&state, &value);  \
		LIBC(pthread_mutex_unlock)(&lock); \
		return value;                      \
	}
#define DRAW_FROM(type, name)                            \
	type vm_image_##name##48(unsigned short from[3]) \
	{                                                \
		type value;                              \
                                                         \
		LIBC(pthread_mutex_lock)(&lock);         \
		LIBC(name##48_r)(from, &state, &value);  \
		LIBC(pthread_mutex_unlock)(&lock);       \
		return value;                            \
	}

DRAW(double, drand)
DRAW(long, lrand)
DRAW(long, mrand)
DRAW_FROM(double, erand)
DRAW_FROM(long, nrand)
DRAW_FROM(long, jrand)

void vm_image_srand48(long seed)
{
	LIBC(pthread_mutex_lock)(&lock);
	LIBC(srand48_r)(seed, &state);
	LIBC(pthread_mutex_unlock)(&lock);
}

unsigned short *vm_image_seed48(unsigned short seed[3])
{
	LIBC(pthread_mutex_lock)(&lock);
	LIBC(seed48_r)(seed, &state);
	memcpy(old_seed, state.__old_x, sizeof(old_seed));
	LIBC(pthread_mutex_unlock)(&lock);
	return old_seed;
}

void vm_image_lcong48(unsigned short parameters[7])
{
	LIBC(pthread_mutex_lock)(&lock);
	LIBC(lcong48_r)(parameters, &state);
	LIBC(pthread_mutex_unlock)(&lock);
}
