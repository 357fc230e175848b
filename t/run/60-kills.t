#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Node processes and vmpirun get signals at any moment.  The job ends with a
# report of who died and of what; or what needs the dead fails, and the rest goes
# on with the right data; and nothing is left behind.
# KILLS (default 12) is how many jobs, `60-kills.t 500` says it too; SEED repeats
# them, PROVIDER is the only one to be used.  `run-killer` alone repeats a single
# one, and has more knobs (killer.c).
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT
ulimit -c 0
killer=$VMPI_BUILD/t/run/run-killer
kills=${1:-${KILLS:-12}}
seed=${SEED:-$(date +%s)}
[ -x "$killer" ] || skip_all "the killer is not built"

build doomed doomed.c
set --
IFS=,
for provider in ${PROVIDER:-shm,net,tcp,tcp;ofi_rxm}; do
	unset IFS
	# "shm" is no provider: the processes share memory.
	set_provider="fabric_provider=$provider"
	[ "$provider" != shm ] || set_provider=fabric_shm=on
	out=$(timeout 200 "$vmpirun" -n 2 --nodes 2 --set \
		"$set_provider" ./doomed begin 0 1 1 2>&1 </dev/null)
	rc=$?
	case $out in
	*"no provider fits"*) continue ;;
	esac
	is "$rc: $out" "0: " "$provider: the job ends when nobody dies"
	set -- "$@" "$provider"
done
[ $# -gt 0 ] || skip_all "libfabric has no provider for several processes here"

mkdir files
diag "seed $seed (SEED=... repeats it), $kills jobs (KILLS=...)"
out=$(TMPDIR=$scratch/files "$killer" "$vmpirun" ./doomed "$kills" "$seed" "$@" 2>&1)
is $? 0 "whoever dies, whenever: all ends as it should"
diag "$out"
done_testing
