#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What is said when something goes wrong: who, what and where.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT

cat >fails.c <<'END_C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void again(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static void number_raise(const char *name)
{
	const struct {
		const char *name;
		int number;
	} all[] = {
		{ "TERM", SIGTERM }, { "USR1", SIGUSR1 }, { "SEGV", SIGSEGV },
		{ "FPE", SIGFPE },   { "HUP", SIGHUP },	  { "KILL", SIGKILL },
	};

	for (int i = 0; i < 6; i++)
		if (!strcmp(all[i].name, name))
			raise(all[i].number);
}

/* Raises it when the file "go" is there. */
static void late(const char *name, int mine)
{
	printf("waits\n");
	fflush(stdout);
	while (mine && access("go", F_OK))
		usleep(10000);
	if (mine)
		number_raise(name);
}

static void peer_wait(const char *how, int rank, int size)
{
	MPI_Request requests[2];
	int x[2], index;

	if (rank == size - 1)
		kill(getpid(), SIGKILL);
	MPI_Irecv(&x[0], 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
		  &requests[0]);
	MPI_Irecv(&x[1], 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, &requests[1]);
	if (!strcmp(how, "waitany"))
		MPI_Waitany(1, requests + 1, &index, MPI_STATUS_IGNORE);
	else if (!strcmp(how, "wait"))
		MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
	else if (!strcmp(how, "test"))
		for (index = 0; !index;)
			MPI_Test(&requests[1], &index, MPI_STATUS_IGNORE);
	else if (!strcmp(how, "barrier"))
		MPI_Barrier(MPI_COMM_WORLD);
	else
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	const char *what = argv[1];
	int rank, size, mine;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	mine = rank == size - 1;
	if (!strcmp(what, "again"))
		signal(SIGTERM, again);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(what, "raise") && mine)
		number_raise(argv[2]);
	if (!strcmp(what, "late"))
		late(argv[2], mine);
	if (!strcmp(what, "kill") && mine)
		kill(getpid(), SIGTERM);
	if (!strcmp(what, "abort") && mine)
		abort();
	if (!strcmp(what, "libc") && mine)
		return (int)strlen((char *)(size_t)argc + 8);
	if (!strcmp(what, "comm") && mine)
		MPI_Send(&rank, 1, MPI_INT, 0, 0, (MPI_Comm)0xdeadbeef000);
	if (!strcmp(what, "request") && mine)
		MPI_Wait(&(MPI_Request){ (MPI_Request)0x4321000 },
			 MPI_STATUS_IGNORE);
	if (!strcmp(what, "peer"))
		peer_wait(argv[2], rank, size);
	if (!strcmp(what, "crossed")) {
		printf("waits\n");
		MPI_Recv(&rank, 1, MPI_INT, 1 - rank, 99, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	}
	if (!strcmp(what, "wait") || !strcmp(what, "again")) {
		printf("waits\n");
		MPI_Recv(&rank, 1, MPI_INT, 0, 99, MPI_COMM_SELF,
			 MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
END_C
"$vmpicc" -g fails.c -o fails

# said CODE PATTERN ARGUMENT...: a job of four ranks ends with the code, and one
# line that is like the pattern.
said() {
	code=$1
	pattern=$2
	shift 2
	timeout 200 "$vmpirun" -n 4 "$@" </dev/null >out 2>err
	is $? "$code" "$*: the code is $code"
	like "$(cat err)" "^vmpirun: $pattern" "and it is said why" ||
		diag "$(cat err)"
	# The address sanitizer does not know the stacks of ranks.
	is "$(sed '/ASan is ignoring/,/sanitizers.issues/d' err | wc -l)" 1 \
		"in one line" || diag "$(cat err)"
}
where='in (.* of libc.so.6, called from )?([a-z_]+, fails.c:[0-9]+, called from )?main, fails.c:[0-9]+$'
for nodes in 1 2; do
	for pair in TERM:143 USR1:138 SEGV:139 FPE:136 HUP:129; do
		said ${pair#*:} "rank 3 raised SIG${pair%:*} $where" \
			--nodes $nodes ./fails raise ${pair%:*}
	done
	said 143 "rank 3 raised SIGTERM $where" --nodes $nodes ./fails kill
	said 134 "rank 3 called abort\(\) $where" --nodes $nodes ./fails abort
	said 139 "rank 3: SIGSEGV at address 0x[0-9a-f]+ $where" \
		--nodes $nodes ./fails libc
done
said 5 'rank 3: MPI_Send failed: MPI_ERR_COMM: .* 0xdeadbeef000 is not a comm' \
	./fails comm
said 7 'rank 3: MPI_Wait failed: MPI_ERR_REQUEST: .* 0x4321000 is not a req' \
	./fails request

# The others name the process that has died.
for how in waitall waitany wait test barrier; do
	timeout 200 "$vmpirun" -n 4 --nodes 2 --keep-going ./fails peer $how \
		</dev/null >out 2>err
	is $? 137 "$how: a process dies"
	like "$(cat err)" '^vmpirun: node 1 \(ranks 2-3, pid [0-9]+\) died of SIGKILL' \
		"vmpirun says which"
	like "$(cat err)" 'MPI_ERR_PROC_ABORTED.*: node 1 \(ranks 2-3\) has died|MPI_ERR_IN_STATUS.*: node 1 \(ranks 2-3\) has died' \
		"and who waits for it, too" || diag "$(cat err)"
done

# begin OPTION...: starts a job; $runner is vmpirun.
begin() {
	rm -f out err
	"$vmpirun" --deadlock=off --timeout 200 "$@" </dev/null >out 2>err &
	runner=$!
}

# waiting: the ranks of such a job have begun to wait.
waiting() {
	tries=0
	while [ $tries -lt 1000 ] && [ "$(grep -cs waits out)" != 2 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
}

# A vmpirun that sees all ends at once, as on a busy machine: the first one counts.
for pair in TERM:143 KILL:137; do
	rm -f go
	begin -n 2 --nodes 2 ./fails late ${pair%:*}
	waiting
	kill -STOP $runner
	touch go
	tries=0
	while [ $tries -lt 1000 ] &&
		[ "$(ps --ppid $runner -o stat= | grep -c Z)" != 2 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	kill -CONT $runner
	wait $runner
	is $? ${pair#*:} "the code is that of ${pair%:*}, which came first" ||
		diag "$(cat err)"
done

# switches PID...: how often threads of the processes have gone to sleep.
switches() {
	for switches_pid; do
		cat /proc/"$switches_pid"/task/*/status
	done | awk '/^voluntary_ctxt/ { sum += $2 } END { print sum }'
}

# A process that waits, and has nothing under way, sees another one's end though
# vmpirun does not say it, which is stopped.
for how in "--nodes 2" --processes; do
	begin -n 2 $how ./fails crossed
	waiting
	pids=$(pgrep -P $runner)
	before=
	tries=0
	while [ $tries -lt 200 ] && [ "$before" != "$(switches $pids)" ]; do
		tries=$((tries + 1))
		before=$(switches $pids)
		sleep 0.5
	done
	kill -STOP $runner
	kill -TERM "$(echo "$pids" | tail -n 1)"
	tries=0
	while [ $tries -lt 300 ] &&
		[ "$(ps --ppid $runner -o stat= | grep -c Z)" != 2 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	is "$(ps --ppid $runner -o stat= | grep -c Z)" 2 \
		"$how: an end is seen without vmpirun"
	kill -CONT $runner
	wait $runner
	is $? 143 "the code is that of the signal" || diag "$(cat err)"
done

# SIGUSR1 is a question.
for nodes in 1 2; do
	begin -n 2 --nodes $nodes ./fails wait
	waiting
	kill -USR1 "$(pgrep -P $runner | head -1)"
	kill -USR1 $runner
	tries=0
	while [ $tries -lt 1000 ] && ! grep -qs '^vmpirun: rank 1 ' err; do
		tries=$((tries + 1))
		sleep 0.1
	done
	is "$(pgrep -cP $runner)" $nodes \
		"a job without a handler for SIGUSR1 goes on (processes: $nodes)"
	like "$(cat err)" '^vmpirun: rank 1 .*receiving' "after a report"
	kill -TERM $runner
	wait $runner
	is $? 143 "until it is ended"
done
begin -n 2 --nodes 2 ./fails nothing
while kill -0 $runner 2>/dev/null; do
	# From the first line of vmpirun on; before, it is this shell.
	mask=$(sed -n 's/^Sig\(Cgt\|Blk\):[[:space:]]*/0x/p' \
		/proc/$runner/status 2>/dev/null | paste -sd '|' -)
	[ $(((${mask:-0}) >> 9 & 1)) = 1 ] && kill -USR1 $runner 2>/dev/null
done
wait $runner
is $? 0 "many reports while a job starts and ends do not hurt it"

# What went wrong and was put right is said to those who ask.
for level in warn info; do
	run 2 --nodes 2 --keep-going --set core_log=$level ./fails peer wait \
		>out 2>err
	is "$(grep -c '^vmpi: process 1 is given up' err)" \
		"$([ $level = info ] && echo 1 || echo 0)" \
		"core_log=$level: a process that is given up"
done

# A signal from outside that a rank raises again is nobody's fault.
begin -n 2 ./fails again
waiting
kill -TERM $runner
wait $runner
is $? 143 "a rank that cleans up at SIGTERM dies of it"
none "$(grep rank err)" "and is not blamed"

# While libfabric is loaded: the libraries behind it catch signals, and exit
# with 1 then.
for ms in 020 035 050 065 080 095 110 125; do
	begin -n 2 --nodes 2 ./fails wait
	tries=0
	while [ $tries -lt 1000 ] && [ "$(pgrep -cP $runner)" != 2 ]; do
		tries=$((tries + 1))
	done
	sleep 0.$ms
	kill -TERM "$(pgrep -P $runner | head -1)" 2>/dev/null
	wait $runner
	echo "$? $(cat err)"
done >early
none "$(grep -v '^143 vmpirun: node [01] .* died of SIGTERM$' early)" \
	"whoever is killed while it starts dies of that signal"
done_testing
