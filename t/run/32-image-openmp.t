#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP inside ranks, with gcc's library and with clang's.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
case ${VMPI_SANITIZE:-none} in
*thread*) skip_all "libgomp is not built for the thread sanitizer" ;;
esac

wanted() {
	seq 0 $(($1 - 1)) |
		sed 's/.*/rank &: sum 6 wrong 0 level 1 threads 3 ranks 3/' |
		sort
}

# all RANKS LINE: the line of each rank.
all() {
	seq 0 $(($1 - 1)) | sed "s/.*/rank &: $2/" | sort
}

# checks NAME: the programs NAME-teams, NAME-waits and NAME-state.
checks() {
	for ranks in 1 2 6; do
		is "$(run $ranks "./$1-teams" | sort)" "$(wanted $ranks)" \
			"$1: teams belong to their ranks, $ranks ranks"
	done
	is "$(run 6 --workers 1 "./$1-teams" | sort)" "$(wanted 6)" \
		"$1: also when all ranks share a worker"
	is "$("./$1-teams")" "$(wanted 1)" "$1: also when started alone"
	for ranks in 2 8 32; do
		is "$(run $ranks --workers 2 "./$1-waits" | sort)" \
			"$(all $ranks "0 wrong")" \
			"$1: a waiting team does not keep $ranks ranks waiting"
		is "$(run $ranks --workers 2 "./$1-state" | sort)" \
			"$(all $ranks "done")" \
			"$1: a master is its rank's main thread, $ranks ranks"
	done
}

# ends HOW STATUS PATTERN: the master of rank 1 ends it.
build ends openmp-ends.c -fopenmp
ends() {
	run 2 ./ends "$1" >output 2>&1
	is "$?" "$2" "the job ends: $1 in a region"
	like "$(cat output)" "$3" "$1: that is said"
}

build gcc-teams openmp.c -fopenmp
build gcc-waits openmp-waits.c -fopenmp
build gcc-state openmp-state.cc -fopenmp
checks gcc

ends overflow 139 "rank 1 overflowed its stack of [0-9]+ KiB.*--stack"
ends exit 3 "rank 1: a thread .* called exit\\(3\\)"
ends leave 1 "rank 1: the master thread .* has ended"

build fixed openmp-state.cc -fopenmp -ftls-model=initial-exec
case ${VMPI_SANITIZE:-none} in
none)
	run 2 ./fixed >output 2>&1
	is "$?" 2 "C++ objects that a region would move are refused"
	like "$(cat output)" "without -ftls-model=initial-exec" "and that is said"
	;;
*) skip 2 "a sanitizer registers the objects itself" ;;
esac

# A program's own choice of the number of threads stays; the default is a
# rank's share of the cores.
build threads openmp-threads.c -fopenmp
is "$(OMP_NUM_THREADS=5 run 2 ./threads)" "$(printf '5\n5\n')" \
	"OMP_NUM_THREADS is the number of threads of a rank"
OMP_PROC_BIND=true run 2 ./threads >output 2>&1
like "$(cat output)" "OMP_PROC_BIND=true is not heeded" \
	"binding the threads of several ranks alike is refused"
is "$(OMP_PROC_BIND=true run 1 ./threads 2>&1)" "$(./threads)" \
	"it is for a rank alone"
is "$(run 64 ./threads | sort -u)" "1" \
	"unset, it is 1 where there are more ranks than cores"

echo 'int main(void) { return 0; }' >empty.c
if clang -fopenmp empty.c -o empty 2>/dev/null && ./empty; then
	export VMPI_CC=clang VMPI_CXX=clang++
	build clang-teams openmp.c -fopenmp
	build clang-waits openmp-waits.c -fopenmp
	build clang-state openmp-state.cc -fopenmp
	checks clang
else
	skip 1 "clang -fopenmp does not work here"
fi
done_testing
