/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drand48 and its family, one generator per program; see random.c.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct drand48_data state;
static unsigned short old_seed[3];

/* One value of type, from the generator's own state or the caller's. */
#define DRAW(type, name)                     \
	type name##48(void)                  \
	{                                    \
		type value;                  \
                                             \
		pthread_mutex_lock(&lock);   \
		name##48_r(&state, &value);  \
		pthread_mutex_unlock(&lock); \
		return value;                \
	}
#define DRAW_FROM(type, name)                     \
	type name##48(unsigned short from[3])     \
	{                                         \
		type value;                       \
                                                  \
		pthread_mutex_lock(&lock);        \
		name##48_r(from, &state, &value); \
		pthread_mutex_unlock(&lock);      \
		return value;                     \
	}

DRAW(double, drand)
DRAW(long, lrand)
DRAW(long, mrand)
DRAW_FROM(double, erand)
DRAW_FROM(long, nrand)
DRAW_FROM(long, jrand)

void srand48(long seed)
{
	pthread_mutex_lock(&lock);
	srand48_r(seed, &state);
	pthread_mutex_unlock(&lock);
}

unsigned short *seed48(unsigned short seed[3])
{
	pthread_mutex_lock(&lock);
	seed48_r(seed, &state);
	memcpy(old_seed, state.__old_x, sizeof(old_seed));
	pthread_mutex_unlock(&lock);
	return old_seed;
}

void lcong48(unsigned short parameters[7])
{
	pthread_mutex_lock(&lock);
	lcong48_r(parameters, &state);
	pthread_mutex_unlock(&lock);
}
