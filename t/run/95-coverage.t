#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Counts of lines are exact, although all ranks add theirs to one file; the locks
# behind that; and so are gprof's counts of calls.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

build plain cover.c
for ranks in 2 16; do
	rm -f count
	run $ranks --workers 2 ./plain locks
	is "$(cat count)" $((ranks * 10)) \
		"locks of a file exclude ranks ($ranks of them)"
done
rm -f count
run 8 --nodes 2 --workers 1 ./plain locks
is "$(cat count)" 80 "and processes"

# Function r of rank r is called r + 1 times, and all of them call each().
cat >calls.c <<'END_C'
#include <mpi.h>
#include <stdio.h>
volatile int sum;
__attribute__((noinline)) void each(int i) { sum += i; }
__attribute__((noinline)) void even(int i) { each(i); }
__attribute__((noinline)) void odd(int i) { each(i); each(i); }
int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i <= rank; i++)
		(rank % 2 ? odd : even)(i);
	MPI_Finalize();
	return 0;
}
END_C
# counted NAME COMMAND...: builds ./calls; its counts at 8 ranks and at one.
counted() {
	counted_name=$1
	shift
	if ! "$@" -O1 calls.c -o calls >err 2>&1; then
		skip 4 "$counted_name: $(head -n 1 err)"
		return
	fi
	rm -f gmon.out*
	like "$(run 8 -v ./calls 2>&1)" \
		'each rank is a process: it is built for gprof' \
		"$counted_name: vmpirun says that each rank is a process"
	is "$(echo gmon.out*)" "$(for rank in 0 1 2 3 4 5 6 7; do
		echo gmon.out.$rank.*; done | paste -sd ' ')" \
		"$counted_name: each writes a profile"
	is "$(gprof -b -p calls gmon.out.* | awk 'NF > 3 { print $NF, $(NF - 3) }' |
		grep -E '^(each|even|odd) ' | sort | paste -sd ' ')" \
		"each 56 even 16 odd 20" "$counted_name: all calls are counted"
	rm -f gmon.out*
	run 1 ./calls
	is "$(echo gmon.out*)" gmon.out "$counted_name: one has the usual name"
}
if ! command -v gprof >/dev/null; then
	skip 8 "there is no gprof"
elif [ "${VMPI_SANITIZE:-none}" != none ]; then
	skip 8 "the library has a sanitizer"
else
	counted vmpicc "$vmpicc" -pg
	counted "any compiler" ${CC:-cc} -pg "-I$VMPI_SRC/include" \
		-Wl,--no-as-needed "-L$VMPI_BUILD/lib" -lmpi_abi
fi

# line COMMENT: how often gcov says that the line was run.
line() {
	grep "/\* $1 \*/" cover.c.gcov | sed 's/^ *//; s/[*:].*//'
}

if ! command -v gcov >/dev/null; then
	skip 7 "there is no gcov"
else
	build covered cover.c --coverage -O0
	data=$(find . -name '*.gcno' | sed 's/gcno$/gcda/')
	for ranks in 1 8 64; do
		rm -f "$data"
		run $ranks --workers 2 ./covered
		gcov "$data" >said 2>&1
		is "$(line adds) $(line half) $(line never)" "$(
			echo $((ranks * (ranks - 1) / 2)) $((ranks / 2)) \
				'#####' | sed 's/^0 0/##### #####/')" \
			"the counts of $ranks ranks are exact"
		is "$(sed -n 's/.*:Runs:\([0-9]*\)$/\1/p' cover.c.gcov)" \
			$ranks "each rank is a run"
	done
	run 64 --nodes 2 --workers 2 ./covered
	gcov "$data" >said 2>&1
	is "$(line adds) $(line half)" "4032 64" \
		"those of several processes are added"
fi

if ! command -v clang >/dev/null || ! command -v llvm-profdata >/dev/null; then
	skip 1 "there is no clang, or no llvm-profdata"
elif ! "$vmpicc" -cc=clang -fprofile-instr-generate "$programs/cover.c" \
	-o clanged >err 2>&1; then
	skip 1 "clang has no profile runtime"
else
	run 64 --workers 2 -x LLVM_PROFILE_FILE=c-%m.profraw ./clanged
	llvm-profdata merge -o all.profdata ./*.profraw
	like "$(llvm-profdata show --all-functions --counts all.profdata)" \
		'Block counts: \[2016\]' "clang's counts, too"
fi
done_testing
