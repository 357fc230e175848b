#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench/helping.sh [ROUNDS [RUNS]]: how long a rank waits for messages that came
# while it computed, without and with collaborative polling (helping.c), in turn,
# and who moved them.  VMPI_BUILD: the build directory.
: "${src:=$(cd "$(dirname "$0")/.." && pwd)}"
: "${VMPI_BUILD:=$src/build}"
rounds=${1:-21} runs=${2:-3}
dir=$(mktemp -d) || exit 1
trap 'rm -r "$dir"' EXIT
export LC_ALL=C
"$VMPI_BUILD/vmpicc" -O2 -o "$dir/helping" "$src/bench/helping.c" || exit 1

median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

run=0
while [ $run -lt "$runs" ]; do
	for way in far near; do
		for help in 0 1; do
			timeout 120 "$VMPI_BUILD/vmpirun" -n 4 --nodes 2 \
				--workers 2 --summary \
				--set core_collaborative_polling=$help "$dir/helping" $way \
				"$rounds" >"$dir/out" 2>"$dir/err" || {
				cat "$dir/err" >&2
				exit 1
			}
			awk '/^computed/ { print $2, $5 }' "$dir/out" \
				>>"$dir/$way.$help"
			# Of all nodes: own, helped, bytes.
			cat "$dir/out" "$dir/err" | awk '
				function bytes_of(number, unit) {
					return number * 1024 ^ (index("BKMG",
						substr(unit, 1, 1)) - 1)
				}
				/events at ports handled/ {
					sub(/.*node [0-9]+: /, "")
					own += $1; helped += $9
					bytes += bytes_of($14, $15)
				}
				END { print own + 0, helped + 0, bytes + 0 }' \
				>"$dir/$way.$help.moved"
			cat "$dir/out" "$dir/err" | sed -n \
				"s/.*\(node [0-9]*: polls that.*\)/$way $help \1/p" \
				>"$dir/$way.$help.found"
		done
	done
	run=$((run + 1))
done
printf '%-5s %5s %12s %12s %7s %10s %10s %14s\n' from help 'computed us' \
	'waited us' gain 'own events' 'by others' 'bytes'
for way in far near; do
	without=$(cut -d' ' -f2 "$dir/$way.0" | median)
	for help in 0 1; do
		read -r own helped bytes <"$dir/$way.$help.moved"
		computed=$(cut -d' ' -f1 "$dir/$way.$help" | median)
		waited=$(cut -d' ' -f2 "$dir/$way.$help" | median)
		gain=$(awk "BEGIN { printf \"%.2f\", $without / ($waited + 1e-9) }")
		printf '%-5s %5d %12.0f %12.0f %7s %10d %10d %14d\n' $way $help \
			"$computed" "$waited" "$gain" "$own" "$helped" "$bytes"
	done
done
printf '\nWho found something at whose port (port N is that of worker N), unless all did at their own:\n'
cat "$dir"/*.found
