/* SPDX-License-Identifier: BSD-3-Clause */
#include "library.h"

#include <stdio.h>
#include <vmpi.h>

static int state = -1;
static int constructed;
int library_global = 100;

__attribute__((constructor)) static void construct(void)
{
	constructed = vmpi_rank();
}

__attribute__((destructor)) static void destruct(void)
{
	if (state >= 0)
		printf("library of %d ends\n", state);
}

int library_start(void)
{
	state = vmpi_rank();
	library_global += state;
	vmpi_yield();
	return state == constructed ? 0 : -1;
}

int library_state(void)
{
	vmpi_yield();
	return state;
}

#ifdef WITH_CALLBACK
int library_callback(void)
{
	return program_value();
}
#endif
