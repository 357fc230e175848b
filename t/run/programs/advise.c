/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs with one problem each, for vmpirun --advise:
 *
 *	advise quiet		ranks that compute and meet
 *	advise long BYTES N	pairs that wait for N long messages
 *	advise poll		a rank that tests until a message is there
 *	advise test N		N messages that are tested for while others
 *				compute
 *	advise wait N		the same, waited for
 *	advise flood BYTES N	N messages before their receives
 *	advise uneven		ranks 0 and 1 compute, the others do not
 *	advise pingpong N	pairs that answer each other N times
 *	advise compute		all ranks compute and tell each other
 *	advise pour BYTES N	N messages while their receiver computes
 *	advise bursts BYTES N M	N messages before their receives, M times
 *	advise rest BYTES N	N messages before their receives, then few
 *				until their memory is unused
 *	advise bcast BYTES N	N broadcasts
 *	advise fold N		N reductions that do not commute
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <vmpi.h>

#define WINDOW 10
#define WIRE 2	    /* the packets that messages come in, by size */
#define LEAST_S 0.2 /* of a shorter run there is no advice */

static int rank, size;

static void compute(double seconds)
{
	double end = MPI_Wtime() + seconds;

	while (MPI_Wtime() < end)
		;
}

static void quiet(char **argv)
{
	(void)argv;
	compute(LEAST_S / 2);
	MPI_Barrier(MPI_COMM_WORLD);
	compute(LEAST_S / 2);
}

/* The halves of the job send to each other. */
static void messages(char **argv)
{
	int bytes = atoi(argv[2]), count = atoi(argv[3]);
	char *buffers = calloc(2 * WINDOW, (size_t)bytes);
	int other = (rank + size / 2) % size;

	for (int i = 0; i < count; i += WINDOW) {
		MPI_Request reqs[2 * WINDOW];

		for (int k = 0; k < WINDOW; k++) {
			char *out = buffers + 2 * k * (size_t)bytes;

			MPI_Irecv(out + bytes, bytes, MPI_CHAR, other, 0,
				  MPI_COMM_WORLD, &reqs[2 * k]);
			MPI_Isend(out, bytes, MPI_CHAR, other, 0,
				  MPI_COMM_WORLD, &reqs[2 * k + 1]);
		}
		MPI_Waitall(2 * WINDOW, reqs, MPI_STATUSES_IGNORE);
	}
	free(buffers);
}

static void poll(char **argv)
{
	int there = 0;

	(void)argv;
	for (double end = MPI_Wtime() + 2; rank == 0 && MPI_Wtime() < end;)
		MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there,
			   MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* The message that tells rank 0 that all are there comes after them. */
static void flood(char **argv)
{
	int bytes = atoi(argv[2]), count = atoi(argv[3]);
	char *buffer = calloc(1, (size_t)bytes);

	for (int i = 0; i < count && rank == 1; i++)
		MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Send(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Recv(NULL, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	for (int i = 0; i < count && rank == 0; i++)
		MPI_Recv(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	free(buffer);
}

static void flooded(char **argv)
{
	flood(argv);
	compute(LEAST_S);
}

static void uneven(char **argv)
{
	(void)argv;
	for (int i = 0; i < 40; i++) {
		if (rank < 2)
			compute(0.005);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Rank 1 sends now and then, rank 0 has nothing else to do. */
static void message_await(bool tests)
{
	MPI_Request req;
	int there = 0;

	if (rank == 1) {
		compute(0.02);
		MPI_Send(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
	}
	if (rank != 0)
		return;
	MPI_Irecv(NULL, 0, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &req);
	while (tests && !there)
		MPI_Test(&req, &there, MPI_STATUS_IGNORE);
	if (!tests)
		MPI_Wait(&req, MPI_STATUS_IGNORE);
}

static void test(char **argv)
{
	for (int i = 0; i < atoi(argv[2]); i++)
		message_await(true);
}

static void waited(char **argv)
{
	for (int i = 0; i < atoi(argv[2]); i++)
		message_await(false);
}

/* Pairs; each message is awaited before the next one goes. */
static void pingpong(char **argv)
{
	int other = rank ^ 1, token = 0;

	for (int i = 0; i < atoi(argv[2]); i++) {
		if (rank & 1)
			MPI_Send(&i, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
		MPI_Recv(&token, 1, MPI_INT, other, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (!(rank & 1))
			MPI_Send(&i, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
	}
}

static void busy(char **argv)
{
	(void)argv;
	for (int i = 0; i < 10; i++) {
		compute(0.02);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Rank 0 computes while rank 1 sends. */
static void pour(char **argv)
{
	int bytes = atoi(argv[2]), count = atoi(argv[3]);
	char *buffer = calloc(1, (size_t)bytes);

	if (rank == 0)
		compute(0.5);
	for (int i = 0; i < count && rank == 1; i++)
		MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
	for (int i = 0; i < count && rank == 0; i++)
		MPI_Recv(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	free(buffer);
}

static void bursts(char **argv)
{
	for (int i = 0; i < atoi(argv[4]); i++) {
		flood(argv);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	compute(LEAST_S);
}

/* What a counter of this process says, its first words. */
static void count(const char *name, uint64_t words[9])
{
	memset(words, 0, 9 * sizeof(words[0]));
	vmpi_var_read(vmpi_var_find(name), words);
}

/* Ports look over their memory now and then, where little is polled seldom: until
 * one look has seen the packets of the flood, and the next that a quarter is not
 * used any more, or that memory was given back.  After a minute that is so. */
static void rest(char **argv)
{
	uint64_t there[9], peak[9], given[9];
	double end;
	int seen = 0;

	flood(argv);
	end = MPI_Wtime() + 60;
	for (int go = 1; go;) {
		int used;

		compute(0.0003);
		count("fabric_pool_packets", there);
		count("fabric_pool_peak", peak);
		count("fabric_pool_shrinks", given);
		used = there[WIRE] < peak[WIRE] + there[WIRE] / 4;
		seen |= used;
		go = !seen || (used && !given[0]);
		go = go && MPI_Wtime() < end;
		MPI_Allreduce(MPI_IN_PLACE, &go, 1, MPI_INT, MPI_MAX,
			      MPI_COMM_WORLD);
	}
}

static void broadcasts(char **argv)
{
	int bytes = atoi(argv[2]);
	char *buffer = calloc(1, (size_t)bytes);

	for (int i = 0; i < atoi(argv[3]); i++)
		MPI_Bcast(buffer, bytes, MPI_CHAR, i % size, MPI_COMM_WORLD);
	free(buffer);
	compute(LEAST_S);
}

/* 2x2 matrices of integers. */
static void product(void *in, void *inout, int *count, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *count; i++) {
		unsigned *a = (unsigned *)in + 4 * i;
		unsigned *b = (unsigned *)inout + 4 * i;
		unsigned c[4] = { a[0] * b[0] + a[1] * b[2],
				  a[0] * b[1] + a[1] * b[3],
				  a[2] * b[0] + a[3] * b[2],
				  a[2] * b[1] + a[3] * b[3] };

		memcpy(b, c, sizeof(c));
	}
}

static void fold(char **argv)
{
	unsigned mine[4] = { 1, (unsigned)rank, 0, 1 }, all[4];
	MPI_Datatype matrix;
	MPI_Op op;

	MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix);
	MPI_Type_commit(&matrix);
	MPI_Op_create(product, 0, &op);
	for (int i = 0; i < atoi(argv[2]); i++)
		MPI_Allreduce(mine, all, 1, matrix, op, MPI_COMM_WORLD);
	compute(LEAST_S);
	MPI_Op_free(&op);
	MPI_Type_free(&matrix);
}

static const struct {
	const char *name;
	void (*run)(char **argv);
	int arguments;
} problems[] = {
	{ "quiet", quiet, 0 },	    { "long", messages, 2 },
	{ "poll", poll, 0 },	    { "flood", flooded, 2 },
	{ "uneven", uneven, 0 },    { "test", test, 1 },
	{ "wait", waited, 1 },	    { "pingpong", pingpong, 1 },
	{ "compute", busy, 0 },	    { "pour", pour, 2 },
	{ "bursts", bursts, 3 },    { "rest", rest, 2 },
	{ "bcast", broadcasts, 2 }, { "fold", fold, 1 },
};

int main(int argc, char **argv)
{
	int found = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++)
		if (argc == problems[i].arguments + 2 &&
		    !strcmp(argv[1], problems[i].name)) {
			problems[i].run(argv);
			found = 1;
		}
	MPI_Finalize();
	return !found;
}
