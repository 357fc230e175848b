#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# bench/balance.sh [ROUNDS [STEPS [UNITS]]]
#
# Ranks that compute 1 to 8 times as long (uneven.c), 32 of them on two cores:
# vmpi without and with balancing, with a learned placement, and Open MPI, in
# turn.  Prints the least and the median of the seconds, the ideal, which is all
# ranks' processor time divided by two, and the span (see uneven.c) of the run
# with the least one: how much it is above the ideal does not depend on what else
# the machine has to do.
set -u
source=$(cd "$(dirname "$0")" && pwd)
: "${VMPI_BUILD:=$(dirname "$source")/build-bench}"
export LC_ALL=C VMPI_CONFIG=/dev/null
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
rounds=${1:-5} steps=${2:-200} units=${3:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$VMPI_BUILD/vmpicc" -O2 "$source/uneven.c" -o "$work/vmpi" || exit
if command -v mpicc.openmpi >/dev/null; then
	mpicc.openmpi -O2 "$source/uneven.c" -o "$work/openmpi" || exit
fi
vmpi() {
	timeout 300 "$VMPI_BUILD/vmpirun" -n 32 --workers 2 "$@" "$work/vmpi" \
		"$steps" "$units" 2>>"$work/said"
}
# One run of a way: its line.
one() {
	case $1 in
	off) vmpi ;;
	auto) vmpi --balance=auto ;;
	map) vmpi --map "$work/map" ;;
	cyclic) vmpi --map cyclic ;;
	openmpi)
		timeout 300 mpirun.openmpi --oversubscribe -n 32 \
			"$work/openmpi" "$steps" "$units" 2>>"$work/said"
		;;
	esac
}
vmpi --balance="learn=$work/map" >/dev/null
ways=(off auto map cyclic)
[ -x "$work/openmpi" ] && ways+=(openmpi)
for ((round = 0; round < rounds; round++)); do
	for way in "${ways[@]}"; do
		one "$way" >>"$work/$way.lines"
	done
done
printf '%-8s %8s %8s %8s %8s %8s  %s\n' way least median ideal span above result
for way in "${ways[@]}"; do
	sort -k2n "$work/$way.lines" | awk -v way="$way" '
		/^seconds/ {
			s[++n] = $2; bits = $8; above = 200 * $6 / $4 - 100
			if (n == 1 || above < best) {
				best = above; ideal = $4 / 2; span = $6
			}
		}
		END { if (n) printf "%-8s %8.3f %8.3f %8.3f %8.3f %7.1f%%  %s\n",
			way, s[1], s[int((n + 1) / 2)], ideal, span, best, bits }'
done
grep balance: "$work/said"
