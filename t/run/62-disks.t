#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# File systems without room, and files in shared memory: what is lost is said,
# and what is dead is removed.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

cat >prints.c <<'END_C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int rank, lines = argc > 1 ? atoi(argv[1]) : 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < lines; i++)
		printf("rank %d prints line %d\n", rank, i);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < lines; i++)
		MPI_Sendrecv(&i, 1, MPI_INT, rank, 0, &(int){ 0 }, 1, MPI_INT,
			     rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
END_C
"$vmpicc" prints.c -o prints
cc -I"$VMPI_SRC/include" prints.c -o ordinary -L"$VMPI_BUILD/lib" -lvmpi \
	-Wl,-rpath,"$VMPI_BUILD/lib"
# The thread sanitizer must be in the program itself.
[ "${VMPI_SANITIZE:-none}" != thread ] || cp prints ordinary
mkdir disk

# full SCRIPT: a line of shell with a small file system as ./disk.
full() {
	timeout 200 unshare -rm sh -c \
		'mount -t tmpfs -o size=64k none disk && eval "$1"' full "$1" \
		</dev/null >out 2>err
}
no_room='No space left on device'

if full 'echo x >disk/x && test -s disk/x'; then
	for how in "./prints" "--nodes 2 ./prints" "--processes ./ordinary"; do
		full "$vmpirun -n 2 --output disk/files $how 2000"
		is $? 1 "$how: lost output of --output is a failure"
		like "$(cat err)" "^vmpirun: .*/disk/files/rank\.[01]\.out: $no_room" \
			"with the name of a file and the reason" ||
			diag "$(cat err)"
		none "$(grep -v "rank\.[01]\.out: $no_room" err)" "and nothing else"
	done
	full "$vmpirun -n 2 --output disk/files ./prints 2000"
	is "$(wc -l <err)" 1 "once, however many files there are"
	full "$vmpirun -n 2 ./prints 2000 >disk/all"
	is $? 1 "the same for standard output"
	like "$(cat err)" "^vmpirun: .*/disk/all: $no_room" "with its name"
	full "$vmpirun -n 2 -l --processes ./ordinary 2000 >disk/all"
	is $? 1 "and for output with labels"
	like "$(cat err)" "^vmpirun: .*/disk/all: $no_room" "with its name"
	full "$vmpirun -n 2 --output disk/files ./prints 10 && wc -l disk/files/rank.*.out"
	is "$(awk 'END { print $1 }' out)" 20 "what has room is there" ||
		diag "$(cat err)"

	full "$vmpirun -n 2 --trace disk/trace ./prints"
	is $? 1 "a trace without room is a failure"
	like "$(cat err)" "/disk/trace.*: $no_room" "with name and reason"
	full "head -c 20000 /dev/zero >disk/x
		$vmpirun -n 2 --workers 1 --set trace_bytes=16K --trace disk/trace.json ./prints 100"
	is $? 1 "also if only the text has none"
	like "$(cat err)" "/disk/trace.json: $no_room" "with name and reason"
	full "TMPDIR=$scratch/disk $vmpirun -n 2 --profile ./prints"
	is $? 1 "a profile without room is a failure"
	like "$(cat err)" "/disk/.*profile.*: $no_room" "with name and reason"
	full "head -c 60000 /dev/zero >disk/x; head -c 4000 /dev/zero >disk/y
		$vmpirun -n 2 --profile --profile-json disk/json ./prints"
	is $? 1 "so is its JSON"
	like "$(cat err)" "disk/json: $no_room" "with name and reason"
	printf '%s\n' 'worker 1 20' 'worker 1048576 100000' 'node 1 200' \
		'node 1048576 100000' 'fabric 1 5000' 'fabric 1048576 400000' >table
	for free in 0 2 8 16; do
		full "head -c $(((16 - free) * 4096)) /dev/zero >disk/x
			$vmpirun -n 2 --set overlap_table=$scratch/table \
			--overlap=disk/overlap ./prints 100"
		echo "$? $(grep -c "disk/overlap.*: $no_room" err)"
	done >overlaps
	is "$(sort -u overlaps)" "1 1" \
		"overlap without room is a failure, with name and reason"
	none "$(grep -E 'SIGBUS|SIGSEGV|rank [0-9]' err)" "no rank is blamed"
else
	skip 25 "no mount namespace with a file system of its own: $(head -1 err)"
fi

# Files in shared memory.
shares() {
	ls /dev/shm | grep "^vmpi\.$(id -u)\.$1\.[0-9]*$"
}

# begin OPTION...: starts a job that waits for ever; its name is in $job.
begin() {
	rm -f pid out
	timeout 200 sh -c 'echo $$ >pid; exec "$@"' start "$vmpirun" -n 4 \
		--deadlock=off "$@" ./waits </dev/null >out 2>err &
	runner=$!
	tries=0
	while [ $tries -lt 1000 ] && [ "$(grep -cs waits out)" != 4 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	job=$(cat pid)
}

# nodes: the node processes of the job.
nodes() {
	pgrep -P "$job"
}

cat >waits.c <<'END_C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	printf("waits\n");
	MPI_Recv(&argc, 1, MPI_INT, 0, 99, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	return 0;
}
END_C
"$vmpicc" waits.c -o waits
for count in 1 2; do
	begin --nodes $count
	is "$(shares "$job" | wc -l)" $count "each process has a file"
	kill -KILL $(nodes | head -1)
	wait $runner 2>/dev/null
	is "$(shares "$job")" "" "no file stays when one is killed ($count)"
done
begin --nodes 2 --set core_export=keep
kill -KILL $(nodes | head -1)
wait $runner 2>/dev/null
ok "unless the files are to be kept" test -n "$(shares "$job")"
kept=$job

begin --nodes 2
left=$(nodes)
kill -KILL "$job"
wait $runner 2>/dev/null
for pid in $left; do
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
done
run 1 ./prints >out 2>&1
is "$(shares "$job")" "" "if vmpirun is killed, the next job removes them"
ok "what is to be kept stays" test -n "$(shares "$kept")"
"$VMPI_BUILD/vmpistat" --clean >cleaned
is "$(shares "$kept")" "" "until vmpistat --clean"
# What is left by a job of which everything was killed goes with the next one.
cat >leaves.c <<'END_C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char port[MPI_MAX_PORT_NAME];

	MPI_Init(&argc, &argv);
	MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Publish_name(argv[1], MPI_INFO_NULL, port);
	printf("%s\n", port);
	fflush(stdout);
	return getchar();
}
END_C
"$vmpicc" leaves.c -o leaves
mkdir temporary
# left NAME: starts a job with --profile and waits until it is there; $job.
left() {
	mkfifo in.$1 out.$1
	TMPDIR=$scratch/temporary "$vmpirun" -n 1 --profile ./leaves $1 \
		<in.$1 >out.$1 2>err.$1 &
	job=$!
	exec 3>in.$1
	head -n 1 out.$1 >port
}
notices() {
	for notice in /dev/shm/vmpi-*."$(id -u)".*; do
		grep -q "^left-$$" "$notice" 2>/dev/null && echo "$notice"
	done
}
next() {
	TMPDIR=$scratch/temporary timeout 200 "$vmpirun" -n 1 --profile true \
		</dev/null >out 2>&1
}
left "left-$$"
touch -d '1 hour ago' temporary/*
next
is "$(ls temporary | wc -l) $(notices | wc -l)" "1 1" \
	"files of a job that runs stay"
node=$(cat /proc/$job/task/$job/children)
kill -KILL $job $node
wait $job 2>/dev/null
soon_end=$(($(date +%s) + 60))
while kill -0 $node 2>/dev/null && [ "$(date +%s)" -lt $soon_end ]; do sleep 0.1; done
exec 3>&-
is "$(ls temporary | wc -l)" 1 "those of one that was killed are left behind"
touch -d '1 hour ago' temporary/*
next
is "$(ls temporary | wc -l) $(notices | wc -l)" "0 0" \
	"until the next job"
done_testing
