#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# While the job runs: signals, the time limit, exit codes, and that nothing
# stays behind.  The node process is a script that writes down what it gets.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
vmpirun=$VMPI_BUILD/vmpirun
[ -x "$vmpirun" ] || skip_all "vmpirun is not built"
env --default-signal=INT true 2>/dev/null ||
	skip_all "env has no --default-signal"
unset MPIEXEC_TIMEOUT
cd "$scratch" || exit 1

# The node process runs its argument $1, a line of shell.  "ready" says that
# its traps are set.
cat >node <<'END'
#!/bin/sh
echo $$ >pid
shift
eval "$1"
END
# A program that is found; what runs is the node.
printf '#!/bin/sh\n' >program
chmod +x node program
export VMPI_NODE="$scratch/node"

# Sleeps in short pieces, since a shell sees a signal only between commands.
wait_long='touch ready; while :; do sleep 0.05; done'

# until COMMAND...: waits for it to hold, at most 10 s.
until_true() {
	tries=0
	while ! "$@" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || return 1
		sleep 0.05
	done
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

state_is() {
	grep -q "^State:[[:space:]]*$2" "/proc/$1/status"
}

# begin OPTIONS... -- SCRIPT: starts vmpirun, waits until the node is ready.
begin() {
	rm -f ready got pid out err
	env --default-signal=INT,TERM,HUP,QUIT "$vmpirun" -n 2 "$@" \
		</dev/null >out 2>err &
	run=$!
	until_true test -e ready || diag "the node process is not ready"
}

# end: waits for vmpirun, at most 15 s; its exit code is in $code.
end() {
	(
		sleep 15
		kill -KILL $run
	) 2>/dev/null &
	guard=$!
	# The shell says "Killed" and the like; not of interest.
	wait $run 2>/dev/null
	code=$?
	kill $guard 2>/dev/null
	wait $guard 2>/dev/null
}

now() {
	date +%s%N | cut -c 1-13
}

for status in 0 1 5 7 9 42 124 139 255; do
	timeout 100 "$vmpirun" ./program "exit $status" </dev/null
	is $? $status "a node process that exits with $status is passed on"
done

out=$(timeout 100 "$vmpirun" ./program 'kill -SEGV $$' </dev/null 2>&1)
is $? 139 "a node process that dies of SIGSEGV makes it 139"
like "$out" '^vmpirun: the node process \(pid [0-9]+\) died of SIGSEGV$' \
	"with a line that says so"
out=$(timeout 100 "$vmpirun" ./program 'kill -KILL $$' </dev/null 2>&1)
is $? 137 "SIGKILL makes it 137"
like "$out" 'SIGKILL; if nobody sent it' "with a hint"

for pair in INT:130 TERM:143 HUP:129 QUIT:131; do
	signal=${pair%:*}
	begin ./program "trap 'echo TERM >got; exit 3' TERM; $wait_long"
	kill -"$signal" $run
	end
	is $code "${pair#*:}" "SIG$signal ends the job with ${pair#*:}"
	is "$(cat got 2>/dev/null)" TERM "the node process gets SIGTERM"
	like "$(cat err)" "^vmpirun: SIG$signal: .* the next signal kills it$" \
		"and the user a line"
done

begin ./program "trap 'echo TERM >>got' TERM; $wait_long"
kill -INT $run
until_true test -s got
kill -INT $run
end
is $code 130 "a second SIGINT ends a job that does not want to"
like "$(cat err)" '^vmpirun: SIGINT again: killing the job$' "and says so"
ok "the node process is gone" until_true gone "$(cat pid)"

begin ./program "trap 'echo TERM >>got' TERM; $wait_long"
start=$(now)
kill -TERM $run
end
took=$(($(now) - start))
is $code 143 "a job that does not want to end is killed after a while"
ok "which is 5 s (took $took ms)" test $took -ge 4900 -a $took -lt 40000
like "$(cat err)" '^vmpirun: the job has not ended within 5 s' "and says so"

for signal in USR1 USR2; do
	begin ./program "trap 'echo $signal >got; exit 8' $signal; $wait_long"
	kill -$signal $run
	end
	is "$code $(cat got)" "8 $signal" "SIG$signal is passed on"
done

begin ./program "$wait_long"
pid=$(cat pid)
kill -TSTP $run
ok "SIGTSTP stops the node process" until_true state_is "$pid" T
ok "and vmpirun" until_true state_is $run T
kill -CONT $run
ok "SIGCONT continues the node process" until_true state_is "$pid" '[SR]'
kill -TERM $run
end
is $code 143 "which then ends as usual"

begin ./program "$wait_long"
pid=$(cat pid)
kill -STOP "$pid"
until_true state_is "$pid" T
kill -TERM $run
end
is $code 143 "a stopped node process can be ended"

start=$(now)
begin --timeout 0.7 ./program "trap 'echo TERM >got; exit 3' TERM; $wait_long"
end
took=$(($(now) - start))
is $code 124 "--timeout makes it 124"
is "$(cat got)" TERM "after a SIGTERM"
like "$(cat err)" '^vmpirun: the time limit of 0.7 s has expired' \
	"and a line with the limit"
ok "in time (took $took ms)" test $took -ge 700 -a $took -lt 30000

MPIEXEC_TIMEOUT=0.5
export MPIEXEC_TIMEOUT
start=$(now)
begin ./program "trap '' TERM; $wait_long"
end
took=$(($(now) - start))
is $code 124 "MPIEXEC_TIMEOUT is a time limit"
ok "SIGKILL follows after 1 s (took $took ms)" \
	test $took -ge 1500 -a $took -lt 30000
ok "and the node process is gone" until_true gone "$(cat pid)"
unset MPIEXEC_TIMEOUT

timeout 100 "$vmpirun" --timeout 5 ./program 'exit 6' </dev/null
is $? 6 "a job that ends in time has its own exit code"

begin ./program "$wait_long"
pid=$(cat pid)
kill -KILL $run
end
ok "when vmpirun is killed, the node process is gone" until_true gone "$pid"

timeout 100 "$vmpirun" ./program \
	'sleep 30 >/dev/null 2>&1 & echo $! >child; exit 0' </dev/null
ok "what the job has left behind is gone when vmpirun is" \
	until_true gone "$(cat child)"

# The processor time that vmpirun itself has used, in clock ticks.
ticks_used() {
	awk '{ print $14 + $15 }' "/proc/$run/stat"
}
begin ./program "$wait_long"
ticks=$(ticks_used)
sleep 1
ticks=$(($(ticks_used) - ticks))
kill -TERM $run
end
ok "vmpirun sleeps while it waits ($ticks ticks)" test "$ticks" -le 3

rm -f ready got pid out err
nohup "$vmpirun" -n 1 ./program "$wait_long" </dev/null >out 2>err &
run=$!
until_true test -e ready
kill -HUP $run
sleep 0.3
ok "under nohup SIGHUP does nothing" kill -0 $run
kill -TERM $run
end

(
	trap '' CHLD
	exec timeout 100 "$vmpirun" ./program 'exit 4' </dev/null
)
is $? 4 "a parent that ignores its children changes nothing"
done_testing
