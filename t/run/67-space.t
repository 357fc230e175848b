#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs under limits of addresses, data and stacks, as batch systems set them:
# each kind of job works under each limit that leaves room for libraries.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "sanitizers reserve all addresses" ;;
esac
libdir=$VMPI_BUILD/lib

cat >sum.c <<'END_C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	static char here[300000], there[300000];
	int rank, size, sum = 0, wrong;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	memset(here, rank + 1, sizeof(here));
	MPI_Sendrecv(here, sizeof(here), MPI_CHAR, (rank + 1) % size, 1, there,
		     sizeof(there), MPI_CHAR, (rank + size - 1) % size, 1,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	wrong = there[sizeof(there) - 1] != (rank + size - 1) % size + 1;
	MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM,
		      MPI_COMM_WORLD);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("sum %d, %d wrong\n", sum, wrong);
	MPI_Finalize();
	return 0;
}
END_C
"$vmpicc" -O1 -Wall sum.c -o sum || skip_all "cannot build"
${CC:-cc} -O1 -Wall -I"$VMPI_SRC/include" sum.c -o ordinary -L"$libdir" \
	-lmpi_abi -Wl,-rpath,"$libdir" || skip_all "cannot link"
${CC:-cc} -O1 -Wall -I"$VMPI_SRC/include" "$programs/many-tasks.c" -o tasks \
	-L"$libdir" -lvmpi -Wl,-rpath,"$libdir" || skip_all "cannot link"

# under LIMITS COMMAND...: what it says, with ulimit LIMITS.
under() {
	under_limits=$1
	shift
	(ulimit -S $under_limits && exec timeout 100 "$@") 2>&1 </dev/null
}

# jobs LIMITS KIND...: such jobs of 4 ranks.
jobs() {
	bad=
	limits=$1
	shift
	for kind; do
		said=$(under "$limits" "$vmpirun" -n 4 $kind)
		[ "$said" = 'sum 6, 0 wrong' ] || bad="$bad$kind: $said; "
	done
	none "$bad" "ulimit $limits: jobs of $# kinds work"
}

# every LIMITS: jobs of each kind.
every() {
	jobs "$1" './sum' '--nodes 2 ./sum' '--nodes 4 ./sum' \
		'--processes ./sum' './ordinary' '--nodes 2 ./ordinary' \
		'--processes ./ordinary'
}

mib=1024
for limit in 512 3072 16384; do
	every "-v $((limit * mib))"
done
# What a process reserves depends on how many share its memory.
for limit in 1024 1536 2048 4096 6144 8192 12288 32768 65536; do
	jobs "-v $((limit * mib))" './sum' '--nodes 2 ./sum'
done
every "-d $((256 * mib))"
for limits in "-s 64" "-s unlimited" "-l 0"; do
	jobs "$limits" '--nodes 2 ./sum' '--processes ./ordinary'
done

for limit in 2048 4096; do
	is "$(under "-v $((limit * mib))" ./tasks 1000)" \
		"1000 tasks, sum 499500" "ulimit -v of $limit MiB: 1000 tasks"
done
like "$(under "-v $((256 * mib))" ./tasks 100000)" \
	'^vmpi: no addresses for a stack of 64 KiB \(1088 KiB with its guard\)' \
	"more tasks than fit: in words"
# Whether less suffices depends on libraries and processors; why not is said.
for cell in '16 --processes' '48 --processes' '64 --processes' \
	'96 --processes' '16' '48' '16 --nodes 2' '64 --nodes 2'; do
	kind=${cell#"${cell%% *}"}
	like "$(under "-v $((${cell%% *} * mib))" "$vmpirun" -n 4 $kind ./sum)" \
		'^(sum 6|vmpi.* )' "with ${cell%% *} MiB$kind: in words"
done
done_testing
