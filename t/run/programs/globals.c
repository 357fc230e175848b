/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every kind of global variable, changed by each rank while the others run.
 * Prints "rank R: ok" or what was wrong; "trace" as argument shows the order of
 * constructors and handlers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vmpi.h>

int initialised = 7;
int zeroed[1000];
static int local_static = 1;
static const char *const names[] = { "a", "b", "c" };
static const char *pointer = "first";
static int *to_zeroed = &zeroed[500];
static __thread int thread_value = 5;
static __thread int thread_zero;
static int traced;
static int constructed;

static int count(void)
{
	static int calls = 100;

	return ++calls;
}

__attribute__((constructor)) static void construct(int argc, char **argv)
{
	constructed = argc;
	traced = argc > 1 && argv && !strcmp(argv[1], "trace");
	if (traced)
		printf("%d constructor\n", vmpi_rank());
}

__attribute__((destructor)) static void destruct(void)
{
	if (traced)
		printf("%d destructor %d\n", vmpi_rank(), initialised);
}

static void first_handler(void)
{
	if (traced)
		printf("%d first handler\n", vmpi_rank());
}

static void second_handler(void)
{
	vmpi_yield(); /* a handler may still use the runtime */
	if (traced)
		printf("%d second handler\n", vmpi_rank());
}

static const char *check(int rank, int argc)
{
	if (initialised != 7 + rank)
		return "initialised variable";
	if (zeroed[999] != rank || *to_zeroed != rank)
		return "zeroed array";
	if (local_static != 1 + rank)
		return "static variable";
	if (count() != 102 + rank)
		return "static variable of a function";
	if (strcmp(names[2], "c"))
		return "constant table";
	if (strcmp(pointer, rank % 2 ? "odd" : "even"))
		return "pointer";
	if (thread_value != 5 + rank || thread_zero != 3 * rank)
		return "thread-local variable";
	if (errno != 1000 + rank)
		return "errno";
	return constructed == argc ? "ok" : "argument of the constructor";
}

int main(int argc, char **argv)
{
	int rank = vmpi_rank();

	atexit(first_handler);
	atexit(second_handler);
	for (int i = 0; i < rank; i++) {
		initialised++;
		local_static++;
		count();
		thread_value++;
		if (i % 3 == 0)
			vmpi_yield();
	}
	for (int i = 0; i < 1000; i++)
		zeroed[i] = rank;
	pointer = rank % 2 ? "odd" : "even";
	thread_zero = 3 * rank;
	argv[0][0] = (char)('A' + rank % 26); /* the arguments are its own */
	count();
	vmpi_barrier(vmpi_world());
	errno = 1000 + rank;
	vmpi_yield();
	printf("rank %d: %s %c\n", rank, check(rank, argc), argv[0][0]);
	return 0;
}
