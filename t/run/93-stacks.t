#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The call stacks of all ranks: vmpistat --stacks, and vmpirun's report of a job
# whose time is over.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
# Jobs that hang are looked at.
export VMPI_CORE_DEADLOCK=off
unset MPIEXEC_TIMEOUT VMPI_CORE_SHARE
vmpistat=$VMPI_BUILD/vmpistat
[ -n "$(command -v "$vmpicxx")" ] || skip_all "there is no C++ compiler"

build stacks stacks.cc

# at WORD: the line of the source with this comment.
at() {
	grep -n "// $1\$" "$programs/stacks.cc" | cut -d: -f1
}

# main's lines differ.
plain() {
	sed 's/\(main at stacks.cc\):[0-9]*/\1/'
}

until_true() {
	tries=0
	while ! "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 3000 ] || return 1
		sleep 0.1
	done
}

there() {
	[ "$(timeout 60 "$vmpistat" --states "$job" 2>/dev/null |
		grep -Ec 'MPI_Recv|MPI_Barrier')" = "$1" ]
}

# start LINES COMMAND...: runs a job in the background, until vmpistat has so
# many lines about ranks in their places.
start() {
	start_lines=$1
	shift
	rm -f pid
	timeout 500 sh -c 'echo $$ >pid; exec "$@"' start "$@" \
		</dev/null >out 2>raw &
	runner=$!
	until_true test -s pid
	job=$(cat pid)
	until_true there "$start_lines"
}

stop() {
	kill -TERM "$job"
	wait $runner
}

waits="rank 0, at:
    MPI_Recv
    wait_for at stacks.cc:$(at receives)
    main at stacks.cc
rank 1, at:
    MPI_Recv
    wait_for at stacks.cc:$(at receives)
    main at stacks.cc"
both="ranks 0-1, at:
    MPI_Recv
    wait_for at stacks.cc:$(at receives)
    main at stacks.cc"
meets="ranks 2-8, at:
    MPI_Barrier
    meet at stacks.cc:$(at meets)
    main at stacks.cc"
computes="rank 9, at:
    compute at stacks.cc:$(at computes)
    main at stacks.cc"

start 3 "$vmpirun" -n 10 --workers 2 ./stacks
timeout 100 "$vmpistat" --stacks "$job" >all 2>&1
case $(cat all) in
*'built without libdw'* | *'is not installed'* | *'is forbidden'*)
	stop
	skip_all "$(grep 'cannot be read' all)"
	;;
esac
is "$(sed 1d all | plain)" "$both
$meets
$computes" "ranks that wait, and one that runs; an inlined function; C++ names"
is "$(timeout 100 "$vmpistat" --stacks --rank 9 "$job" | sed 1d | plain)" \
	"$computes" "one rank"
is "$(timeout 100 "$vmpistat" --stacks --rank 0 "$job" | sed 1d | plain)" \
	"$(echo "$waits" | sed -n 1,4p)" "another one"
ok "the job goes on" sh -c "kill -0 $job && grep -q . all && ! grep -q . raw"
kill -USR1 "$job"
until_true grep -q 'compute at' raw
like "$(cat raw)" '^vmpirun: ranks 2-8, at:$' "SIGUSR1 shows the stacks too"
stop

start 3 "$vmpirun" -n 10 --nodes 2 --workers 2 --set core_export=keep ./stacks
is "$(timeout 100 "$vmpistat" --stacks "$job" | sed 1d | plain)" "$both
$meets
$computes" "two processes"
# Its files stay.
kill -KILL $(cat "/proc/$job/task/$job/children")
wait $runner
like "$(timeout 100 "$vmpistat" --stacks "$job" 2>&1)" \
	'^the stacks of process [0-9]+ cannot be read: it has died$' \
	"processes that have died"
"$vmpistat" --clean >clean

c++ -g -O1 -I"$VMPI_SRC/include" "$programs/stacks.cc" -o processes \
	-L"$VMPI_BUILD/lib" -lvmpi -Wl,-rpath,"$VMPI_BUILD/lib"
start 2 "$vmpirun" -n 3 ./processes
timeout 100 "$vmpistat" --stacks "$job" | sed 1d | plain >all
stop
is "$(cat all)" "$both
rank 2, at:
    compute at stacks.cc:$(at computes)
    main at stacks.cc" "ranks that are processes"

"$vmpicxx" -O1 "$programs/stacks.cc" -o bare && strip bare
start 3 "$vmpirun" -n 10 --workers 2 ./bare
timeout 100 "$vmpistat" --stacks "$job" >all 2>&1
stop
like "$(cat all)" '^ranks 2-8, at:$' "a program without symbols"
like "$(cat all)" '^    MPI_Barrier$' "has the names of calls"

# A busy machine may need longer to get there.
for limit in 2 15 100; do
	timeout 500 "$vmpirun" --timeout $limit -n 10 --workers 2 ./stacks \
		</dev/null >out 2>raw
	grep -q '^vmpirun:     compute at' raw && break
done
is "$(sed 's/^vmpirun: //; 1d' raw | grep -E 'at:$|^    ' | plain)" "$both
$meets
$computes" "the end of the time limit shows all stacks"
done_testing
