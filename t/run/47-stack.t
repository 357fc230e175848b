#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Stacks of ranks: their size, and what is said when one is too small.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
ulimit -c 0
unset VMPI_SCHED_STACK_BYTES
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "sanitizers need larger stacks, and report by themselves" ;;
esac
[ "$(ulimit -H -s)" = unlimited ] || [ "$(ulimit -H -s)" -ge 16384 ] ||
	skip_all "ulimit -s cannot be raised here"
ulimit -S -s 8192

build frames frames.c
build unprobed frames.c -fno-stack-clash-protection

cat >main.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	double grid[200000];
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	grid[0] = rank;
	MPI_Barrier(MPI_COMM_WORLD);
	printf("%g\n", grid[0]);
	MPI_Finalize();
	return 0;
}
END
"$vmpicc" main.c -o main
is "$(run 2 ./main | sort | tr '\n' ' ')" "0 1 " \
	"1.6 MB of variables in main are ordinary"

limit=8192

# limited ARGUMENT...: run with ulimit -s $limit.
limited() {
	(ulimit -S -s $limit && run "$@")
}

# fits NAME ARGUMENT...: frames ends well.
fits() {
	fits_name=$1
	shift
	limited "$@" >out 2>err
	is "$? $(cat out err)" "0 large" "$fits_name"
}

# leaves NAME KIB ARGUMENT...: the overflow of a stack of that size is reported.
leaves() {
	leaves_name=$1
	leaves_kib=$2
	shift 2
	limited "$@" >out 2>err
	is $? 139 "$leaves_name: the job ends"
	like "$(cat out err)" \
		"^vmpirun: rank [0-9]+ overflowed its stack of $leaves_kib KiB" \
		"$leaves_name: it is named"
	is "$(cat out err | wc -l)" 1 "$leaves_name: in one line"
}

for workers in 1 2; do
	for kib in 1030 1050 1500 2000; do
		leaves "a frame of $kib KiB in 1 MiB, $workers workers" 1024 \
			2 --workers $workers --stack 1M ./unprobed touch $kib
	done
done
leaves "a stack pointer in the guard, and a fault elsewhere" 1024 \
	2 --stack 1M ./unprobed fault 1050
run 2 --stack 1M ./unprobed fault 10 >out 2>err
like "$(cat err)" 'rank 1: SIGSEGV at address 0x8 ' \
	"a fault on a sound stack is no overflow"

case $("$vmpicc" -show -c x.c) in
*-fstack-clash-protection*)
	leaves "a frame longer than the guard, with probes" 1024 \
		2 --stack 1M ./frames touch 3000
	leaves "one of 100 MiB" 1024 2 --stack 1M ./frames touch 102400
	;;
*) skip 6 "the compiler has no -fstack-clash-protection" ;;
esac
like "$("$vmpicc" -show -c x.c)" \
	'-fstack-clash-protection|^([^-]|-[^f]|-f[^s])*$' \
	"vmpicc asks for probes if the compiler knows them"

fits "8 MiB by default" 2 ./frames all 7900
leaves "no more by default" 8192 2 ./frames all 8300
fits "what --stack says" 2 --stack 20M ./frames all 18000
fits "what the variable says" 2 --set sched_stack_bytes=20M ./frames all 18000
leaves "a small --stack" 256 2 --stack 256K ./frames all 300
leaves "many ranks have less" 4096 2048 ./frames all 4200
fits "and --stack gives them more" 2048 --stack 8M ./frames all 7900
leaves "but 1 MiB at least" 1024 9000 ./frames all 1200

# Threads of ranks have stacks of their own, and handlers what they need.
build guests stack-guests.c -pthread
# guest HOW CODE TEXT NAME
guest() {
	run 2 --workers 1 ./guests "$1" >out 2>err
	is $? "$2" "$4: the exit code"
	like "$(cat out err)" "$3" "$4"
}
guest least 0 '^rank 1 is fine$' "a thread may have the least stack there is"
guest default 0 '^rank 1 is fine$' "without a size it has the usual one"
guest thread 139 \
	'^vmpirun: a thread of rank [01] overflowed its stack of [0-9]+ KiB' \
	"the overflow of a thread is named"
guest handler 0 '^rank 1 caught 3$' "a rank may catch its overflows"
guest after 139 '^vmpirun: rank 0 overflowed its stack of 8192 KiB' \
	"and leaves nothing behind for the others of its worker"

limit=16384
fits "ulimit -s raises it" 2 ./frames all 15000
limit=512
leaves "ulimit -s lowers it" 512 2 ./frames all 600
fits "--stack wins" 2 --stack 8M ./frames all 7000
if [ "$(ulimit -H -s)" = unlimited ]; then
	limit=unlimited
	fits "without a limit there is much" 2 ./unprobed touch 100000
else
	skip 1 "ulimit -s unlimited is not allowed"
fi
done_testing
