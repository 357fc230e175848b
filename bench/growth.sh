#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench/growth.sh [BUILD...]: what workers cost that have nothing to do (growth.c),
# 2 to 256 of them on this machine's cores.  With several builds in turn.
: "${src:=$(cd "$(dirname "$0")/.." && pwd)}"
: "${WORKERS:=2 16 64 256}" "${ROUNDS:=100000}"
export LC_ALL=C VMPI_CONFIG=/dev/null
[ $# -gt 0 ] || set -- "$src/build-bench"
dir=$(mktemp -d) || exit 1
trap 'rm -r "$dir"' EXIT
for build; do
	"$build/vmpicc" -O2 -o "$dir/growth" "$src/bench/growth.c" || exit
	for workers in $WORKERS; do
		for known in '' --known; do
			printf '%s, %s workers%s: ' "$build" "$workers" \
				"${known:+, all have sent}"
			# shellcheck disable=SC2086
			"$build/vmpirun" -n "$workers" --workers "$workers" \
				"$dir/growth" $known "$ROUNDS" || exit
		done
	done
done
