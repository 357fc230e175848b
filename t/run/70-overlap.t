#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vmpirun --overlap: which transfers are counted where, by protocol, in several
# processes and in one; reports; what is refused.  No times are looked at.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT VMPI_OVERLAP_TABLE XDG_CONFIG_HOME

build overlap overlap.c
cat >table <<'END'
worker 1 20
worker 1048576 100000
node 1 200
node 1048576 100000
fabric 1 5000
fabric 1048576 400000
END

job() {
	timeout 250 "$vmpirun" --set overlap_table="$scratch/table" "$@" \
		</dev/null >out 2>&1
}

# sum RANK SECTION SIDE COLUMN [BIN]: over the rows of a rank's report; up to 1K
# there are messages of collective operations too.
sum() {
	awk -v section="$2" -v side="$3" -v column="$4" -v bin="$5" '
		$1 == "row" && $2 == section && $3 == side &&
		(bin == "" ? $4 != "1K" : $4 == bin) { sum += $column }
		END { print sum + 0 }' "dir/rank.$1.txt"
}
transfers=5 bytes=6 same_call=12 half=13 open=15

# Rows whose numbers are out of order.
unsorted() {
	awk '$1 == "row" && ($8 > $9 || $9 > $7 || $10 > $11 || $11 > $7)' \
		dir/rank.*.txt
}

for protocol in read write pipeline; do
	job -n 4 --nodes 2 --workers 1 --set core_rndv_protocol=$protocol \
		--overlap=dir ./overlap 300000
	is $? 0 "$protocol: the job ends well" || diag "$(cat out)"
	is "$(sum 0 loop send $bytes)" 3000000 "within a process all is counted"
done

# Ranks 0 and 1 in different processes.
for protocol in read write pipeline; do
	job -n 2 --nodes 2 --workers 1 --set core_rndv_protocol=$protocol \
		--set core_rndv_fragment=64K --overlap=dir ./overlap 300000
	is $? 0 "$protocol between processes: the job ends well" ||
		diag "$(cat out)"
	is "$(sum 0 loop send $bytes)" 3000000 "the sender counts all bytes"
	is "$(sum 1 loop receive $bytes)" 3000000 "so does the receiver"
	if [ $protocol = pipeline ]; then
		ok "in pieces, at the sender" \
			test "$(sum 0 loop send $transfers)" -gt 10
		ok "and at the receiver" \
			test "$(sum 1 loop receive $transfers)" -gt 10
	else
		is "$(sum 0 loop send $transfers)" 10 "each message once"
		is "$(sum 1 loop receive $transfers)" 10 "at the receiver too"
	fi
	is "$(sum 0 loop send $open) $(sum 1 loop receive $open)" "0 0" \
		"none stays open"
	none "$(unsorted)" "minimum, maximum and transfer time are in order"
done

job -n 2 --nodes 2 --workers 1 --overlap=dir ./overlap 5000
is "$(sum 0 loop send $transfers) $(sum 1 loop receive $transfers)" "10 10" \
	"eager: both sides count each message"
is "$(sum 1 loop receive $half)" 10 "the receiver knows only the end"

job -n 2 --workers 1 --overlap=dir ./overlap 5000
is "$(sum 0 loop send $same_call)" 10 "on one worker: within one call"
grep -q '^call MPI_Wait 10 ' dir/rank.0.txt
is $? 0 "calls are counted by function"
none "$(grep MPI_Comm_rank dir/rank.0.txt)" "what only looks is no call"
like "$(cat out)" '^vmpirun: overlap of 2 ranks on 1 worker in 1 process' \
	"the merged table is printed"
like "$(cat out)" '^vmpirun: (rank [01]: |no rank |all transfers )' \
	"with a sentence of advice"
is "$(sed 's/^vmpirun: //' out | head -n 1)" "$(head -n 1 dir/overlap.txt)" \
	"and is in the directory"
if command -v python3 >/dev/null 2>&1; then
	ok "all JSON is JSON" python3 -c '
import glob, json
for path in glob.glob("dir/*.json"):
    assert json.load(open(path))["format"] == "vmpi-overlap 1"'
else
	skip 1 "there is no python3"
fi

job -n 2 --workers 2 --overlap=dir ./overlap 2000000
is "$(sum 0 loop send $bytes more)" 20000000 "sizes have bins"

job -n 2 --workers 1 --overlap=dir ./overlap 5000 pcontrol
is $? 0 "MPI_Pcontrol opens and closes sections" || diag "$(cat out)"
is "$(sum 0 outer/inner send $transfers)" 1 "which nest"
is "$(sum 0 / send $transfers) $(sum 0 outer send $transfers)" "0 0" \
	"and switches off and on"

job -n 4 --nodes 2 --workers 1 --overlap=dir ./overlap 5000 die
is $? 137 "when a process dies the code is that of the death"
is "$(sum 0 loop send $transfers) $(sum 3 loop receive $transfers)" "10 10" \
	"and nothing that was measured is lost" || diag "$(cat out)"

job -n 1 --workers 1 --overlap=dir ./overlap 8 none
is "$(cd dir && echo rank.*.txt)" rank.0.txt "an older report is removed"

out=$("$VMPI_BUILD/vmpi_info" --overlap=dir)
is "$? $out" "0 $(cat dir/overlap.txt)" "vmpi_info shows the report again"
out=$("$VMPI_BUILD/vmpi_info" --overlap="$scratch/nothing" 2>&1)
is "$? $out" "2 vmpi_info: --overlap=$scratch/nothing: there are no measurements \
of a job" "where there is none it says so"

export VMPI_OVERLAP_TABLE="$scratch/measured"
timeout 250 "$VMPI_BUILD/vmpi_info" --calibrate >out 2>&1
is $? 0 "transfers can be measured" || diag "$(cat out)"
is "$(awk '/^[a-z]/ { print $1 }' measured | uniq | tr '\n' ' ')" \
	"worker node fabric " "in all three ways"
unset VMPI_OVERLAP_TABLE
timeout 250 "$vmpirun" -n 2 --nodes 2 --set overlap_table="$scratch/measured" \
	--overlap=dir ./overlap 5000 >out 2>&1
is $? 0 "and the table that was written is one" || diag "$(cat out)"

HOME=$scratch job -n 2 --set overlap_table= --overlap=dir ./overlap
is $? 2 "without a table the job does not start"
is "$(cat out)" "vmpi: $scratch/.config/vmpi-xfer.table: No such file or \
directory; bounds on overlap need the table of transfer times that vmpi_info \
--calibrate writes" "and one line says what is missing"
echo 'node 5' >>table
job -n 2 --overlap=dir ./overlap
is "$? $(cat out)" "2 vmpi: $scratch/table:7: a line is PATH BYTES NANOSECONDS, \
such as \"worker 1024 250\"" "a malformed one is refused with file and line"
job -n 2 --overlap= ./overlap
is $? 2 "a directory has a name"

sed -i '$d' table
build direct direct.c -ldl
build relro direct.c -ldl -Wl,-z,relro,-z,now
for program in direct relro; do
	for ranks in 1 2; do
		job -n $ranks ./$program
		is "$(grep -c 'past the entry$' out)" $ranks \
			"$program, $ranks ranks unwatched: no entry in the way"
		job -n $ranks --overlap ./$program
		is "$(grep -c 'by the entry$' out)" $ranks \
			"$program, $ranks ranks watched: all by the entries"
	done
done
done_testing
