/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of the MPI ABI that knows nothing of vmpi: all its state must be
 * its rank's.  Arguments: -a word -b last.
 */
#include <errno.h>
#include <getopt.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int global = 7;
static int rank, size, wrong;
static int set = 5, zero;
static _Alignas(32) __thread int local = 3;
static __thread int local_zero;
static __thread int *local_pointer = &global;

#define CHECK(what)                                               \
	do {                                                      \
		if (!(what)) {                                    \
			printf("rank %d: not %s\n", rank, #what); \
			wrong++;                                  \
		}                                                 \
	} while (0)

/* Of the library, if it is linked with it. */
#ifdef WITH_LIBRARY
extern int library_count, *library_address(void);
int library_next(void), library_program(void);

int program_table[3] = { 10, 20, 30 };
int program_value(void)
{
	return global;
}

static void library(void)
{
	CHECK(library_count == 1000);
	CHECK(&library_count == library_address());
	for (int i = 0; i < 5; i++) {
		library_next();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	CHECK(library_count == 1005);
	library_count = rank;
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(library_next() == rank + 1);
	program_table[2] = rank;
	CHECK(library_program() == rank + rank);
}
#else
static void library(void)
{
}
#endif

static void ends(void)
{
	printf("rank %d ends\n", global);
}

static void *thread(void *arg)
{
	CHECK(local == 3 && !local_zero && local_pointer == &global);
	local = -1;
	return arg;
}

static void variables(void)
{
	pthread_t other;

	set = zero = global = rank;
	local = local_zero = rank;
	for (int i = 0; i < 10; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	CHECK(set == rank && zero == rank && global == rank);
	CHECK(local == rank && local_zero == rank);
	CHECK(local_pointer == &global);
	CHECK((size_t)&local % 32 == 0);
	if (!pthread_create(&other, NULL, thread, NULL))
		pthread_join(other, NULL);
	CHECK(local == rank);
}

static void options(int argc, char **argv)
{
	int c, sum = 0;

	while ((c = getopt(argc, argv, "a:b")) >= 0) {
		MPI_Barrier(MPI_COMM_WORLD);
		sum += c == 'a' ? 1 : 10;
		CHECK(c != 'a' || (optarg && !strcmp(optarg, "word")));
	}
	CHECK(sum == 11);
	CHECK(optind == argc - 1);
}

static void libc(void)
{
	char text[32];
	int found = 0, random;

	snprintf(text, sizeof(text), "WHO=%d", rank);
	putenv(text);
	srand((unsigned)rank);
	random = rand();
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(!strcmp(getenv("WHO"), text + 4));
	for (char **entry = environ; *entry; entry++)
		found |= !strcmp(*entry, text);
	CHECK(found);
	srand((unsigned)rank);
	CHECK(rand() == random);
	errno = rank;
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(errno == rank);
	fprintf(stderr, "%s", "");
	unsetenv("WHO");
}

int main(int argc, char **argv)
{
	CHECK(set == 5 && !zero && global == 7);
	CHECK(local == 3 && !local_zero && local_pointer == &global);
	atexit(ends);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	variables();
	libc();
	options(argc, argv);
	library();
	printf("rank %d of %d: %d faults, pid %d\n", rank, size, wrong,
	       (int)getpid());
	MPI_Finalize();
	return wrong;
}
