#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The progress agent moves messages between processes whose workers all compute,
# by each protocol, with shared memory and without; it does nothing when there is
# nothing to do, and leaves the watch to workers that go to sleep.  Started
# collectives end while the ranks compute, with an agent or a worker that idles.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"

export VMPI_CORE_PROGRESS=auto

"$VMPI_BUILD/vmpicc" -O1 -o "$scratch/agent" "$VMPI_SRC/t/run/programs/agent.c" ||
	bail "vmpicc fails"

# agent HOW RANKS OPTIONS...: what the program prints.
agent() {
	how=$1 ranks=$2
	shift 2
	rm -rf "$scratch/files"
	mkdir "$scratch/files"
	timeout 100 "$VMPI_BUILD/vmpirun" -n "$ranks" --nodes 2 --workers 1 \
		"$@" "$scratch/agent" "$how" "$scratch/files" 2>&1
}

# found NAME HOW RANKS OPTIONS...: it ends, and the agent has found something.
found() {
	name=$1
	shift
	out=$(agent "$@")
	case $out in
	"right, called "*" times, found "[1-9]*) pass "$name" ;;
	*)
		fail "$name"
		diag "$out"
		;;
	esac
}

for shm in on off; do
	for protocol in read write pipeline; do
		found "both sides compute: $protocol, fabric_shm=$shm" \
			long 2 --set core_rndv_protocol=$protocol \
			--set fabric_shm=$shm
	done
	found "one of two ranks computes, fabric_shm=$shm" waits 4 \
		--set fabric_shm=$shm
	found "a short message, core_progress=on, fabric_shm=$shm" short 2 \
		--set core_progress=on --set fabric_shm=$shm
	found "a window's memory, fabric_shm=$shm" reached 2 \
		--set fabric_shm=$shm
done
found "with a modelled network" long 2 --set fabric_link_latency_ns=1000000
found "on one worker among two processes that sleep at once" waits 4 \
	--set sched_spin_us=0
is "$(agent ping 2)" "right, called 0 times, found 0, helped 0" \
	"short messages do not call the agent"
is "$(agent long-one 2 --set core_progress=off)" \
	"right, called 0 times, found 0, helped 0" "an agent that is off is not called"
# Three in each of five rounds.
for setting in "1 on" "1 auto" "1 on --set fabric_shm=off" "2 on" "2 off"; do
	workers=${setting%% *} progress=${setting#* }
	out=$(agent started 2 --workers $workers \
		--set core_progress=$progress)
	like "$out" "^right, .*, helped 15$" \
		"started, both compute, --workers $workers, core_progress=$progress"
	out=$(agent started-short 2 --workers $workers \
		--set core_progress=$progress)
	like "$out" "^right, .*, helped 0$" \
		"who has started a short one needs no help for others, --workers $workers, core_progress=$progress"
done
for shm in on off; do
	is "$(agent leaves 2 --set core_progress=off --set fabric_shm=$shm \
		--set core_rndv_protocol=pipeline \
		--set core_rndv_fragment=4096)" \
		"right, called 0 times, found 0, helped 0" \
		"a sender ends when its pieces have left, fabric_shm=$shm"
done
done_testing
