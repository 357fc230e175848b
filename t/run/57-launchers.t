#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Other launchers and we: Open MPI's mpirun (PMIx) and MPICH's Hydra (PMI-1)
# start our processes, vmpirun starts those launchers, and vmpirun's PMI serves
# a program of MPICH.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
vmpirun=$VMPI_BUILD/vmpirun
node=$VMPI_BUILD/t/boot/boot-node
[ -x "$vmpirun" ] && [ -x "$node" ] || skip_all "vmpirun is not built"
unset MPIEXEC_TIMEOUT GLIBC_TUNABLES VMPI_NODE
# libpmix leaves a few bytes behind.
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
export ASAN_OPTIONS
cd "$scratch" || exit 1

# The requirements for every launcher.  $1 is its name, the rest its command.
joins() {
	name=$1
	shift
	out=$(timeout 250 "$@" "$node" who key exchange fence </dev/null 2>&1)
	is $? 0 "$name starts a job of two processes"
	like "$out" "^process 0 of 2: ranks 0-0 of 2, hosts 1, .* launcher kills" \
		"the first is rank 0, on the same host as the other"
	like "$out" '^process 1 of 2: ranks 1-1 of 2' "the second is rank 1"
	is "$(echo "$out" | grep -c 'key is the same$')" 2 "they have one key"
	is "$(echo "$out" | grep -c 'exchanged$')" 2 "and exchange blobs"
	timeout 250 "$@" "$node" watch fence 1:abort=42 sleep=30000 \
		</dev/null >out 2>&1
	is $? 42 "an abort ends the job with its code"
	timeout 250 "$@" "$node" watch fence 1:signal=KILL sleep=30000 \
		</dev/null >out 2>&1
	code=$?
	ok "the death of one ends the job (code $code)" \
		test $code -ne 0 -a $code -ne 124
	timeout 250 "$@" env VMPI_JOB_RANKS=5 VMPI_JOB_NODES=2 "$node" who \
		</dev/null >out 2>&1
	like "$(cat out)" '^process 1 of 2: ranks 3-4 of 5' \
		"a job in the environment is looked at"
	timeout 250 "$@" env VMPI_JOB_RANKS=5 VMPI_JOB_NODES=3 "$node" who \
		</dev/null >out 2>&1
	like "$(cat out)" 'the job is of 3 node processes .* has started 2' \
		"and has to fit"
}

# vmpirun with --launcher $1.
delegates() {
	out=$(echo hello | VMPI_NODE=$node timeout 250 "$vmpirun" \
		--launcher "$1" --nodes 2 -n 6 -x GREETING=hi true who \
		exchange 0:stdin 2>&1)
	is $? 0 "vmpirun --launcher $1 starts two nodes"
	like "$out" '^process 1 of 2: ranks 3-5 of 6' "with their ranks"
	is "$(echo "$out" | grep -c 'exchanged$')" 2 "which exchange blobs"
	like "$out" "^process 0: stdin 'hello'\$" "rank 0 gets standard input"
}

mpirun=
for name in mpirun.openmpi mpirun; do
	command -v $name >/dev/null && $name --version 2>/dev/null |
		grep -q 'Open MPI' && mpirun=$name && break
done
if [ -z "$mpirun" ] || ! grep -q 'VM_HAVE_PMIX=1' "$VMPI_BUILD/build.ninja"; then
	skip 13 "there is no mpirun of Open MPI, or this vmpi has no PMIx"
elif ! timeout 250 $mpirun --oversubscribe --allow-run-as-root -np 1 true \
	>out 2>&1; then
	skip 13 "mpirun of Open MPI does not run here"
else
	OMPI_MCA_oob_tcp_if_include=lo
	OMPI_MCA_btl_tcp_if_include=lo
	export OMPI_MCA_oob_tcp_if_include OMPI_MCA_btl_tcp_if_include
	joins "mpirun of Open MPI" $mpirun --oversubscribe \
		--allow-run-as-root -np 2
	delegates mpirun
fi

if ! command -v mpiexec.hydra >/dev/null ||
	! timeout 250 mpiexec.hydra -n 1 true >out 2>&1; then
	skip 13 "mpiexec.hydra of MPICH does not run here"
else
	joins "mpiexec.hydra" mpiexec.hydra -n 2
	delegates hydra
fi

# A program of MPICH as node processes of vmpirun.
if command -v mpicc.mpich >/dev/null; then
	cat >sum.c <<'END'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, size, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d of %d: sum %d\n", rank, size, sum);
	MPI_Finalize();
	return 0;
}
END
	ok "a program of MPICH is built" mpicc.mpich -o sum sum.c
	out=$(VMPI_NODE=./sum timeout 250 "$vmpirun" -n 2 --nodes 2 true \
		2>&1 | sort)
	is "$out" "rank 0 of 2: sum 1
rank 1 of 2: sum 1" "it runs on vmpirun's PMI"
else
	skip 2 "there is no mpicc.mpich"
fi
done_testing
