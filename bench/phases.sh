#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench/phases.sh [ROUNDS [BUILD]]: does tuning beat every setting that stays?
# phases.c with each of them by hand and with --tune=all, in turn; the table has
# medians of ROUNDS runs of half a minute each.  See bench/README.md.
: "${src:=$(cd "$(dirname "$0")/.." && pwd)}"
: "${BYTES:=49152}" "${BLOCKS:=32}" "${STREAMS:=9000}" "${EXCHANGES:=7000}"
: "${PHASES:=4}"
rounds=${1:-3} build=${2:-$src/build}
dir=$(mktemp -d) || exit 1
trap 'rm -r "$dir"' EXIT
export LC_ALL=C
"$build/vmpicc" -O3 -o "$dir/phases" "$src/bench/phases.c" || exit 1

eager="--set core_eager_limit=$BYTES"
settings() {
	cat <<END
default|
eager|$eager
eager, few credits|$eager --set fabric_credits=4
eager, memory kept|$eager --set fabric_pool_keep=16
read|--set core_rndv_protocol=read
write|--set core_rndv_protocol=write
pieces|--set core_rndv_protocol=pipeline
tuned|--tune=all
END
}

i=0
while [ $i -lt "$rounds" ]; do
	settings >"$dir/settings"
	while IFS='|' read -r name options; do
		timeout 300 "$build/vmpirun" -n 2 --nodes 2 --workers 1 \
			$options "$dir/phases" "$BYTES" "$BLOCKS" "$STREAMS" \
			"$EXCHANGES" "$PHASES" </dev/null >"$dir/out" || exit 1
		awk '{ print $2, $5, $8 }' "$dir/out" >>"$dir/of $name"
	done <"$dir/settings"
	i=$((i + 1))
done

# median FIELD NAME
median() {
	awk -v field="$1" '{ print $field }' "$dir/of $2" | sort -n |
		awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

printf '%-20s %10s %12s %8s\n' setting 'stream us' 'exchange us' 'run s'
while IFS='|' read -r name options; do
	printf '%-20s %10.0f %12.0f %8.1f\n' "$name" "$(median 1 "$name")" \
		"$(median 2 "$name")" "$(median 3 "$name")"
done <"$dir/settings"
