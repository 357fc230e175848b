#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The node program in jobs of several processes: images join, whoever starts
# them, and their ranks are one job.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
[ -x "$VMPI_BUILD/vmpicc" ] && [ -x "$VMPI_BUILD/vmpirun" ] ||
	skip_all "vmpicc or vmpirun is not built"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the program would need the sanitizer too" ;;
esac
unset MPIEXEC_TIMEOUT GLIBC_TUNABLES VMPI_NODE
cd "$scratch" || exit 1
PATH=$VMPI_BUILD:$PATH
cat >hello.c <<'END'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int size;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	printf("size %d\n", size);
	MPI_Finalize();
	return 0;
}
END
ok "a program is built" vmpicc -o hello hello.c

# joins N NAME COMMAND...: N ranks say so.
joins() {
	want=" $1 size $1"
	name=$2
	shift 2
	timeout 250 "$@" </dev/null >out 2>err
	code=$?
	ok "$name ends (code $code)" test $code -eq 0
	is "$(sort out | uniq -c | tr -s ' ')" "$want" "all its ranks are there"
	is "$(cat err)" "" "and nothing else is said"
}
joins 4 "a job of 2 node processes" vmpirun -n 4 --nodes 2 ./hello
joins 4 "one of 4 with a rank each" vmpirun -n 4 --nodes 4 ./hello
is "$(timeout 250 vmpirun -n 3 --nodes 1 ./hello | sort | uniq -c | tr -s ' ')" \
	" 3 size 3" "one node process runs"
is "$(timeout 250 vmpirun -n 2 --agent env ./hello | sort | uniq -c | tr -s ' ')" \
	" 2 size 2" "also behind an agent"
if command -v mpiexec.hydra >/dev/null &&
	timeout 250 mpiexec.hydra -n 1 true >out 2>&1; then
	joins 2 "an image started twice by hydra" mpiexec.hydra -n 2 ./hello
	is "$(timeout 250 mpiexec.hydra -n 1 ./hello)" "size 1" \
		"one that hydra starts alone runs"
	is "$(timeout 250 mpiexec.hydra -n 1 "$VMPI_BUILD/bin/vmpi-node/vmpi-node" \
		./hello)" "size 1" "so does vmpi-node"
else
	skip 5 "mpiexec.hydra of MPICH does not run here"
fi
done_testing
