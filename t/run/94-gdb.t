#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# gdb's commands for ranks (bin/vmpi-node/vmpi-node-gdb.py): in a process, in a
# core file, and in a job that was started in gdb.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
# Jobs that hang are looked at.
export VMPI_CORE_DEADLOCK=off
unset MPIEXEC_TIMEOUT DEBUGINFOD_URLS
need gdb
[ "${VMPI_SANITIZE:-none}" = none ] ||
	skip_all "sanitizers do not like debuggers"
[ "$(gdb -batch -ex 'python print(1)' 2>/dev/null)" = 1 ] ||
	skip_all "this gdb has no Python"
build stacks stacks.cc

# debug COMMAND... -- ARGUMENT...: runs gdb with these commands.
debug() {
	: >commands
	while [ "$1" != -- ]; do
		echo "$1" >>commands
		shift
	done
	shift
	timeout 100 gdb -nx -q -batch \
		-iex "add-auto-load-safe-path $VMPI_BUILD" -x commands "$@" \
		</dev/null >said 2>&1
}

# The lines of a command, from the one that matches on.
from() {
	sed -n "/$1/,\$p" said
}

# A busy machine may need longer to get there.
places='^ *[0-9]* *\(receive\|collective\|running\).* in places::'
tries=0
timeout 500 "$vmpirun" -n 5 --workers 2 ./stacks </dev/null >out 2>err &
runner=$!
while [ "$(grep -c "$places" said 2>/dev/null)" != 5 ] && [ $tries -lt 100 ]; do
	sleep 0.2
	tries=$((tries + 1))
	child=$(cat "/proc/$runner/task/$runner/children")
	pid=$(cat "/proc/${child% }/task/${child% }/children" 2>/dev/null)
	[ -n "$pid" ] || continue
	debug "info ranks" -- -p "${pid% }"
done
case $(cat said) in
*'ptrace: '*) skip_all "$(grep ptrace: said)" ;;
esac
like "$(cat said)" '^. 0 +receive +MPI_Recv +in places::wait_for at .*stacks.cc:' \
	"a rank that waits: its state, its call and its place"
like "$(cat said)" '^. 3 +collective +MPI_Barrier +in places::meet at ' \
	"another one, in an inlined function"
like "$(cat said)" '^. 4 +running +in places::compute at .* \(thread [0-9]+\)$' \
	"one that runs"

debug "rank 1" "bt" "up" "info locals" 'print *$mine(&visited)' "rank 4" \
	"bt 1" 'print *$mine(&visited)' "rank 3" 'print *$mine(&visited)' \
	"rank off" "rank 99" -- -p "${pid% }"
like "$(from '^.rank 1: receive.$')" 'places::wait_for \(peer=.*\) at ' \
	"rank 1 selects the rank"
like "$(cat said)" '^#[0-9]+ .* main.* \(argc=.*stacks.cc:' \
	"its backtrace ends in main"
like "$(cat said)" '^rank = 1$' "its variables can be seen"
is "$(grep -c '^\$[123] = 10[143]$' said)" 3 "global variables of each rank"
like "$(from '^.rank 4: running, thread')" '^#0 .*places::compute' \
	"a rank that runs is a thread"
like "$(cat said)" '^rank 99 is not in this process$' \
	"there is no rank 99"

debug "rank apply all print 7" -- -p "${pid% }"
is "$(grep -c '^\$[1-5] = 7$' said)" 5 "a command for all ranks"
kill -TERM "$runner"
wait $runner

# A core file.
ulimit -c unlimited
pattern=$(cat /proc/sys/kernel/core_pattern)
if [ "$pattern" != core ] || [ "$(ulimit -c)" != unlimited ]; then
	skip 3 "core files go elsewhere: $pattern"
else
	run 4 --workers 2 ./stacks crash >out 2>err
	like "$(cat err)" 'rank 3: SIGSEGV at address 0x0' "a rank crashes"
	debug "info ranks" "rank 3" -- "$node" core
	like "$(cat said)" '^\* 3 +running +in places::compute at ' \
		"the core file shows where"
	like "$(from '^.rank 3: ')" 'places::compute \(go=.*0x0\)' "and with what"
fi
ulimit -c 0

timeout 200 "$vmpirun" --gdb -n 3 ./stacks >said 2>&1 <<'END'
break places::wait_for
run
info ranks
kill
quit
END
like "$(cat said)" 'hit Breakpoint .* places::wait_for' \
	"vmpirun --gdb starts a job in gdb, which knows functions of the program"
like "$(cat said)" '^. 0 .*in places::wait_for' "and the commands"
"$vmpirun" --gdb -n 4 --nodes 2 ./stacks >said 2>&1
is "$? $(grep -c 'gdb -p PID' said)" "2 1" "--gdb wants one process"
"$vmpirun" --gdb -n 4 --trace t.json ./stacks >said 2>&1
is "$? $(grep -c 'exclude' said)" "2 1" "--gdb leaves no report behind"
done_testing
