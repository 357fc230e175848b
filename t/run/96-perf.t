#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The code of all copies is mapped from the program's own file, so that perf knows
# its functions; threads have the names of ranks, so that it knows those.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

build libbusy.so busy.c -shared -DIS_LIBRARY
build busy busy.c
build uses busy.c -DWITH_LIBRARY -L. -lbusy -Wl,-rpath,"$scratch"
build apart busy.c -Wl,-z,separate-code,-z,relro
cc -O1 -fPIE -pie -I"$VMPI_SRC/include" "$programs/busy.c" -o ordinary \
	-L"$VMPI_BUILD/lib" -lvmpi -Wl,-rpath,"$VMPI_BUILD/lib"
for program in busy uses apart ordinary; do
	run 7 --workers 2 ./$program >out
	is "$(grep -c "^code of $program\$" out) $(grep -c memfd out)" "7 0" \
		"$program: the code of 7 copies is mapped from its file"
done
run 7 --workers 2 ./uses >out
is "$(grep -c '^code of libbusy.so$' out)" 7 "that of its own library too"

# named NAME COMMAND...: each rank, and its thread, has the rank's name.
cat >name.c <<'END_C'
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static int rank;
static int named(void)
{
	char name[32] = "", want[32];
	FILE *file = fopen("/proc/thread-self/comm", "r");

	if (file && fgets(name, sizeof(name), file))
		fclose(file);
	snprintf(want, sizeof(want), "rank %d\n", rank);
	return !strcmp(name, want);
}
static void *run(void *arg)
{
	return named() ? arg : NULL;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	void *result;
	int good = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 5; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		good &= named();
	}
	pthread_create(&thread, NULL, run, argv);
	pthread_join(thread, &result);
	printf("%d %d\n", good, result != NULL);
	MPI_Finalize();
	return 0;
}
END_C
"$vmpicc" name.c -o name -pthread
run 6 --workers 2 --set core_thread_names=1 ./name >out
is "$(grep -cx '1 1' out)" 6 "OS threads have the name of their rank"
run 6 --workers 2 ./name >out
is "$(grep -cx '0 0' out)" 6 "they have not if nobody asks for it"
run 3 --processes --set core_thread_names=1 ./name >out
is "$(grep -cx '1 1' out)" 3 "so have ranks that are processes"

if ! command -v perf >/dev/null ||
	! perf record -q -e cpu-clock -o try.data true >try 2>&1; then
	skip 3 "perf does not run here: $(tail -n 1 try 2>/dev/null)"
else
	for program in busy ordinary; do
		perf record -q -e cpu-clock -o perf.data \
			timeout 100 "$vmpirun" -n 4 --workers 2 ./$program x \
			>out 2>&1
		like "$(perf report -i perf.data --stdio 2>/dev/null)" \
			"^ +[0-9.]+% +$program +$program +\\[\\.\\] busy_in_the_program" \
			"$program: perf knows its functions"
	done
	perf record -q -e cpu-clock -o perf.data timeout 100 "$vmpirun" -n 4 \
		--workers 2 --set core_thread_names=1 ./busy x >out 2>&1
	is "$(perf report -i perf.data --stdio --sort comm,sym 2>/dev/null |
		sed -n 's/^ *[0-9.]*% *\(rank [0-3]\) .* busy_in_the_prog.*/\1/p' |
		sort | paste -sd ,)" "rank 0,rank 1,rank 2,rank 3" \
		"and the rank, by the names of threads"
fi
done_testing
