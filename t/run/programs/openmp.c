/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP teams inside ranks; the master thread yields inside a region. */
#include <omp.h>
#include <stdio.h>
#include <vmpi.h>

static int private_value;
#pragma omp threadprivate(private_value)

int main(void)
{
	int rank = vmpi_rank();
	int sum = 0, wrong = 0, level = 0, threads = 0, ranks = 0;

#pragma omp parallel num_threads(3) reduction(+ : sum)
	{
		sum += omp_get_thread_num() + 1;
		private_value = rank * 10 + omp_get_thread_num();
	}
	vmpi_yield();
#pragma omp parallel num_threads(3) reduction(+ : wrong, ranks)
	{
		wrong += private_value != rank * 10 + omp_get_thread_num();
		ranks += vmpi_rank() == rank;
	}
#pragma omp parallel num_threads(3)
	{
#pragma omp master
		{
			vmpi_barrier(vmpi_world());
			level = omp_get_level();
			threads = omp_get_num_threads();
		}
	}
	printf("rank %d: sum %d wrong %d level %d threads %d ranks %d\n", rank,
	       sum, wrong, level, threads, ranks);
	return 0;
}
