#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs that are deadlocked say so by themselves and end; others never do.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT VMPI_CORE_SHARE VMPI_CORE_DEADLOCK
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "sanitizers have threads of their own, which may do anything" ;;
esac

build deadlock deadlock.c -fopenmp
${CC:-cc} -fopenmp -g -O1 -I"$VMPI_SRC/include" "$programs/deadlock.c" \
	-o ordinary -L"$VMPI_BUILD/lib" -lvmpi -Wl,-rpath,"$VMPI_BUILD/lib" ||
	exit 1

# hangs NAME ARGUMENT...: the job ends by itself, with the exit code and a line.
hangs() {
	hangs_name=$1
	shift
	timeout 60 "$vmpirun" "$@" </dev/null >out 2>err
	hangs_code=$?
	[ $hangs_code = 86 ] && grep -q '^vmpirun: deadlock: all ranks wait' err &&
		pass "$hangs_name" && return
	fail "$hangs_name"
	diag "exit code $hangs_code: $(cat err)"
}

# goes NAME ARGUMENT...: the job ends well, and nothing is said.
goes() {
	goes_name=$1
	shift
	{
		sleep 1
		echo
	} | timeout 200 "$vmpirun" "$@" >out 2>err
	is "$? $(cat err)" "0 " "$goes_name"
}

for kind in ring tag barrier sends probe waitsome finalize team; do
	hangs "$kind: in one process" -n 4 ./deadlock $kind
done
for kind in ring barrier sends; do
	hangs "$kind: in two" -n 4 --nodes 2 ./deadlock $kind
	hangs "$kind: each rank a process" --processes -n 3 ./ordinary $kind
done
hangs "many ranks on one worker" -n 40 --workers 1 ./deadlock ring
hangs "a rank that waits for itself" -n 1 ./deadlock ring
hangs "in four processes" -n 4 --nodes 4 ./deadlock barrier
hangs "over the network" -n 4 --nodes 2 --set fabric_shm=off \
	./deadlock barrier
hangs "over another provider" -n 4 --nodes 2 --set fabric_shm=off \
	--set 'fabric_provider=tcp;ofi_rxm' ./deadlock barrier
hangs "with rendezvous" -n 4 --nodes 2 ./deadlock sends
hangs "with rendezvous over another provider" -n 4 --nodes 2 \
	--set fabric_shm=off --set 'fabric_provider=tcp;ofi_rxm' ./deadlock sends
hangs "on a slow network" -n 4 --nodes 2 \
	--set fabric_link_latency_ns=1000000 ./deadlock tag

# What is said.
hangs "most are in one call" -n 4 ./deadlock barrier
is "$(sed -n 's/^vmpirun: //; 2,4p' err | sed 's/, at .*//')" \
	"3 of 4 wait in MPI_Barrier; rank 1 is elsewhere
rank 1           is in MPI_Recv: receiving from rank 0, tag 7, up to 4 bytes
ranks 0, 2-3     are in MPI_Barrier of all ranks" \
	"those that few do come first"
ok "the circle is named" grep -q \
	'^vmpirun: deadlock: rank 0 waits for rank 1, which waits for rank 0 (4 of 4' err
if "$VMPI_BUILD/vmpistat" --help >/dev/null && ! grep -q 'cannot be read' err; then
	ok "with the line of the program" grep -q \
		'MPI_Barrier of all ranks, at deadlock.c:[0-9]*$' err
else
	skip 1 "stacks cannot be read here"
fi
for nodes in 1 2; do
	hangs "another tag (processes: $nodes)" -n 4 --nodes $nodes ./deadlock tag
	is "$(grep -c '^vmpirun: rank [0-3] waits for tag 7 of rank [0-3], whose message of 4 bytes has tag 8$' err)" \
		4 "it is said which message nearly matches (processes: $nodes)"
	hangs "another source (processes: $nodes)" -n 3 --nodes $nodes \
		./deadlock source
	ok "and that it is of another rank (processes: $nodes)" grep -q \
		'^vmpirun: rank 0 waits for tag 7 of rank 1, but the message of 4 bytes with tag 7 is of rank 2$' err
	hangs "another communicator (processes: $nodes)" -n 2 --nodes $nodes \
		./deadlock communicator
	ok "and that it is of another communicator (processes: $nodes)" grep -q \
		'^vmpirun: rank 0 waits for tag 7 in communicator 0, but the message of 4 bytes with tag 7 is of communicator [1-9]' err
	hangs "Waitany (processes: $nodes)" -n 3 --nodes $nodes \
		./deadlock waitany
	ok "says what it waits for (processes: $nodes)" grep -q \
		'^vmpirun: rank 0 waits for one of several: a receive from rank 1, tag 3, communicator 0$' err
	ok "collectives too (processes: $nodes)" grep -q \
		'^vmpirun: rank 0 waits for one of several: MPI_Ibarrier of communicator 0$' err
	hangs "Waitall (processes: $nodes)" -n 3 --nodes $nodes \
		./deadlock waitall
	ok "names the collective (processes: $nodes)" grep -q \
		'^vmpirun: rank.* 0.* in MPI_Waitall: waiting for its MPI_Ibarrier of all ranks' err
done

# What is done.
timeout 20 "$vmpirun" --deadlock=off --timeout 2 -n 2 ./deadlock ring \
	</dev/null >out 2>err
is $? 124 "off: nobody looks"
ok "and nothing is said before the time limit" sh -c \
	'! grep -q "all ranks wait" err'
# reported NODES: it is said once, and the job lives on until it is ended.
reported() {
	timeout 300 sh -c 'echo $$ >pid; exec "$@"' start "$vmpirun" \
		--deadlock=report -n 2 --nodes "$1" ./deadlock ring </dev/null \
		>out 2>err &
	runner=$!
	tries=0
	until grep -q 'can never proceed' err; do
		tries=$((tries + 1))
		[ $tries -lt 1500 ] || break
		sleep 0.1
	done
	sleep 1
	kill -0 "$(cat pid)"
	alive=$?
	kill -TERM "$(cat pid)"
	wait $runner
	echo "$alive $(grep -c 'all ranks wait' err)"
}
is "$(reported 1)" "0 1" "report: the job lives on"
is "$(reported 2)" "0 1" "also with two processes"
timeout 20 "$vmpirun" --deadlock=maybe -n 2 ./deadlock ring >out 2>err
is "$? $(cat err)" \
	"2 vmpirun: --deadlock maybe: report, end or off is needed" \
	"other words are refused"
timeout 100 ./deadlock ring </dev/null >out 2>err
is "$? $(sed -n 2p err)" \
	"86 vmpirun: rank 0 waits in MPI_Recv for rank 0, tag 7, communicator 0" \
	"without vmpirun the process reports it"
timeout 100 ./ordinary ring </dev/null >out 2>err
is "$? $(sed -n 2p err)" \
	"86 vmpirun: rank 0 waits in MPI_Recv for rank 0, tag 7, communicator 0" \
	"and an ordinary executable"

# What is none.
for kind in reads sleeps computes polls thread timer openmp; do
	goes "$kind: goes on" -n 3 ./deadlock $kind
	goes "$kind: goes on in two processes" -n 3 --nodes 2 ./deadlock $kind
	goes "$kind: goes on where each rank is a process" --processes -n 3 \
		./ordinary $kind
done
goes "a process that is stopped goes on" -n 3 ./deadlock stopped
goes "so does one of two" -n 3 --nodes 2 ./deadlock stopped
goes "and one that is a rank" --processes -n 3 ./ordinary stopped

# A program with its own main, and tasks of its own.
cat >embed.c <<'EOF'
#include <stdio.h>
#include <vmpi.h>

static int task(void *arg)
{
	vmpi_sleep(1000000000);
	return vmpi_send(vmpi_world(), arg, sizeof(int), 1, 5);
}

static int body(void *arg)
{
	vmpi_task *child;
	int value = 0;

	(void)arg;
	if (vmpi_rank() == 0 && vmpi_spawn(&child, task, &value) == 0)
		return vmpi_recv(vmpi_world(), &value, sizeof(value), 1, 6,
				 NULL) + vmpi_join(&child, NULL);
	vmpi_recv(vmpi_world(), &value, sizeof(value), 0, 5, NULL);
	return vmpi_send(vmpi_world(), &value, sizeof(value), 0, 6);
}

int main(void)
{
	vmpi_config config = { .ranks = 2 };

	printf("%d\n", vmpi_run(&config, body, NULL));
	return 0;
}
EOF
${CC:-cc} -g -I"$VMPI_SRC/include" embed.c -o embed -L"$VMPI_BUILD/lib" \
	-lvmpi -Wl,-rpath,"$VMPI_BUILD/lib"
timeout 100 ./embed >out 2>err
is "$? $(cat out err)" "0 0" "tasks of an embedding program go on"
done_testing
