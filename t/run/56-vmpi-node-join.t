#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The node program in jobs of several processes: images join, whoever starts
# them, and until ranks of several processes can talk they are refused in one
# line.
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
refused='there is no communication between processes yet'

# refuses NAME COMMAND...
refuses() {
	name=$1
	shift
	timeout 50 "$@" </dev/null >out 2>&1
	code=$?
	ok "$name is refused (code $code)" test $code -eq 1
	is "$(grep -c "^vmpi: the job has .* node processes, but $refused" out)" \
		1 "in one line"
}
refuses "a job of 2 node processes" vmpirun -n 4 --nodes 2 ./hello
refuses "one of 4 with a rank each" vmpirun -n 4 --nodes 4 ./hello
is "$(grep -vc '^vmpi: ' out)" 0 "and nothing more is said"
is "$(timeout 50 vmpirun -n 3 --nodes 1 ./hello | sort | uniq -c | tr -s ' ')" \
	" 3 size 3" "one node process runs"
is "$(timeout 50 vmpirun -n 2 --agent env ./hello | sort | uniq -c | tr -s ' ')" \
	" 2 size 2" "also behind an agent"
if command -v mpiexec.hydra >/dev/null &&
	timeout 50 mpiexec.hydra -n 1 true >out 2>&1; then
	refuses "an image started twice by hydra" mpiexec.hydra -n 2 ./hello
	is "$(timeout 50 mpiexec.hydra -n 1 ./hello)" "size 1" \
		"one that hydra starts alone runs"
	is "$(timeout 50 mpiexec.hydra -n 1 "$VMPI_BUILD/bin/vmpi-node/vmpi-node" \
		./hello)" "size 1" "so does vmpi-node"
else
	skip 4 "mpiexec.hydra of MPICH does not run here"
fi
done_testing
