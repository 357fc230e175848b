#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --map: where ranks go, and the mistakes in a file of places.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
vmpirun=$VMPI_BUILD/vmpirun
[ -x "$vmpirun" ] || skip_all "vmpirun is not built"
cp "$VMPI_BUILD/examples/hello" "$scratch/hello"
cd "$scratch" || exit 1

# The ranks of each worker, as the node processes print them.
map() {
	timeout 250 "$vmpirun" --workers 2 --display-map "$@" ./hello 2>&1 |
		sed -n 's/^vmpirun: \(.*worker.*\)$/\1/p' | sort
}

is "$(map -n 5)" "worker 0: 3 ranks: 0-2
worker 1: 2 ranks: 3-4" "by default neighbours share a worker"
is "$(map -n 5 --map block)" "$(map -n 5)" "which is block"
is "$(map -n 5 --map cyclic)" "worker 0: 3 ranks: 0,2,4
worker 1: 2 ranks: 1,3" "cyclic goes round the workers"
is "$(map -n 6 --nodes 2 --map cyclic)" "node 0: worker 0: 2 ranks: 0,4
node 0: worker 1: 1 rank: 2
node 1: worker 0: 2 ranks: 1,5
node 1: worker 1: 1 rank: 3" "and round the nodes first"
printf '# ranks place\n0-1 0:1\n\n2 1:0 # alone\n3 0:0\n4-7 1:1\n' >places
is "$(map --map places)" "node 0: worker 0: 1 rank: 3
node 0: worker 1: 2 ranks: 0-1
node 1: worker 0: 1 rank: 2
node 1: worker 1: 4 ranks: 4-7" "a file says it all: ranks, nodes, workers"
printf '0 0\n1 1\n2 0\n3 1\n' >nodes
is "$(map --map nodes)" "node 0: worker 0: 1 rank: 0
node 0: worker 1: 1 rank: 2
node 1: worker 0: 1 rank: 1
node 1: worker 1: 1 rank: 3" "without workers a node's ranks lie in blocks"
is "$(timeout 250 "$vmpirun" --workers 2 --map places ./hello | sort | sed -n '$p')" \
	"$(timeout 250 "$vmpirun" -n 8 ./hello | sort | sed -n '$p')" \
	"the program's numbers are the same"

# mistake TEXT MESSAGE NAME: a file with this text.
mistake() {
	printf "$1" >wrong
	out=$(timeout 250 "$vmpirun" --workers 2 -n 4 --map wrong ./hello 2>&1)
	is "$? $out" "2 $2" "$3"
}
mistake '0-3 0\nhm 0\n' \
	"vmpirun: wrong:2: 'hm': a rank or a range of ranks is needed, as 0-3" \
	"what is no rank is said with its line"
mistake '0-3\n' \
	"vmpirun: wrong:1: after the ranks NODE or NODE:WORKER is needed, as 0:1" \
	"so is a missing place"
mistake '0-3 0:0:0\n' \
	"vmpirun: wrong:1: after the ranks NODE or NODE:WORKER is needed, as 0:1" \
	"and one that is none"
mistake '3-0 0\n' \
	"vmpirun: wrong:1: ranks and nodes are numbered from 0 to 999999, the lower one first" \
	"and a range that runs backwards"
mistake '0-3 0\n2 0\n' "vmpirun: wrong:2: rank 2 has a place already" \
	"a rank has one place"
mistake '0-1 0\n3 0\n' "vmpirun: --map wrong: there is no line for rank 2" \
	"each rank has one"
mistake '# none\n' "vmpirun: --map wrong: the file places no ranks" \
	"a file without ranks is none"
mistake '0-4 0\n' "vmpirun: --map wrong: the file places 5 ranks, but the job has 4" \
	"-n and the file agree"
mistake '0-3 1\n' "vmpirun: --map wrong: node 0 gets no ranks; each node needs at least one" \
	"each node has a rank"
mistake '0-3 0:2\n' \
	"vmpi: the placement puts rank 0 on worker 2 of node 0, which has workers 0 to 1; --workers sets their number" \
	"the node knows its workers"
out=$(timeout 250 "$vmpirun" -n 4 --nodes 1 --map places ./hello 2>&1)
is "$? $out" "2 vmpirun: --map places: the file places 8 ranks, but the job has 4" \
	"a file for another job"
out=$(timeout 250 "$vmpirun" -n 8 --nodes 1 --map places ./hello 2>&1)
is "$? $out" "2 vmpirun: --map places: the file names node 1, but the job has nodes 0 to 0" \
	"a file for more nodes"
out=$(timeout 250 "$vmpirun" -n 4 --map blok ./hello 2>&1)
is "$? $out" \
	"2 vmpirun: --map blok: block, cyclic, or the name of a file is needed: No such file or directory" \
	"a word that is none"
out=$(VMPI_JOB_RANKS=4 VMPI_JOB_MAP=0x3 timeout 250 "$VMPI_BUILD/bin/vmpi-node/vmpi-node" ./hello 2>&1)
is "$? $out" \
	'2 vmpi: VMPI_JOB_MAP: "cyclic", or NODE[:WORKER][xCOUNT] with commas between is needed, with a place for each of 4 ranks; vmpirun makes it of --map' \
	"a node process checks what it is told"
done_testing
