#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ends of ranks, with others waiting for them, and alone.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
ulimit -c 0

now() {
	date +%s%N | cut -c 1-13
}

build ends ends.c -lm
# ends HOW CODE REGEX
ends() {
	start=$(now)
	run 3 ./ends "$1" >out 2>err
	code=$?
	took=$(($(now) - start))
	is $code "$2" "$1: the job's exit code is $2"
	like "$(cat err)" "^vmpirun: rank 2$3" "$1: the rank is named"
	# A sanitizer in vmpi itself does not know the stack of the handler.
	is "$(grep -vc -e 'ASan is ignoring' -e '^False positive' \
		-e '^For details see' err)" 1 "$1: in one line"
	ok "$1: at once ($took ms), not by its watchdog" \
		test $took -lt 20000
}
ends exit 5 " exited with status 5"
is "$(cat out)" handler "the rank's handlers have run"
ends _exit 6 " exited with status 6"
is "$(cat out)" "" "here they have not"
ends _Exit 7 " exited with status 7"
ends quick_exit 8 " exited with status 8"
ends return 9 " exited with status 9"
ends exit256 3 " exited with status 3"
ends thread 6 ".*thread.*exit\(6\)"
run 3 --nodes 3 ./ends thread >out 2>err
is "$? $(sed 's/ (in thread_exit, ends.c:[0-9]*)$//' err)" "6 vmpirun: rank 2: a thread other than its main thread called \
exit(6); ending the job" "thread: also when the rank has a process of its own"
ends null 139 ": SIGSEGV at address 0x0 in end, ends.c:[0-9]+, called from main"
ends overflow 139 " overflowed its stack of [0-9]+ KiB.*--stack"
ends abort 134 " called abort"
ends divide 136 ": SIGFPE"
ends MPI_Abort 7 ".*MPI_Abort"
ends unfinished 1 ".*without calling MPI_Finalize"
ends file 5 " exited with status 5"
is "$(cat written)" buffered "files are written out"

run 3 ./ends early >out 2>err
is "$? $(cat err)" "0 " "a program need not call MPI at all"
run 3 ./ends threads >out 2>err
is "$? $(cat err)" "0 " "threads of a rank belong to the rank"

# alone HOW CODE ERR
alone() {
	timeout 200 ./ends "$1" >out 2>err </dev/null
	is $? "$2" "$1: alone, the exit code is $2"
	[ -n "$3" ] || none "$(cat err)" "$1: alone, nothing is said"
}
alone exit 5
alone _exit 6
alone return 9
alone file 5
alone null 139 said
alone overflow 139 said
alone MPI_Abort 7 said
alone unfinished 1 said
alone early 0

if command -v addr2line >/dev/null; then
	mkdir -p alone
	cp "$node" alone/vmpi-node
	VMPI_NODE=$PWD/alone/vmpi-node run 2 ./ends null 2>err >out
	offset=$(sed -n 's/.*ends+\(0x[0-9a-f]*\)).*/\1/p' err)
	like "$(addr2line -f -e ends "$offset")" "^(end|main)$" \
		"addr2line finds the place of a fault"
else
	skip 1 "addr2line is not installed"
fi

# All ranks end with an error at once: whoever is first ends the job.
cat >fail.c <<'END_C'
#include <vmpi.h>
int main(void)
{
	vmpi_barrier(vmpi_world());
	return 3;
}
END_C
"$vmpicc" fail.c -o fail
codes=
for i in 1 2 3; do
	run 64 ./fail >/dev/null 2>&1
	codes="$codes $?"
done
is "$codes" " 3 3 3" "64 ranks that fail at the same time end the job"

# No code of MPI_Abort() looks like success, in one process or in several.
cat >aborts.c <<'END_C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1)
		MPI_Abort(MPI_COMM_WORLD, atoi(argv[1]));
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
END_C
"$vmpicc" aborts.c -o aborts
cc -I"$VMPI_SRC/include" aborts.c -o aborts-ordinary -L"$VMPI_BUILD/lib" \
	-lvmpi -Wl,-rpath,"$VMPI_BUILD/lib"
# The thread sanitizer must be in the program itself.
[ "${VMPI_SANITIZE:-none}" != thread ] || cp aborts aborts-ordinary
for pair in 0:1 1:1 7:7 255:255 256:1 257:1 263:7 512:1 -1:255 -256:1; do
	codes=
	for how in "./aborts" "--nodes 2 ./aborts" "--nodes 3 ./aborts" \
		"--processes ./aborts-ordinary"; do
		run 3 $how "${pair%:*}" >out 2>err
		codes="$codes $?"
	done
	want=${pair#*:}
	is "$codes" " $want $want $want $want" \
		"MPI_Abort(${pair%:*}) gives $want for any number of processes"
done

build leaves leaves.c -pthread
# Some of its threads end without a join.
export TSAN_OPTIONS="$TSAN_OPTIONS:report_thread_leaks=0"
for threads in 0 1 5; do
	for nodes in 1 2; do
		run 4 --nodes $nodes --workers 1 ./leaves $threads >out 2>err
		is "$? $(cat err)" "0 " \
			"$threads threads go on after main's pthread_exit(), $nodes nodes"
		for rank in 0 1 2 3; do
			is "$(grep "^rank $rank " out | tr '\n' ,)" \
				"rank $rank cleans first,rank $rank cleans last,rank $rank ends," \
				"rank $rank cleans up and ends"
		done
	done
done
timeout 200 ./leaves 2 >out 2>err </dev/null
is "$? $(cat err; tail -n 1 out)" "0 rank 0 ends" "so does a program by itself"
done_testing
