/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library that is loaded twice to see whether that is possible
 * (core/libc/trial.h).
 */
int vm_twice_count(void);
int *vm_twice_local(void);

static int count;
static _Thread_local int local = 5;

int vm_twice_count(void)
{
	return ++count;
}

int *vm_twice_local(void)
{
	return &local;
}
