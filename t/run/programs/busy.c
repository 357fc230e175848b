/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes for a while in a function of a known name, calling a library if
 * there is one (WITH_LIBRARY); then rank 0 prints what code is mapped.
 */
#include <stdio.h>
#include <string.h>
#include <vmpi.h>

#ifdef IS_LIBRARY
int library_rank(void)
{
	return vmpi_rank();
}
#else
#ifdef WITH_LIBRARY
extern int library_rank(void);
#else
static int library_rank(void)
{
	return vmpi_rank();
}
#endif

__attribute__((noinline)) double busy_in_the_program(double rounds)
{
	double sum = 0;

	for (double i = 1; i < rounds; i++)
		sum += 1 / (i * sum + 1);
	return sum;
}

int main(int argc, char **argv)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], right[8];
	int rank = library_rank();

	(void)argv;
	if (argc > 1 && busy_in_the_program(3e7) < 0)
		return 1;
	vmpi_barrier(vmpi_world());
	while (rank == 0 && maps && fgets(line, sizeof(line), maps)) {
		const char *name = strrchr(line, '/');

		if (sscanf(line, "%*s %7s", right) == 1 && right[2] == 'x' &&
		    name)
			printf("code of %s", name + 1);
	}
	return 0;
}
#endif
