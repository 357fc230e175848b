#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The heap of ranks that share a process: what they free and want again at once
# is not returned to the kernel in between, unless the user says so.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "sanitizers have allocators of their own" ;;
esac

cat >again.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define BLOCKS 12
#define BYTES (60 << 10)
#define ROUNDS 100

static void once(void)
{
	char *block[BLOCKS];

	for (int i = 0; i < BLOCKS; i++)
		memset(block[i] = malloc(BYTES), i, BYTES);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = BLOCKS; i-- > 0;)
		free(block[i]);
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

int main(int argc, char **argv)
{
	long before;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 10; i++)
		once();
	before = faults();
	for (int i = 0; i < ROUNDS; i++)
		once();
	if (rank == 0)
		printf("%s\n", faults() - before < ROUNDS * BLOCKS * 5 ?
				       "few faults" : "a fault for each page");
	MPI_Finalize();
	return 0;
}
END
"$vmpicc" again.c -o again
is "$(run 2 --workers 1 ./again)" "few faults" "two ranks of a worker"
is "$(run 4 --workers 2 ./again)" "few faults" "ranks of two workers"
is "$(MALLOC_TRIM_THRESHOLD_=131072 run 2 --workers 1 ./again)" \
	"a fault for each page" "the user's own thresholds are heard"
done_testing
