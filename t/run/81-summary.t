#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vmpirun --summary: one table of the job, the same in one process and several;
# the efficiencies, there and of --profile, of a job all of whose load is one
# rank's.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
need python3
TMPDIR=$scratch
export TMPDIR
build lopsided lopsided.c
ms=400 # what others of the machine do between calls is less

job() {
	timeout 100 "$vmpirun" "$@" </dev/null >out 2>&1
}

# The rows of ranks, without their times: rank, sends, bytes, receives, bytes,
# collectives.
rows() {
	sed 's/^vmpirun: //' out | awk '$1 ~ /^[0-9]+$/ && NF >= 9 && !/ranks/ {
		n = NF
		print $1, $(n - 6), $(n - 5), $(n - 4), $(n - 3), $(n - 2), \
			$(n - 1), $n
	}'
}
for nodes in 1 2 3; do
	job -n 4 --nodes $nodes --summary ./lopsided $ms
	is $? 0 "$nodes: the job ends well" || diag "$(cat out)"
	is "$(rows)" "0 20 19.5 KiB 20 19.5 KiB 12
1 20 19.5 KiB 20 19.5 KiB 12
2 20 19.5 KiB 20 19.5 KiB 12
3 20 19.5 KiB 20 19.5 KiB 12" \
		"$nodes: its ranks are in order, their counts right" ||
		diag "$(cat out)"
	like "$(cat out)" '^vmpirun:   all .* 80 78.1 KiB +80 78.1 KiB +48$' \
		"$nodes: and their sum"
	none "$(awk '/node [0-9]+: / && $3 + 0 < last { print }
		/node [0-9]+: / { last = $3 + 0 }' out)" \
		"$nodes: nodes come by their number"
done
none "$(grep -E '[ ,]0 (B|KiB|sends|read|written|by others)' out)" \
	"what there was not is not listed"

# Of two cores one computes.
for nodes in 1 2; do
	job -n 2 --nodes $nodes --workers $((3 - nodes)) --summary \
		./lopsided $ms
	ok "$nodes: one of two cores has the load" awk '
		/parallel efficiency at most/ {
			found = 1
			good = $10 < 75 && $10 >= 50 &&
				$6 < $10 * $14 / 100 + 0.1 &&
				$6 > $10 * $14 / 100 - 0.1
		}
		END { exit !(found && good) }' out || diag "$(cat out)"
	like "$(cat out)" '^vmpirun: at most, as time in calls ' \
		"$nodes: the bound says why it is one"
	job -n 2 --nodes $nodes --workers $((3 - nodes)) --summary --profile \
		--profile-json profile.json ./lopsided $ms
	none "$(grep 'efficiency at most' out)" \
		"$nodes: with a profile there is no bound"
	like "$(cat out)" "^ *lopsided  +[0-9.]+ +[56][0-9.]+ " \
		"$nodes: but the efficiency of the section" || diag "$(cat out)"
	is "$(python3 - <<'END'
import json
job = json.load(open("profile.json"))
good = len(job["popMetrics"]) == 2
for p in job["popMetrics"]:
    product = (p["mpiLoadBalance"] * p["mpiSerializationEfficiency"] *
               p["mpiTransferEfficiency"])
    good = good and abs(product - p["parallelEfficiency"]) < 1e-4
    good = good and 0.5 <= p["mpiLoadBalance"] < 0.75
print(good)
END
)" True "$nodes: in JSON it is the product of its three parts" ||
		diag "$(cat profile.json)"
done

job -n 100 --workers 2 --summary ./lopsided 0
is "$(awk '$2 == "least" || $2 == "most" { print $2, $5, $NF }' out)" \
	"least 20 12
most 20 12" "of many ranks there are the least and the most" ||
	diag "$(cat out)"

job -n 4 --nodes 2 --keep-going --summary ./lopsided 0 dies
like "$(cat out)" '^vmpirun: 2 ranks on [0-9]+ workers? of node 0' \
	"who outlives another process says what it knows" || diag "$(cat out)"
done_testing
