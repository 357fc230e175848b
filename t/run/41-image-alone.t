#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program that is started without vmpirun.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

cat >alone.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	int rank, size;

	if (argc > 2 && !strcmp(argv[1], "run"))
		return system(argv[2]) ? 1 : 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	printf("%d of %d%s\n", rank, size, getenv("VMPI_IMAGE") ? "!" : "");
	MPI_Finalize();
	return 0;
}
END
"$vmpicc" alone.c -o alone
is "$(./alone)" "0 of 1" "it is a job of one rank"
is "$(env -i ./alone)" "0 of 1" "even without an environment"
is "$(cd / && "$scratch/alone")" "0 of 1" "from anywhere"
is "$(./alone run ./alone)" "0 of 1" "a rank may start another such program"
is "$(run 2 ./alone run ./alone)" "0 of 1
0 of 1" "which is no part of its job"
is "$(env VMPI_JOB_RANKS=3 ./alone | sort)" "0 of 3
1 of 3
2 of 3" "a job in the environment is run"

best=1000000
for i in 1 2 3 4 5 6 7 8 9 10; do
	start=$(date +%s%N)
	./alone >out
	took=$((($(date +%s%N) - start) / 1000))
	[ $took -lt $best ] && best=$took
done
diag "started and ended in $best us"

VMPI_NODE=/nonexistent ./alone >out 2>err
is $? 2 "without the node program it cannot run"
like "$(cat err)" "VMPI_NODE=/nonexistent" "and says so"

if command -v gdb >/dev/null && [ "${VMPI_SANITIZE:-none}" = none ]; then
	cat >stop.c <<'END'
#include <vmpi.h>
int total = 5;
__attribute__((noinline)) int stop_here(int number)
{
	total += number;
	vmpi_yield();
	return total;
}
int main(void)
{
	return stop_here(vmpi_rank()) < 0;
}
END
	"$vmpicc" -g -O0 stop.c -o stop
	VMPI_JOB_RANKS=3 timeout 250 gdb -batch -nx \
		-ex 'set breakpoint pending on' -ex 'break stop_here' \
		-ex run -ex bt -ex 'info breakpoints' \
		--args "$node" ./stop >out 2>&1 </dev/null
	like "$(cat out)" "stop_here \(number=[0-2]\) at .*stop.c:" \
		"gdb stops in a rank"
	like "$(cat out)" "in main .*at .*stop.c" "and shows its stack"
	is "$(grep -c '^1\.[123] .* in stop_here' out)" 3 \
		"a breakpoint is in every copy"
else
	skip 3 "gdb is not installed, or sanitizers are on"
fi
done_testing
