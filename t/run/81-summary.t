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
build swaps swaps.c
build sections sections.c
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
	ok "$nodes: one of two cores has the load, of the job and the section" \
		awk '
		/parallel efficiency .*load balance/ {
			sub(/.*parallel efficiency/, "")
			product = $6 * $10 * $14 / 10000
			good += $6 < 75 && $6 >= 50 && $10 <= 100 && $14 <= 100 &&
				$1 < product + 0.2 && $1 > product - 0.2
		}
		END { exit good != 2 }' out || diag "$(cat out)"
	like "$(cat out)" '^vmpirun: section lopsided: parallel efficiency ' \
		"$nodes: the section by its name"
	job -n 2 --nodes $nodes --workers $((3 - nodes)) --summary --profile \
		--profile-json profile.json ./lopsided $ms
	none "$(grep 'parallel efficiency' out)" \
		"$nodes: with a profile it is in that"
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

# Transfers are told from waiting and computing: ranks that only send.
# Often enough that a core that stands still for 30 ms is none of the reasons.
job -n 2 --workers 1 --summary ./swaps 400000
ok "ranks that only send are in transfers" awk '
	/parallel efficiency/ { sub(/.*transfer/, ""); good = $1 < 90 }
	END { exit !good }' out || diag "$(cat out)"

# Sections within sections, some of one process only.
job -n 4 --nodes 2 --summary ./sections
is "$(sed -n 's/^vmpirun: section \(.*\): parallel .*/\1/p' out | sort)" \
	"even
odd
outer
outer/inner" "sections of all processes" || diag "$(cat out)"
done_testing
