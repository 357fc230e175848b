/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours exchange messages of so many bytes, again and again, and check
 * them; so many rounds, or, when there is a variable and a value, until that
 * control variable of the first rank's process has the value, and so many
 * rounds more; or until there is a file, or policies have looked so often in each
 * process, which is said with how often they have decided.  Or the first rank says how many
 * messages of the rounds it sent eagerly, or the value of a counter.
 *
 *	halo BYTES ROUNDS [VARIABLE VALUE | file PATH | ticks COUNT | eager | COUNTER]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vmpi.h>

static unsigned char *out, *in;
static int bytes, rank, ranks, wrong;

static void exchange(int round)
{
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
	MPI_Request requests[2];

	memset(out, rank + round, (size_t)bytes);
	MPI_Irecv(in, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(out, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < bytes; i++)
		wrong += in[i] != (unsigned char)(left + round);
}

static uint64_t counter(const char *name)
{
	uint64_t value = 0;

	if (vmpi_var_read(vmpi_var_find(name), &value))
		return 0;
	return value;
}

/* Whether the variable has the value, which all ranks agree on. */
static int reached(const char *name, const char *value)
{
	char text[64] = "";
	int yes = rank > 0;

	if (!strcmp(name, "ticks"))
		yes = counter("tune_ticks") >= strtoull(value, NULL, 10);
	else if (rank == 0 && !strcmp(name, "file"))
		yes = !access(value, R_OK);
	else if (rank == 0 && vmpi_get(name, text, sizeof(text)) == 0)
		yes = !strcmp(text, value);
	MPI_Allreduce(MPI_IN_PLACE, &yes, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	return yes;
}

int main(int argc, char **argv)
{
	int rounds = atoi(argv[2]), i, all = 0, seen = 0;
	uint64_t eager;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	bytes = atoi(argv[1]);
	out = malloc((size_t)bytes + 1);
	in = malloc((size_t)bytes + 1);
	eager = counter("core_sends_eager");
	for (i = 0; argc < 5 ? i < rounds : !seen; i++) {
		exchange(i);
		if (argc > 4 && i % 20 == 0)
			seen = reached(argv[3], argv[4]);
	}
	for (int more = 0; seen && more < rounds; more++)
		exchange(i + more);
	if (argc == 4 && rank == 0)
		printf("%s %d\n", argv[3],
		       strcmp(argv[3], "eager") ?
			       (int)counter(argv[3]) :
			       (int)(counter("core_sends_eager") - eager));
	MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("wrong %d\n", all);
	if (argc > 4 && !strcmp(argv[3], "ticks"))
		printf("decisions of rank %d: %llu\n", rank,
		       (unsigned long long)counter("tune_decisions"));
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
