/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The price of a switch: all ranks of one worker yield in turn.
 *
 * Built with vmpicc and started by vmpirun, each rank is a copy of this program
 * with its own code addresses, as in real programs.  Built as an ordinary
 * program with libvmpi, "switch RANKS" runs them itself, all in one copy.
 * Prints the ns of one switch.
 */
#include <stdio.h>
#include <vmpi.h>

#include "clock.h"

#define BATCH_YIELDS 50000 /* of all ranks together */
#define BATCHES 11

static int body(void *arg)
{
	int ranks = vmpi_size(), yields = BATCH_YIELDS / ranks + 1;
	double times[BATCHES];

	(void)arg;
	for (int batch = 0; batch < BATCHES; batch++) {
		double start;

		vmpi_barrier(vmpi_world());
		start = now_ns();
		for (int i = 0; i < yields; i++)
			vmpi_yield();
		times[batch] = (now_ns() - start) / yields / ranks;
	}
	vmpi_barrier(vmpi_world());
	if (vmpi_rank() == 0)
		printf("%.2f\n", median_of(times, BATCHES));
	return 0;
}

int main(int argc, char **argv)
{
	vmpi_config config = { .workers = 1 };
	int rc;

	if (vmpi_rank() >= 0)
		return body(NULL);
	config.ranks = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 2;
	rc = vmpi_run(&config, body, NULL);
	if (rc < 0)
		fprintf(stderr, "switch: %s\n", vmpi_strerror(rc));
	return rc != 0;
}
