#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vmpirun's report of the ranks at SIGUSR1, and when the time limit is over.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
# Jobs that hang are looked at.
export VMPI_CORE_DEADLOCK=off
unset MPIEXEC_TIMEOUT VMPI_CORE_SHARE

build stat stat.c

# Waits until the command succeeds.
until_true() {
	tries=0
	while ! "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 3000 ] || return 1
		sleep 0.1
	done
}

# Without the stacks, which may be unknown: 93-stacks.t is about them.
states() {
	sed 's/^vmpirun: //' | grep -Ev ', at:$|^    |^the stacks of process|with [0-9]* other stacks$|moving$|has not ended within'
}

has() {
	timeout 120 "$VMPI_BUILD/vmpistat" --states "$job" 2>/dev/null |
		grep -q "$1"
}

# Starts a job with these arguments, sends SIGUSR1 when vmpistat sees the pattern,
# and ends it when something was said; that is in err, without vmpirun's name.
shown() {
	pattern=$1
	shift
	rm -f pid
	timeout 500 sh -c 'echo $$ >pid; exec "$@"' start "$vmpirun" "$@" \
		</dev/null >out 2>raw &
	runner=$!
	until_true test -s pid
	job=$(cat pid)
	until_true has "$pattern"
	kill -USR1 "$job"
	until_true grep -q . raw
	# It is said line by line.
	until_true sh -c 'was=$(cat raw); sleep 0.3; [ "$was" = "$(cat raw)" ]'
	states <raw >err
	kill -0 "$job"
	alive=$?
	kill -TERM "$job"
	wait $runner
}

circle="rank 0           is in MPI_Recv: receiving from rank 1, tag 7, up to 4 bytes
rank 1           is in MPI_Probe: waiting for a message from rank 2, any tag (probe)
rank 2           is in MPI_Wait: waiting for its receive from rank 0, tag 9, up to 8 bytes
ranks 3-39       are in MPI_Barrier of all ranks
deadlock: rank 0 waits for rank 1, which waits for rank 2, which waits for rank 0 (40 of 40 ranks can never proceed)"

for nodes in 1 2; do
	shown '40 of 40' -n 40 --nodes $nodes ./stat circle
	is "$(cat err)" "$circle" \
		"SIGUSR1 shows what ranks do, and a deadlock (processes: $nodes)"
	is $alive 0 "and the job goes on"
done

shown '^rank 3 .* MPI_Barrier' -n 5 ./stat sleeps
ok "who only sleeps is no deadlock" sh -c '
	grep -q "^rank 4  *is sleeping" err && ! grep -q "^deadlock" err' || cat err

shown '100 of 100' -n 100 ./stat ring
is "$(grep '^rank' err)" "ranks 0-99       are in MPI_Recv: receiving from \
rank + 1 (mod 100), tag 8, up to 4 bytes" "many ranks that do the same are a line"
ok "a long circle is cut" grep -q \
	'which waits for 96 more, the last of which waits for rank 0 (100 of 100' err

# A busy machine may need longer to get there.
for limit in 2 15 100; do
	timeout 500 "$vmpirun" --timeout $limit -n 40 ./stat circle </dev/null \
		>out 2>raw
	code=$?
	grep -q '^vmpirun: deadlock' raw && break
done
is $code 124 "a job that hangs ends with the time limit"
is "$(states <raw | sed 1d)" "$circle" "after the same was said"
timeout 500 "$vmpirun" --timeout 1 -n 2 --set core_export=off ./stat ring \
	</dev/null >out 2>raw
is "$? $(grep -vc "has not ended within" raw)" "124 1" "what cannot be seen is not said"
done_testing
