/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our random number functions give glibc's sequences.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#include "../../bin/image/random.c"

#define state state48
#define lock lock48
#include "../../bin/image/drand48.c"

static int same_rand(int n)
{
	int same = 0;

	for (int i = 0; i < n; i++)
		same += vm_image_rand() == rand();
	return same;
}

static int same_48(int n)
{
	unsigned short a[3] = { 1, 2, 3 }, b[3] = { 1, 2, 3 };
	int same = 0;

	for (int i = 0; i < n; i++) {
		bool all = vm_image_drand48() == drand48();

		all &= vm_image_lrand48() == lrand48();
		all &= vm_image_mrand48() == mrand48();
		all &= vm_image_erand48(a) == erand48(b);
		all &= vm_image_nrand48(a) == nrand48(b);
		all &= vm_image_jrand48(a) == jrand48(b);
		same += all;
	}
	return same;
}

static void test_states(void)
{
	static char a[64], b[64];
	char *old_a = vm_image_initstate(7, a, sizeof(a));
	char *old_b = initstate(7, b, sizeof(b));

	is_int(same_rand(1000), 1000, "the same with a state of 64 bytes");
	vm_image_setstate(old_a);
	setstate(old_b);
	is_int(same_rand(1000), 1000, "and back in the first state");
	is_int(vm_image_setstate(a) == (char *)table, 1,
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
	vm_image_srand(42);
	srand(42);
	is_int(same_rand(1000), 1000, "the same sequence for a seed");
	test_states();
	is_int(same_48(1000), 1000, "drand48 begins as in a new process");
	vm_image_srand48(42);
	srand48(42);
	is_int(same_48(1000), 1000, "the same sequence for a seed");
	is_blob(vm_image_seed48(seed_a), seed48(seed_a), 6,
		"seed48 gives the old state");
	vm_image_lcong48(parameters);
	lcong48(parameters);
	is_int(same_48(1000), 1000, "the same with other parameters");
	return done_testing();
}
