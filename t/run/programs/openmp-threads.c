/* SPDX-License-Identifier: BSD-3-Clause */
/* How many threads a region gets. */
#include <omp.h>
#include <stdio.h>
#include <vmpi.h>

int main(void)
{
	int threads = 0;

#pragma omp parallel reduction(+ : threads)
	threads++;
	printf("%d\n", threads);
	return 0;
}
