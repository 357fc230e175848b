#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A storm of messages among 32 ranks in 3 processes, by each provider there is.
# STORM_SECONDS (default 1) is how long each sends, STORM_BYTES (default 262144)
# how much at most; SEED repeats what can be.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
VMPI_NODE=$VMPI_BUILD/t/core/core-nodes
export VMPI_NODE
[ -x "$VMPI_NODE" ] || skip_all "the storm is not built"
limit=$((${STORM_SECONDS:-1} + 60))

# Arguments: provider, more options.
storm() {
	name=$*
	provider=$1
	shift
	out=$(timeout $limit "$VMPI_BUILD/vmpirun" -n 32 --nodes 3 \
		--workers 2 --set "fabric_provider=$provider" "$@" true 2>&1)
	rc=$?
	case $out in
	*"no provider fits"*)
		skip 2 "libfabric has no provider $provider here"
		return
		;;
	esac
	is $rc 0 "$name: the job ends" || diag "$out"
	is "$(echo "$out" | grep -c ': right ')" 18 "$name: all is right" ||
		diag "$out"
	diag "$(echo "$out" | grep received)"
}

storm net --set core_rndv_protocol=auto
storm net --set core_rndv_protocol=pipeline --set core_collaborative_polling=0
storm "tcp;ofi_rxm" --set core_rndv_protocol=write
storm shm --set fabric_shm=off
done_testing
