#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Signal handlers belong to ranks.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

build signals signals.c -pthread -Wno-infinite-recursion
for ranks in 1 4; do
	is "$(run $ranks ./signals own | sort)" \
		"$(seq 0 $((ranks - 1)) |
			sed 's/.*/rank &: calls 2 mine & old 1/')" \
		"a rank's handler runs in the rank, $ranks ranks"
done
is "$(run 4 ./signals fault | sort)" "rank 1 caught 11
rank 3 caught 11" "a rank may handle its own faults"
is "$(run 2 ./signals ignore | sort)" "rank 0 goes on
rank 1 goes on" "a rank may ignore a signal"
run 3 ./signals default >out 2>&1
is $? 143 "a signal with its default meaning ends the job"

case ${VMPI_SANITIZE:-none}-$(uname -m) in
none-x86_64)
	for workers in 1 2; do
		is "$(run 3 --workers $workers ./signals resume | sort)" \
			"$(seq 0 2 | sed 's/.*/rank &: 3 1/')" \
			"handlers of faults may wait for each other, $workers workers"
		is "$(run 3 --workers $workers ./signals overflow | sort)" \
			"$(for rank in 0 1 2; do
				echo "rank $rank: main 213"
				echo "rank $rank: thread 213"
			done)" \
			"each thread has its alternate stack, $workers workers"
	done
	;;
*) skip 4 "handlers on the stacks of ranks: not here" ;;
esac

# It goes to a process.
timeout 200 "$vmpirun" -n 3 --nodes 1 ./signals outside >out 2>err </dev/null &
job=$!
for i in $(seq 100); do
	pid=$(sed -n 's/^ready //p' err)
	[ -n "$pid" ] && break
	sleep 0.1
done
ok "the ranks are ready" test -n "$pid"
kill -USR1 "${pid:-$job}"
wait $job
is $? 0 "a signal from outside"
is "$(grep got err | sort)" "rank 0 got it
rank 1 got it" "goes to every rank that handles it"
# Faults that somebody else sends name all ranks and the sender.
build waits output.c
rm -f in out
# sent SIGNAL: starts a job and sends the signal to $to, "job" or "node", when it
# is there.
sent() {
	mkfifo in out
	"$vmpirun" -n 2 ./waits ask fflush <in >out 2>err &
	job=$!
	exec 3>in 4<out
	timeout 100 dd bs=1 count=4 <&4 >asked 2>dd.err
	node=$(cat /proc/$job/task/$job/children)
	node=${node% }
	[ "$to" = job ] && kill -"$1" $job || kill -"$1" "$node"
	wait $job
	code=$?
	exec 3>&- 4<&-
	rm in out
}
for signal in SEGV:139 BUS:135 FPE:136 ILL:132; do
	exits=${signal#*:}
	signal=${signal%:*}
	to=node
	sent $signal
	is "$code $(cat err)" "$exits vmpirun: the process of \
ranks 0 to 1 (pid $node) was sent SIG$signal from outside, by process $$" \
		"SIG$signal from outside names the ranks and the sender"
	to=job
	sent $signal
	like "$code $(cat err)" "^$exits vmpirun: SIG$signal was \
sent to vmpirun \(ranks 0 to 1\) from outside, by process $$: ending the job" \
		"also if vmpirun gets it"
done
done_testing
