/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our random number functions give glibc's sequences.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"

long image_random(void);
void image_srandom(unsigned seed);
char *image_initstate(unsigned seed, char *memory, size_t bytes);
char *image_setstate(char *memory);
int image_rand(void);
void image_srand(unsigned seed);
double image_drand48(void);
double image_erand48(unsigned short from[3]);
long image_lrand48(void);
long image_nrand48(unsigned short from[3]);
long image_mrand48(void);
long image_jrand48(unsigned short from[3]);
void image_srand48(long seed);
unsigned short *image_seed48(unsigned short seed[3]);
void image_lcong48(unsigned short parameters[7]);

#define random image_random
#define srandom image_srandom
#define initstate image_initstate
#define setstate image_setstate
#define rand image_rand
#define srand image_srand
#include "../../bin/image/random.c"
#undef random
#undef srandom
#undef initstate
#undef setstate
#undef rand
#undef srand

#define state state48
#define lock lock48
#define drand48 image_drand48
#define erand48 image_erand48
#define lrand48 image_lrand48
#define nrand48 image_nrand48
#define mrand48 image_mrand48
#define jrand48 image_jrand48
#define srand48 image_srand48
#define seed48 image_seed48
#define lcong48 image_lcong48
#include "../../bin/image/drand48.c"
#undef drand48
#undef erand48
#undef lrand48
#undef nrand48
#undef mrand48
#undef jrand48
#undef srand48
#undef seed48
#undef lcong48

static int same_rand(int n)
{
	int same = 0;

	for (int i = 0; i < n; i++)
		same += image_rand() == rand();
	return same;
}

static int same_48(int n)
{
	unsigned short a[3] = { 1, 2, 3 }, b[3] = { 1, 2, 3 };
	int same = 0;

	for (int i = 0; i < n; i++) {
		bool all = image_drand48() == drand48();

		all &= image_lrand48() == lrand48();
		all &= image_mrand48() == mrand48();
		all &= image_erand48(a) == erand48(b);
		all &= image_nrand48(a) == nrand48(b);
		all &= image_jrand48(a) == jrand48(b);
		same += all;
	}
	return same;
}

static void test_states(void)
{
	static char a[64], b[64];
	char *old_a = image_initstate(7, a, sizeof(a));
	char *old_b = initstate(7, b, sizeof(b));

	is_int(same_rand(1000), 1000, "the same with a state of 64 bytes");
	image_setstate(old_a);
	setstate(old_b);
	is_int(same_rand(1000), 1000, "and back in the first state");
	is_int(image_setstate(a) == (char *)table, 1,
	       "setstate gives the state it leaves");
	setstate(b);
	is_int(same_rand(1000), 1000, "and goes on where it was");
}

int main(void)
{
	unsigned short seed_a[3] = { 9, 8, 7 };
	unsigned short parameters[7] = { 1, 2, 3, 4, 5, 6, 7 };

	plan(10);
	is_int(same_rand(1000), 1000, "rand begins as in a new process");
	image_srand(42);
	srand(42);
	is_int(same_rand(1000), 1000, "the same sequence for a seed");
	test_states();
	is_int(same_48(1000), 1000, "drand48 begins as in a new process");
	image_srand48(42);
	srand48(42);
	is_int(same_48(1000), 1000, "the same sequence for a seed");
	is_blob(image_seed48(seed_a), seed48(seed_a), 6,
		"seed48 gives the old state");
	image_lcong48(parameters);
	lcong48(parameters);
	is_int(same_48(1000), 1000, "the same with other parameters");
	return done_testing();
}
