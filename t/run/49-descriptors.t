#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Standard descriptors that are closed, and descriptors that are used up.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

# Prints much, and tells by its exit code and by a file whether it is sound.
cat >prints.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static int numbers[5000] = { 1, 2, 3 };
int main(int argc, char **argv)
{
	const char *null = "/dev/null";
	int rank, sum = 0, wrong = 0;
	FILE *file;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 1000; i++) {
		printf("much is printed by rank %d in line %d\n", rank, i);
		fprintf(stderr, "and by rank %d in line %d\n", rank, i);
	}
	fflush(stdout);
	for (int fd = 0; fd < 3; fd++) {
		struct stat one, other;

		wrong += fstat(fd, &one) || stat(null, &other) ||
			 one.st_rdev != other.st_rdev;
	}
	for (int i = 0; i < 5000; i++)
		sum += numbers[i];
	wrong += sum != 6 || getchar() != EOF;
	MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM,
		      MPI_COMM_WORLD);
	if (rank == 0 && argc > 1 && (file = fopen(argv[1], "w"))) {
		fprintf(file, "%d wrong\n", wrong);
		fclose(file);
	}
	MPI_Finalize();
	return wrong != 0;
}
END
"$vmpicc" -g prints.c -o prints
cc -I"$VMPI_SRC/include" prints.c -o ordinary -L"$VMPI_BUILD/lib" -lvmpi \
	-Wl,-rpath,"$VMPI_BUILD/lib"

for how in "$vmpirun -n 2 ./prints" "$vmpirun -n 2 --nodes 2 ./prints" \
	"$vmpirun -n 2 ./ordinary" "$vmpirun -n 2 --processes ./ordinary" \
	./prints ./ordinary; do
	rm -f sound
	timeout 200 $how sound <&- >&- 2>&-
	is "$? $(cat sound)" "0 0 wrong" \
		"$(echo "$how" | sed "s|$VMPI_BUILD/||"): without standard descriptors"
done
for tool in vmpi_info vmpistat "vmpirun --help" "vmpitop --help"; do
	timeout 200 "$VMPI_BUILD"/$tool <&- >&- 2>&-
	ok "$tool without standard descriptors ends" test $? -lt 3
done
done_testing
