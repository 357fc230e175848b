/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with libraries; see library.h. */
#include <stdio.h>
#include <vmpi.h>

#include "library.h"

static int own = 50;

int program_value(void)
{
	return own;
}

int main(void)
{
	int rank = vmpi_rank();
	int started = library_start();

	own += rank;
	vmpi_barrier(vmpi_world());
	printf("rank %d: start %d state %d global %d", rank, started,
	       library_state(), library_global - 100);
#ifdef WITH_CALLBACK
	printf(" callback %d", library_callback() - 50);
#endif
	plain_next();
	vmpi_barrier(vmpi_world());
	if (rank == 0)
		printf(" calls %d", plain_next());
	printf("\n");
	return 0;
}
