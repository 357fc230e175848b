/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring [ranks [rounds]]: ranks without MPI and without a launcher.
 *
 * A token goes round; each rank adds one to it.  With vmpi.h the program has
 * one main and starts the ranks itself; its globals are shared by them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <vmpi.h>

static long rounds = 1000;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The part of rank 0: starts the token and checks it when it comes back. */
static int lead(vmpi_chan *world, int size)
{
	double begin = now();
	long token = 0;

	for (long i = 0; i < rounds; i++) {
		token++;
		vmpi_send(world, &token, sizeof(token), 1 % size, 0);
		vmpi_recv(world, &token, sizeof(token), size - 1, 0, NULL);
	}
	printf("%ld hops through %d ranks, %.0f ns each\n", token, size,
	       (now() - begin) * 1e9 / (double)token);
	return token == rounds * size ? 0 : 1;
}

static int body(void *arg)
{
	vmpi_chan *world = vmpi_world();
	int me = vmpi_rank(), size = vmpi_size();
	long token;

	(void)arg;
	if (me == 0)
		return lead(world, size);
	for (long i = 0; i < rounds; i++) {
		vmpi_recv(world, &token, sizeof(token), me - 1, 0, NULL);
		token++;
		vmpi_send(world, &token, sizeof(token), (me + 1) % size, 0);
	}
	return 0;
}

int main(int argc, char **argv)
{
	vmpi_config config = { .ranks = argc > 1 ? atoi(argv[1]) : 8 };
	int rc;

	if (argc > 2)
		rounds = atol(argv[2]);
	if (argc > 3 || config.ranks < 1 || rounds < 1) {
		fprintf(stderr, "usage: ring [ranks [rounds]], both from 1\n");
		return 2;
	}
	rc = vmpi_run(&config, body, NULL);
	if (rc < 0)
		fprintf(stderr, "ring: %s\n", vmpi_strerror(rc));
	return rc != 0;
}
