#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Children of ranks: none of them is a rank, and none harms the job.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
ulimit -c 0
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "a sanitizer's runtime has threads and handlers of its own" ;;
esac

build forks forks.c -pthread
cc -g -I"$VMPI_SRC/include" "$programs/forks.c" -o ordinary \
	-L"$VMPI_BUILD/lib" -lvmpi -Wl,-rpath,"$VMPI_BUILD/lib" -pthread

# child END ARGUMENT...: how it ended, and all ranks go on.
child() {
	child_end=$1
	shift
	child_how=$(IFS=' ' && echo "$*")
	run 3 "$@" >out 2>err
	is "$? $(grep '^child' out)" "0 child $child_end" \
		"$child_how: the child $child_end"
	is "$(grep -c '^rank [012] done$' out) $(grep -c '^rank' out)" "3 3" \
		"$child_how: each rank goes on, once"
}

# Every kind of a child, and the end that it has in a process.
kinds="
sleep:exited with 1
print:exited with 3
part:exited with 2
_exit:exited with 4
null:died of 11
abort:died of 6
term:died of 15
exec:exited with 5
execvp:exited with 6
execle:exited with 7
exec-none:exited with 8
handler:exited with 9
segv-handler:exited with 9
thread:exited with 10
atexit:exited with 11
grandchild:exited with 12
pthread_exit:exited with 0
return:exited with 18
daemon:exited with 0
spawn:exited with 13
popen:exited with 14
vforkexec:exited with 15
vfork:exited with 16
system:exited with 17"

IFS='
'
for kind in $kinds; do
	how=${kind%%:*}
	end=${kind#*:}
	child "$end" --workers 1 ./forks "$how"
	none "$(cat err | grep -v '^handler$')" "$how: nothing is said"
	child "$end" --nodes 2 ./forks "$how"
done
unset IFS
for how in sleep print null exec thread pthread_exit return vforkexec; do
	end=$(echo "$kinds" | sed -n "s/^$how://p")
	# There, returning ends the thread.
	[ $how != return ] || end="exited with 0"
	[ $how != pthread_exit ] || end="exited with 0"
	child "$end" --workers 1 ./forks $how thread
done
for how in sleep print null exec return; do
	end=$(echo "$kinds" | sed -n "s/^$how://p")
	child "$end" ./ordinary $how
	child "$end" --processes ./ordinary $how
done
run 1 ./forks sleep >out 2>err
is "$? $(grep -c done out)" "0 1" "the only rank may have a child, too"

run 3 --workers 1 ./forks atexit >out 2>err
is "$(cat err)" handler "the handlers of the child's own rank run"
run 3 -l --workers 1 ./forks print >out 2>err
like "$(cat out)" '^\[2\] a line of the child$' \
	"what it prints bears the number of its rank"

# They may run on all processors, as the job.
build started started.c
run 1 ./started >out 2>err
bound=$(sed -n 's/^before //p' out)
for how in system spawn spawnp fork vfork popen; do
	is "$(sed -n "s/^$how //p" out)" "$(nproc)" \
		"$how: the process may use the processors of the job"
done
is "$(sed -n 's/^after //p' out)" "$bound" "the rank remains bound"

# The job does not hear of it.
for how in MPI_Send MPI_Barrier MPI_Abort MPI_Finalize; do
	for program in "--workers 1 ./forks" "--nodes 3 ./forks" \
		"--processes ./ordinary"; do
		child "exited with 16" $program $how
		like "$(cat err)" \
			"^vmpirun: $how was called by process [0-9]+, which fork" \
			"$how, $program: the child is told"
	done
done

# Exec without fork.
cat >execs.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char *words[] = { "echo", "another program", NULL };
	int rank;

	if (!strcmp(argv[2], "late")) {
		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		if (rank == 0)
			MPI_Barrier(MPI_COMM_WORLD);
	}
	if (!strcmp(argv[1], "execl"))
		execl("/bin/echo", "echo", "another program", (char *)0);
	if (!strcmp(argv[1], "execv"))
		execv("/bin/echo", words);
	if (!strcmp(argv[1], "execlp"))
		execlp("echo", "echo", "another program", (char *)0);
	if (!strcmp(argv[1], "execvp"))
		execvp("echo", words);
	return 9;
}
END
"$vmpicc" execs.c -o execs
for how in execl execv execlp execvp; do
	run 2 ./execs $how late >out 2>err
	is $? 1 "$how of a rank ends the job"
	like "$(cat err)" "^vmpirun: rank 1 called exec[a-z]*\(\"[a-z/]*echo\"\)" \
		"$how: and says why"
	is "$(cat out err | wc -l)" 1 "$how: in one line"
	is "$(run 1 ./execs $how early)" "another program" \
		"$how: the only rank of a job may, before MPI_Init"
done
run 2 --nodes 2 ./execs execl late >out 2>err
is "$? $(grep -c 'rank 1 called exec' err)" "1 1" "also alone in its process"
is "$(./execs execl early)" "another program" "and a program by itself"
done_testing
