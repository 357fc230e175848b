#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vmpistat: a job that runs, hangs, is stopped and is killed; all forms; what is
# refused.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
# Jobs that hang are looked at.
export VMPI_CORE_DEADLOCK=off
unset MPIEXEC_TIMEOUT VMPI_CORE_SHARE
vmpistat=$VMPI_BUILD/vmpistat

build stat stat.c

# Starts a job with these arguments in the background; $job is its name.
start() {
	rm -f pid
	timeout 500 sh -c 'echo $$ >pid; exec "$@"' start "$vmpirun" "$@" \
		</dev/null >out 2>err &
	runner=$!
	while [ ! -s pid ]; do
		sleep 0.05
	done
	job=$(cat pid)
}

# Waits until the states of the job have a line like the pattern.
await_line() {
	tries=0
	while [ $tries -lt 3000 ]; do
		timeout 120 "$vmpistat" --states "$job" >states 2>errors
		grep -q "$1" states && return
		tries=$((tries + 1))
		sleep 0.1
	done
	cat states errors
	return 1
}

finish() {
	kill -KILL "$job" 2>/dev/null
	wait $runner 2>/dev/null
}

# A deadlock of three, while the fourth is in a barrier.
start -n 4 --set core_export=keep ./stat circle
ok "a circle of ranks is called a deadlock" await_line '^deadlock: '
is "$(sed -n 2p states)" \
	'rank 0           is in MPI_Recv: receiving from rank 1, tag 7, up to 4 bytes' \
	"it is said what a rank receives, and in which call"
is "$(sed -n 3p states)" \
	'rank 1           is in MPI_Probe: waiting for a message from rank 2, any tag (probe)' \
	"and what it probes for"
is "$(sed -n 4p states)" \
	'rank 2           is in MPI_Wait: waiting for its receive from rank 0, tag 9, up to 8 bytes' \
	"and which operation it waits for"
is "$(sed -n 5p states)" \
	'rank 3           is in MPI_Barrier of all ranks' \
	"and who is in a collective operation"
is "$(sed -n 6p states)" \
	"deadlock: rank 0 waits for rank 1, which waits for rank 2, which waits for rank 0 (4 of 4 ranks can never proceed)" \
	"the circle is named"
"$vmpistat" --states --json "$job" >json
ok "the circle is in the JSON" grep -q '"deadlock":\[0,1,2\]}$' json
ok "with the calls" grep -q \
	'{"rank":1,"state":"probe","call":"MPI_Probe","peer":2,' json
"$vmpistat" >list
ok "the job is listed" grep -Eq "^$job +4 +1 +[0-9]+ (s|min) running +stat\$" list

node=$("$vmpistat" --json "$job" | sed 's/.*"pid":\([0-9]*\).*/\1/')
kill -STOP "$node"
ok "a stopped job is listed as that" sh -c "
	for i in \$(seq 100); do
		'$vmpistat' | grep -q '^$job .* stopped ' && exit 0
		sleep 0.1
	done; exit 1"
"$vmpistat" --states "$job" >states
ok "its deadlock is still one" grep -q '^deadlock: rank 0' states
kill -CONT "$node"
kill -KILL "$node"
wait $runner
"$vmpistat" "$job" >text
ok "a killed job can be read" grep -q '^job .*: stat, 4 ranks in 1 process, dead' text
is "$(awk '$1 == "core_state" { print $2, $3 }' text | sort | tr '\n' ';')" \
	"collective 1;probe 1;receive 1;wait 1;" "with what its ranks did"
"$vmpistat" --states "$job" >states
ok "and its deadlock" grep -q '^deadlock: rank 0' states
dead=$job
start -n 4 ./stat circle
await_line '^deadlock: '
"$vmpistat" >list
ok "jobs that run are listed before dead ones" awk -v dead="$dead" \
	-v lives="$job" '$1 == lives { seen = 1 }
	$1 == dead { found = seen }
	END { exit !found }' list
finish
job=$dead
"$vmpistat" --clean >cleaned
"$vmpistat" "$job" >text 2>errors
is "$?" 2 "then it can be cleaned away"

# Waits in communicators: ranks have other numbers there.
for nodes in 1 2; do
	start -n 6 --nodes $nodes ./stat sub
	ok "waits in a communicator are a deadlock (processes: $nodes)" \
		await_line '^deadlock: rank 0 waits for rank 4, which waits for rank 2, which waits for rank 0 (6 of 6 '
	is "$(sed -n 's/, communicator [0-9]*[02468],/, communicator N,/
		s/of communicator [0-9]*[02468]$/of communicator N/
		/^rank/p' states)" \
		"rank 0           is in MPI_Recv: receiving from rank 4, tag 5, communicator N, up to 4 bytes
ranks 1, 3       are in MPI_Barrier of communicator N
rank 2           is in MPI_Barrier of communicator N
rank 4           is in MPI_Waitall: waiting for its receive from rank 2, tag 6, communicator N, up to 8 bytes
rank 5           is in MPI_Probe: waiting for a message from rank 0, any tag (probe)" \
		"ranks are those of the job, and those that do the same are together"
	finish
	start -n 4 --nodes $nodes ./stat inter
	ok "and in an intercommunicator (processes: $nodes)" \
		await_line '^deadlock: rank 1 waits for rank 2, which waits for rank 3, which waits for rank 1 (4 of 4 '
	finish
	start -n 5 --nodes $nodes ./stat sleeps
	ok "who sleeps is seen (processes: $nodes)" \
		await_line '^rank 4  *is sleeping'
	ok "the others wait" await_line '^rank 3 .* MPI_Barrier'
	ok "that is no deadlock" sh -c '! grep "^deadlock\|^hang" states'
	finish
done
start -n 4 --workers 2 ./stat busy
ok "who computes runs" await_line '^rank 0  *is running or ready'
ok "the others wait for it" await_line '^ranks 1, 3 .*receiving from any rank of'
ok "that is none either" sh -c '! grep "^deadlock\|^hang" states'
finish
start -n 4 --nodes 2 ./stat reads
ok "who is in the kernel is seen there" \
	await_line '^rank 0  *is in the kernel (read)'
ok "the others wait for it, too" await_line '^ranks 1, 3 .*receiving from any rank of'
ok "that is no deadlock" sh -c '! grep "^deadlock\|^hang" states'
finish
"$vmpistat" --clean >cleaned

# Values.
start -n 4 --nodes 2 ./stat values
ok "a job of two processes waits" await_line '^ranks 1-3 .*receiving from rank 0'
"$vmpistat" "$job" >text
is "$(awk '$1 == "core_sends" { print $2 }' text)" 17 \
	"a counter is added up over all processes"
ok "what is 0 is not shown" sh -c '! grep " 0 messages" text'
is "$("$vmpistat" "$job" core_coll_sends | awk '$1 == "core_coll_sends" {
	print $2, $3 }')" "0 messages" "but what is named"
none "$("$vmpistat" "$job" 'core_coll_s*' | grep '^core.* 0 ')" \
	"a pattern names none"
"$vmpistat" "$job" core_sizes_local >sizes
is "$(grep -c '^core_sizes_local, ' sizes) $(grep -Ec \
	'^core_sizes_local, (to 64 B|to 3.00 KiB|longer) ' sizes)" "40 3" \
	"counts by size say up to which"
like "$("$vmpistat" "$job")" '^core_posted_max +1 receive, of one rank$' \
	"a mark is that of one rank"
like "$("$vmpistat" "$job" 'core_eager_limit')" \
	'^core_eager_limit +set to +[0-9.]+ KiB $' "settings have units, too"
like "$("$vmpistat" "$job" 'sched_bind')" '^sched_bind +set to +(on|off) $' \
	"or words"
ok "bytes have a unit for people" \
	grep -Eq '^core_sent_bytes  *[0-9.]+ (B|KiB|MiB)$' text
"$vmpistat" --all "$job" >all
ok "all variables can be asked for" grep -q '^core_coll_sends  *0 messages' all
ok "with all digits" grep -Eq '^core_sent_bytes  *[0-9]+ bytes$' all
ok "and control variables" grep -q '^core_eager_limit  *set to' all
"$vmpistat" --rank 0 "$job" core_sends >text
is "$(awk '$1 == "core_sends" { print $2, $3, $4 }' text)" "rank 0 17" \
	"the values of a rank can be seen"
"$vmpistat" --rank all "$job" core_sends >text
is "$(awk '$1 == "core_sends" { print $3, $4 }' text | tr '\n' ';')" \
	"0 17;1 0;2 0;3 0;" "and those of each"
"$vmpistat" --worker all "$job" sched_switches >text
ok "and those of workers" grep -q '^sched_switches  *worker 1:0 ' text
"$vmpistat" --json "$job" core_sends core_eager_limit >json
ok "values are in the JSON" grep -q \
	'"core_sends":{"class":"counter","of":"rank","unit":"messages","total":17}' \
	json
ok "and control variables" grep -q '"cvars":{"core_eager_limit":[0-9]*}}$' json
if command -v python3 >/dev/null; then
	"$vmpistat" --json --rank all --worker all "$job" >json
	ok "the JSON is valid" python3 -c '
import json, sys
job = json.load(open(sys.argv[1]))
assert job["pvars"]["core_sends"]["ranks"]["0"] == 17
assert len(job["nodes"]) == 2' json
fi
"$vmpistat" --every 0.01 --count 3 "$job" core_sends >text
is "$(grep -c '^core_sends' text)" 3 "samples are taken as often as was said"
is "$(grep -c '^core_sends .* 0.0/s messages' text)" 2 \
	"from the second one on with rates"

# A strict reader of Prometheus's text format.
strict() {
	awk '
	function bad(why) { print NR ": " why ": " $0; errors++ }
	/^# HELP / {
		if ($3 in help) bad("second HELP")
		if (NF < 4) bad("no text")
		help[$3] = 1; name = $3; next
	}
	/^# TYPE / {
		if ($3 != name) bad("TYPE of another metric")
		if ($4 != "counter" && $4 != "gauge") bad("type")
		if (($4 == "counter") != ($3 ~ /_total$/)) bad("_total")
		if ($3 !~ /^vmpi_[a-z0-9_]+$/) bad("name")
		if ($3 ~ /_(ns|us|ms)(_|$)/) bad("unit")
		typed = $3; next
	}
	/^#/ { bad("comment"); next }
	{
		if (typed != name) bad("no TYPE")
		if ($0 !~ /^[a-z0-9_]+\{[a-z]+="[^"\\]*"(,[a-z]+="[^"\\]*")*\} [0-9][0-9.e+-]*$/)
			bad("form")
		if (substr($0, 1, index($0, "{") - 1) != name) bad("name")
		series = substr($0, 1, index($0, "}"))
		if (series in seen) bad("twice")
		seen[series] = 1; values++
	}
	END { if (!values) print "no values"; exit errors || !values }' "$1"
}

for way in "" "--rank all" "--worker all"; do
	"$vmpistat" --prometheus $way "$job" >metrics
	is "$?" 0 "metrics are printed ${way:-of processes}"
	ok "and are what Prometheus reads" strict metrics
done
"$vmpistat" --prometheus "$job" >metrics
is "$(grep '^vmpi_core_sends_total{' metrics)" \
	"vmpi_core_sends_total{job=\"$job\",node=\"0\"} 17
vmpi_core_sends_total{job=\"$job\",node=\"1\"} 0" "values are those of nodes"
is "$(grep -c '^vmpi_core_state{.*state="receive"} ' metrics)" 2 \
	"states are counts of ranks"

# Refusals: one line, exit code 2.
refused() {
	is_text=$1
	shift
	"$vmpistat" "$@" >out.text 2>errors
	is "$?:$(cat errors)" "2:vmpistat: $is_text" "refused: $*"
}
refused "there is no job 0 of this user on this host; vmpistat lists them" 0
refused "no variable of job $job is called 'core_send'; did you mean core_sends?" \
	"$job" core_send
refused "--rank 4: job $job has ranks 0 to 3" --rank 4 "$job"
refused "--rank x: all, or a number from 0 to 999999 is needed" --rank x "$job"
refused "--every 0: a number of seconds from 0.0001 to 86400 is needed, such as 90 or 0.5" --every 0 "$job"
refused "--stat=x: no such option; did you mean --states?" --stat=x "$job"
finish
"$vmpistat" --clean >cleaned

# Setting variables: of jobs that take that.
start -n 4 --control ./stat circle
ok "a job that takes settings" await_line '^deadlock: '
ok "takes one" timeout 60 "$vmpistat" "$job" --set core_eager_limit=4K
at="--set: node 0:"
refused "$at no control variable is called 'core_eager_limi'; did you mean core_eager_limit?" \
	"$job" --set core_eager_limi=4K
refused "$at no control variable is called 'core_sends'; vmpi_info --cvars lists them" \
	"$job" --set core_sends=0
refused "$at sched_workers can only be set before the runtime starts" \
	"$job" --set sched_workers=1
refused "$at core_eager_limit = 2M: out of range; it may be 0 to 1M bytes" \
	"$job" --set core_eager_limit=2M
refused "--set core_eager_limit: NAME=VALUE is needed; vmpi_info --cvars lists the names" \
	"$job" --set core_eager_limit
finish
"$vmpistat" --clean >cleaned

# Ends of its own leave nothing behind.
timeout 300 "$vmpirun" -n 2 ./stat end </dev/null >out 2>&1
is $? 0 "a job ends"
start -n 2 ./stat fail
wait $runner
is $? 3 "another fails"
"$vmpistat" "$job" >text 2>errors
is $? 2 "and leaves no file behind"
timeout 300 "$vmpirun" -n 2 --set core_export=off ./stat end </dev/null >out 2>&1
is $? 0 "a job without a file is a job"
done_testing
