#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Strangers come to the ports of a job with packets of another job, as they were
# or changed, and with noise.  The provider may lose connections of the job for
# it; the job goes on, and every message arrives as it was sent.  Nothing is read
# from afar: `net` of libfabric 1.17 reports such a read twice, and frees it twice,
# if its connection is lost while its data arrive.
# JOBS (default 1) is how many jobs of each provider, VISITS how many visits in
# each; SEED repeats the visits.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT
stranger=$VMPI_BUILD/t/run/run-stranger
jobs=${JOBS:-1}
visits=${VISITS:-20}
seed=${SEED:-1}
[ -x "$stranger" ] || skip_all "the stranger is not built"

build visited visited.c

# PROVIDER JOB: one job, with strangers.
visited() {
	rm -f enough
	timeout 200 "$vmpirun" -n 6 --nodes 3 --set "fabric_provider=$1" \
		--set fabric_shm=off --set core_rndv_protocol=write ./visited enough >out 2>&1 </dev/null &
	timeout_pid=$!
	# timeout runs vmpirun as its only child.
	parent=
	while [ -z "$parent" ] && kill -0 $timeout_pid 2>/dev/null; do
		parent=$(cat /proc/$timeout_pid/task/$timeout_pid/children)
	done
	timeout 200 "$stranger" "$1" ${parent:-1} "$visits" \
		$((seed + $2)) enough >visits 2>&1
	rc=$?
	touch enough
	wait $timeout_pid
	set -- "$1" "$2" $?
	is "$3, $rc, $(grep -v '^[0-9]* rounds$' out)" "0, 0, " \
		"$1: job $2 is right whoever comes" || diag "$(cat out visits)"
}

diag "seed $seed (SEED=... repeats it), $jobs jobs (JOBS=...)"
for provider in net tcp "tcp;ofi_rxm"; do
	if ! timeout 200 "$stranger" "$provider" 0 0 0 enough >out 2>&1; then
		skip 1 "no stranger with $provider: $(cat out)"
		continue
	fi
	job=0
	while [ $job -lt "$jobs" ]; do
		job=$((job + 1))
		visited "$provider" $job
	done
done
done_testing
