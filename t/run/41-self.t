#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that look at themselves: at their file, their names, their stack.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

# looks NAME: ./self, by several ranks and by one.
looks() {
	for ranks in 1 2; do
		is "$(run $ranks ./self a word 2>&1 | sort -u)" ok \
			"$1 finds itself, $ranks ranks"
	done
	is "$(run 2 ./self quick 2>&1 | sort)" "rank 0 first
rank 0 last
rank 1 first
rank 1 last" "$1: quick_exit() runs the handlers of each rank"
}

build self self.c -D_GNU_SOURCE -pthread
looks "an image"
is "$(timeout 100 ./self a word 2>&1)" ok "and without vmpirun"
is "$(timeout 100 ./self quick)" "rank 0 first
rank 0 last" "so does quick_exit()"
case $(uname -m)-${VMPI_SANITIZE:-none} in
x86_64-none)
	ok "an ordinary executable is built" ${CC:-cc} -g -D_GNU_SOURCE \
		-I"$VMPI_SRC/include" "$programs/self.c" -o self -pthread \
		-L"$VMPI_BUILD/lib" -lmpi_abi -Wl,-rpath,"$VMPI_BUILD/lib"
	looks "an executable"
	;;
*) skip 4 "ordinary executables are processes here" ;;
esac

# A collector finds what only the stack and the variables of a rank refer to.
cat >collect.c <<'END'
#include <gc.h>
#include <mpi.h>
#include <stdio.h>
struct item { struct item *next; long value[20]; };
static struct item *kept;
int main(int argc, char **argv)
{
	struct item *local = NULL;
	long sum = 0, all, local_sum = 0;
	int rank;

	GC_INIT();
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 20000; i++) {
		struct item *item = GC_MALLOC(sizeof(*item));
		struct item **list = i % 200 ? &kept : &local;

		if (i % 100 == 0) {
			item->value[0] = i + rank;
			item->next = *list;
			*list = item;
		}
		if (i % 5000 == 0) {
			GC_gcollect();
			MPI_Barrier(MPI_COMM_WORLD);
		}
	}
	for (struct item *item = kept; item; item = item->next)
		sum += item->value[0];
	for (struct item *item = local; item; item = item->next)
		local_sum += item->value[0];
	printf("rank %d: %ld %ld\n", rank, sum - 100 * rank,
	       local_sum - 100 * rank);
	return MPI_Finalize();
}
END
if "$vmpicc" -g collect.c -o collect -lgc >out 2>&1; then
	for ranks in 1 4; do
		is "$(run $ranks ./collect 2>&1 | sort)" "$(seq 0 $((ranks - 1)) |
			sed 's/.*/rank &: 1000000 990000/')" \
			"a garbage collector, $ranks ranks"
	done
else
	skip 2 "libgc-dev is not installed"
fi
done_testing
