#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vmpirun --trace: the text is whole and right, of one process and of several,
# of jobs that fail, with rings that are too small; what is refused.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT
command -v python3 >/dev/null || skip_all "python3 is not there"

build trace trace.c

# job OPTION... PROGRAM...: a traced job, and what is in its trace, which is of
# the one format and of the other by turns.
file=t.pftrace
job() {
	case $file in
	t.json) file=t.pftrace ;;
	*) file=t.json ;;
	esac
	rm -f $file
	timeout 60 "$vmpirun" --trace $file "$@" </dev/null >out 2>&1
	code=$?
	python3 "$VMPI_SRC/t/run/trace.py" $file >found 2>&1
	is $? 0 "$file is right" || diag "$(cat found out)"
	none "$(ls $file.* 2>/dev/null)" "nothing else is left"
	return $code
}

value() {
	awk -v name="$1" '$1 == name { print $2; some = 1 }
		END { if (!some) print 0 }' found
}

job -n 4 --workers 2 ./trace 10
is $? 0 "four ranks on two workers"
is "$(value ranks) $(value workers)" "4 2" "each has its thread"
is "$(value other_messages)" 40 "every message is an arrow"
is "$(value other_sends_without_receive)" 0 "none is only sent"
is "$(value other_records_overwritten)" 0 "nothing was overwritten"
is "$(value slice_MPI_Send) $(value slice_MPI_Wait)" "40 40" \
	"every call is a slice"
is "$(value slice_MPI_Barrier)" 8 "of collectives too"
is "$(value slice_rank)" 4 "each rank lives once"
ok "workers run ranks" test "$(value runs)" -ge 4
grep -q "the trace of .* records is in $scratch/t.json" out
is $? 0 "it says where it is"
grep -q '^{"ph":"E","name":"MPI_Send"' t.json
is $? 0 "a name that ends in .json is JSON, whose ends have the name of their begins"

job -n 4 --workers 2 ./trace 10
is $? 0 "four ranks on two workers, in Perfetto's format"
is "$(value ranks) $(value workers)" "4 2" "each has its track"
is "$(value other_messages) $(value s) $(value f)" "40 40 40" \
	"every message is a flow that ends"
is "$(value slice_MPI_Send) $(value slice_MPI_Barrier)" "40 8" \
	"every call is a slice"
ok "its counters have values" \
	test "$(value counter_core_unexpected_bytes)" -ge 1

for protocol in read write pipeline; do
	job -n 4 --nodes 2 --workers 1 --set core_rndv_protocol=$protocol \
		./trace 10
	is $? 0 "two processes, protocol $protocol"
	is "$(value ranks) $(value workers)" "4 2" "each has its thread"
	# Barriers between processes are messages too.
	ok "every message is an arrow" test "$(value other_messages)" -ge 40
	is "$(value other_receives_without_send)" 0 "each was sent"
done

# Two hosts, as far as names go.
cat >host <<'END'
#!/bin/sh
host=$1
shift
exec unshare -u -- sh -c 'hostname "$0" && eval "exec $*"' "$host" "$@"
END
chmod +x host
if unshare -u true 2>/dev/null; then
	job -n 4 -H hosta,hostb --agent "$scratch/host %h" --workers 1 \
		./trace 100
	is $? 0 "two hosts"
	grep -q '^other_clock clocks of hosts aligned by messages' found
	is $? 0 "their clocks are put together" || diag "$(cat found)"
	is "$(value other_receives_without_send)" 0 "each message was sent"
else
	skip 5 "host names cannot be changed"
fi

# Long messages that go at once need packets that were not there.
job -n 4 --nodes 2 --workers 1 --set core_eager_limit=1M ./trace 10
is $? 0 "two processes with long packets"
ok "their memory is a moment" test "$(value moment_pool_grows)" -ge 1

job -n 4 --workers 2 ./trace 100 2
is $? 3 "a rank that exits with 3 ends the job"
ok "what there was is in the trace" test "$(value other_messages)" -ge 20

job -n 2 --workers 1 --set trace_bytes=64K ./trace 4000
is $? 0 "small rings"
ok "old records are overwritten" \
	test "$(value other_records_overwritten)" -gt 1000
grep -q 'older records were overwritten; --set trace_bytes=SIZE' out
is $? 0 "which is said"
ok "there are arrows all the same" test "$(value other_messages)" -gt 5

job -n 64 --workers 2 ./trace 200
is $? 0 "64 ranks"
is "$(value other_messages)" 12800 "with all their messages"

# Ordinary executables, one per rank: their calls are those of the first thread.
case ${VMPI_SANITIZE:-none} in
none)
	libdir=$VMPI_BUILD/lib
	for name in trace trace-threads; do
		${CC:-cc} -I"$VMPI_SRC/include" "$programs/$name.c" \
			-o ordinary-$name "-L$libdir" -lmpi_abi -pthread \
			"-Wl,-rpath,$libdir" || exit 1
	done
	job --processes -n 3 ./ordinary-trace 10
	is $? 0 "three ordinary executables"
	# Whether the worker beside a rank has done anything depends on time.
	is "$(value ranks)" 3 "each has its thread"
	ok "every message is an arrow" test "$(value other_messages)" -ge 30
	is "$(value other_receives_without_send)" 0 "each was sent"
	is "$(value slice_MPI_Send) $(value slice_MPI_Wait)" "30 30" \
		"every call is a slice"
	is "$(value slice_rank)" 3 "each rank lives once"
	job --processes -n 2 ./ordinary-trace-threads 50 3
	is $? 0 "ordinary executables with four threads"
	is "$(value slice_MPI_Sendrecv)" 100 \
		"the calls of their first threads are slices, no others"
	ok "the messages of all are arrows" test "$(value other_messages)" -ge 400
	job --processes -n 3 ./ordinary-trace 100 2
	is $? 3 "an ordinary executable that exits with 3 ends the job"
	ok "what there was is in the trace" \
		test "$(value other_messages)" -ge 10
	;;
*) skip 17 "ordinary executables would need the sanitizer too" ;;
esac

timeout 60 "$vmpirun" --trace none/t.json -n 1 ./trace >out 2>&1 </dev/null
is $? 2 "a file that cannot be made is refused before the start"
like "$(cat out)" "vmpirun: --trace $scratch/none/t.json: No such file*" \
	"with a line that says why"
timeout 60 "$vmpirun" --trace= -n 1 ./trace >out 2>&1 </dev/null
is $? 2 "an empty name is refused"
rm -f t.json
timeout 60 "$vmpirun" --dry-run --trace t.json -n 1 ./trace >out 2>&1 </dev/null
ok "a dry run writes nothing" test ! -e t.json
done_testing
