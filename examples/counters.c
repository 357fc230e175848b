/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with its own main that prints what its ranks have counted: each has
 * a session of its own for what it did between two points; main has one for the
 * totals, while the runtime is still there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <vmpi.h>

#define RANKS 4
#define ROUNDS 10

static const char *const names[] = { "core_sends", "core_sent_bytes" };

/* Rank r sends r + 1 messages in each round, to its right neighbour. */
static int body(void *arg)
{
	int rank = vmpi_rank(), size = vmpi_size(), in = 0;
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	vmpi_session *session;
	uint64_t grown[2];

	(void)arg;
	if (vmpi_session_new(&session, rank, names, 2) != 0)
		return 1;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i <= rank; i++)
			vmpi_send(vmpi_world(), &round, sizeof(round), right,
				  0);
		for (int i = 0; i <= left; i++)
			vmpi_recv(vmpi_world(), &in, sizeof(in), left, 0, NULL);
		if (in != round)
			return 1;
	}
	vmpi_session_delta(session, grown);
	vmpi_session_free(&session);
	printf("rank %d: %" PRIu64 " messages, %" PRIu64 " bytes\n", rank,
	       grown[0], grown[1]);
	return grown[0] != (uint64_t)(ROUNDS * (rank + 1)) ||
	       grown[1] != grown[0] * sizeof(int);
}

/* All that is not 0. */
static void print_totals(void)
{
	vmpi_session *all;
	uint64_t *values;
	vmpi_var var;

	if (vmpi_session_new(&all, VMPI_ANY, NULL, 0) != 0)
		return;
	values = calloc((size_t)vmpi_session_words(all), sizeof(*values));
	if (values && vmpi_session_read(all, values) == 0)
		for (int i = 0; i < vmpi_session_words(all); i++)
			if (values[i] &&
			    vmpi_var_info(vmpi_session_var(all, i), &var) == 0)
				printf("%-32s %12" PRIu64 " %s\n", var.name,
				       values[i], var.unit);
	free(values);
	vmpi_session_free(&all);
}

int main(void)
{
	const vmpi_config config = { .ranks = RANKS, .workers = 2 };
	int rc = vmpi_start(&config), stopped;

	if (rc == 0)
		rc = vmpi_run(NULL, body, NULL);
	print_totals();
	stopped = vmpi_stop();
	return rc || stopped;
}
