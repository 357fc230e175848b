#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The heap of ranks: what they free and want again at once is not returned to the
# kernel in between, unless the user says so.
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
#define ROUNDS 100

static void once(size_t bytes)
{
	char *block[BLOCKS];

	for (int i = 0; i < BLOCKS; i++)
		memset(block[i] = malloc(bytes), i, bytes);
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
	size_t bytes = strtoul(argv[1], NULL, 0) << 10;
	long before;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 10; i++)
		once(bytes);
	before = faults();
	for (int i = 0; i < ROUNDS; i++)
		once(bytes);
	if (rank == 0)
		printf("%s\n", faults() - before < ROUNDS * BLOCKS * 5 ?
				       "few faults" : "a fault for each page");
	MPI_Finalize();
	return 0;
}
END
"$vmpicc" again.c -o again
is "$(run 2 --workers 1 ./again 60)" "few faults" "two ranks of a worker"
is "$(run 4 --workers 2 ./again 60)" "few faults" "ranks of two workers"
is "$(run 2 --nodes 2 ./again 320)" "few faults" "a rank per process"
is "$(run 2 --processes ./again 320)" "few faults" "--processes"
is "$(MALLOC_TRIM_THRESHOLD_=131072 run 2 --workers 1 ./again 60)" \
	"a fault for each page" "the user's own thresholds are heard"
done_testing
