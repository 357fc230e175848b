/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that ranks open; it needs another one (plugin_calls()), calls MPI,
 * and takes symbols from the program. */
#include <mpi.h>
#include <stdio.h>

extern int program_number, program_value(void);
int plugin_count(void);
int plugin_add(int number), plugin_calls(int), plugin_thread(int number);
int plugin_program(int);

#ifdef NEEDED
int plugin_count(void)
{
	static int count;

	return ++count;
}
#else
static int sum, before = -1;
static __thread int mine;

__attribute__((constructor)) static void start(void)
{
	MPI_Comm_rank(MPI_COMM_WORLD, &before);
}

__attribute__((destructor)) static void end(void)
{
	printf("plugin of %d ends\n", before);
}

int plugin_add(int number)
{
	MPI_Barrier(MPI_COMM_WORLD);
	return sum += number;
}

int plugin_calls(int number)
{
	plugin_count();
	return plugin_count() + number;
}

int plugin_thread(int number)
{
	mine = number;
	MPI_Barrier(MPI_COMM_WORLD);
	return mine;
}

int plugin_program(int number)
{
	return number + before + program_number + program_value();
}
#endif
