#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vmpirun --overlap: the sentence of advice names the rank, the section and the
# call where a solver's messages are not overlapped, and another one once that is
# mended.  No times are looked at.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT VMPI_OVERLAP_TABLE XDG_CONFIG_HOME

build sweep ../../../examples/sweep.c
# A plane takes so long by this table that what is lost stands out even where a
# busy machine makes the computing many times longer.
cat >table <<'END'
worker 1 20
worker 1048576 100000
node 1 200
node 1048576 100000
fabric 1 2000000
fabric 1048576 80000000
END
# An offer takes so long that it arrives while its receiver computes, even if
# that one was late.
export VMPI_FABRIC_LINK_LATENCY_NS=3000000 VMPI_FABRIC_LINK_BANDWIDTH=100M

# solver WAY PROTOCOL: two ranks, one per process, and nobody to help: no agent
# either.
solver() {
	timeout 250 "$vmpirun" -n 2 --nodes 2 --workers 1 \
		--set core_progress=off --set overlap_table="$scratch/table" \
		--set core_rndv_protocol="$2" --overlap=dir ./sweep "$1" 10 \
		</dev/null >out 2>&1
	is $? 0 "$1, $2: the answer is right" || diag "$(cat out)"
	advice=$(sed -n '/ not overlapped (/s/^vmpirun: //p' out)
}

# column RANK SIDE N: of the planes of a rank.
column() {
	awk -v side="$2" -v n="$3" '
		$1 == "row" && $2 == "solve" && $3 == side && $4 == "1M" {
			print $n
		}' "dir/rank.$1.txt"
}
transfers=5 same_call=12

# Whether what a rank has measured in its sections is longer than the steps took,
# as it says; half a ms is rounded.
too_long() {
	steps=$(sed -n 's/.* ranks, \([0-9.]*\) ms each,.*/\1/p' out)
	awk -v ms="$steps" '
		$1 == "section" && $2 != "/" { sum += $4 + $5 }
		END {
			if (!sum || sum > (10 * ms + 0.5) * 1e6)
				print sum / 1e6 " ms of " 10 * ms
		}' dir/rank.1.txt
}

solver late read
like "$advice" '^rank 1: [0-9]+ % of the transfer time of its receives of 128K to 1M in section' \
	"late: the rank, the side and the size"
like "$advice" 'in section solve was not overlapped .* there was spent in MPI_Recv:' \
	"the section and the call"
like "$advice" 'post receives earlier .* V >= 3 ranks per core$' \
	"and what helps"

solver posted read
like "$advice" '^rank 1: .*receives .*in section solve .* spent in MPI_Wait:' \
	"posted before: the wait is to blame"
like "$advice" 'only during the wait; call MPI_Test or MPI_Iprobe while computing' \
	"and probing would help"
none "$(too_long)" "sections last no longer than the program"
is "$(column 1 receive $transfers)" 10 "a plane is one transfer"
ok "most planes are moved within one call" \
	test "$(column 1 receive $same_call)" -gt 5

solver probed read
is "$(column 1 receive $transfers)" 10 "with probing too"
ok "now some come while the rank computes" \
	test "$(column 1 receive $same_call)" -lt 10
none "$(printf '%s\n' "$advice" | grep 'MPI_Wait: the data move only')" \
	"and nobody is told to probe who does"

solver posted write
like "$advice" ' of 128K to 1M in section solve .* spent in MPI_Wait: the data is transferred only' \
	"when the sender moves the data, too, and has to wait for the request"
done_testing
