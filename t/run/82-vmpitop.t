#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vmpitop in a terminal: what it shows of a job that runs, hangs, is killed and
# ends, and what keys do.  All waiting is for a text on the screen.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
# Jobs that hang are looked at.
export VMPI_CORE_DEADLOCK=off
vmpitop=$VMPI_BUILD/vmpitop
[ -x "$vmpitop" ] || skip_all "vmpitop is not built (no ncurses)"
[ -w /dev/shm ] || skip_all "there is no /dev/shm to write to"
need tmux timeout

socket=$scratch/tmux
jobs=
unset TMUX LINES COLUMNS MPIEXEC_TIMEOUT

tmux_do() {
	timeout 20 tmux -u -S "$socket" -f /dev/null "$@"
}

# Ends what was started here, by number.
clean() {
	tmux_do kill-server >/dev/null 2>&1
	for pid in $jobs; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	rm -rf "$scratch"
}
trap clean EXIT
trap 'exit 1' INT TERM

page() {
	tmux_do capture-pane -p -t 0
}

# soon COMMAND...: whether it succeeds within 30 s.
soon() {
	soon_end=$(($(date +%s) + 30))
	until "$@"; do
		[ "$(date +%s)" -lt $soon_end ] || return 1
		sleep 0.1
	done
}

on_page() {
	page | grep -Eq -- "$1"
}

# shown REGEX NAME: some line of the screen matches, at last.
shown() {
	if soon on_page "$1"; then
		pass "$2"
	else
		fail "$2"
		diag "'$1' is not on the page:" "
$(page)"
	fi
}

keys() {
	tmux_do send-keys -t 0 "$@"
}

# typed TEXT: the characters one by one, then Enter.
typed() {
	tmux_do send-keys -t 0 -l "$1"
	keys Enter
}

# top COMMAND: a terminal of 80 by 24 in which it runs; then its code and
# whether the terminal is as it was.
top() {
	tmux_do kill-server >/dev/null 2>&1
	rm -f "$socket"
	tmux_do new-session -d -x 80 -y 24 "LC_ALL=C.UTF-8; export LC_ALL
		$1; echo code \$?; stty -a | tr ';' '\n' | grep -Eq \
		'(^| )echo( |$)' && echo echoes; exec sleep 1000"
}

# start_job FILE ARGUMENT...: its number is in $job.
start_job() {
	start_out=$1
	shift
	timeout 300 "$vmpirun" "$@" </dev/null >"$start_out" 2>&1 &
	jobs="$jobs $!"
}

# The ids of jobs are numbers of processes: that of timeout's child.
job_of() {
	job=$(pgrep -P "$1")
}

there() {
	"$vmpitop" --list | grep -Eq "^$1 "
}

build watched watched.c

start_job out --control -n 4 --workers 2 ./watched stop
soon job_of $! || diag "vmpirun does not start"
running=$job
soon there "$running"
is $? 0 "vmpitop --list lists the job" || diag "$("$vmpitop" --list)"

out=$(timeout 60 "$vmpitop" --batch 2 --delay 0.2 --screen ranks \
	--sort msg/s "$running")
is $? 0 "--batch prints pages"
is "$(printf '%s\n' "$out" | grep -c "job $running: 4 ranks, 1 node, 2")" 2 \
	"as many as were asked for"
like "$out" '^ +3 +0 (run|wait|sleep) +[0-9.]+% ' \
	"with a row for each rank, and how busy it is"
is "$(printf '%s\n' "$out" | grep -Ec '^ *(least|median|most) +[0-9.]+% ')" 6 \
	"above them are the least, median and most of each column"
like "$out" '^busy: least .*% \(rank [0-3]\), median .*%, most .*% \(rank [0-3]\)$' \
	"and the ranks that are least and most busy"
out=$(timeout 60 "$vmpitop" --batch 1 --delay 0.2 --map "$running")
like "$out" '^ +3 +[0-9.]+% \|' "--map prints how busy they are over time"
out=$(timeout 60 "$vmpitop" --batch 1 --sort nosuch "$running" 2>&1)
is $? 2 "a column that is none is a mistake"
like "$out" "columns are node, pid" "and those there are are said"
out=$(timeout 60 "$vmpitop" --plot nosuch --batch 1 "$running" 2>&1)
is $? 2 "so is a variable that is none"

top "'$vmpitop' --delay 0.2 $running"
shown "watched, job $running: 4 ranks, 1 node, 2 workers, up .*2/worker" \
	"the first line says what the job is"
shown '[1-9].* messages/s' "the second one what it does"
shown '^ +0 +[0-9]+ +4 +2 .*runs' "the overview has its process"

keys r
shown 'rank\^' "r: ranks, by number"
keys '>' '>' '>' '>' '>' '>' '>'
shown 'msg/sv' "> sorts by another column"
first_is_3() { page | grep -A1 'msg/sv' | tail -n 1 | grep -Eq '^ +3 '; }
soon first_is_3
is $? 0 "the rank that sends most comes first" || diag "$(page)"
keys i
shown 'msg/s\^' "i inverts that"
first_is_0() { page | grep -A1 'msg/s^' | tail -n 1 | grep -Eq '^ +0 '; }
soon first_is_0
is $? 0 "then it comes last" || diag "$(page)"

keys w
shown 'switch/s' "w: workers"
keys f
shown 'no port' "f: of one process there is no fabric"
keys v /
typed core_sends
shown '^core_sends_inline +counter' "/ chooses variables"
on_page core_eager_limit
is $? 1 "and only those"
keys Enter
shown 'core_sends per second: [1-9]' "Enter plots one"
shown "$(printf '\342\240|\342\241|\342\242|\342\243')" \
	"with dots of braille"
keys l
shown 'core_sends: [1-9]' "l shows its value"
keys m m
shown '#' "m takes ASCII"

keys s
shown '^set:' "s asks for a setting"
typed core_eager_limit=4K
shown 'core_eager_limit = 4K is set in 1 process' "which is sent"
limit_seen() { grep -q '^limit 4096$' out; }
soon limit_seen
is $? 0 "and the program sees it" || diag "$(cat out)"
keys s
typed core_eager_limit=lots
shown 'core_eager_limit = lots: not a size' "what is wrong is said"
keys s
typed core_balance=auto
shown 'can only be set before' "also what cannot be set now"

vmpistat=$VMPI_BUILD/vmpistat
ok "vmpistat --set sets one too" \
	timeout 60 "$vmpistat" "$running" --set core_eager_limit=2K
limit_2048() { grep -q '^limit 2048$' out; }
soon limit_2048
is $? 0 "and the program sees that" || diag "$(cat out)"
out=$(timeout 60 "$vmpistat" "$running" --set core_eager_limit=-1 2>&1)
is $? 2 "what the job refuses is a mistake"
like "$out" 'node 0: core_eager_limit = -1: out of range' "and said"
out=$(timeout 60 "$vmpistat" --set core_eager_limit=1 2>&1)
is $? 2 "so is a setting without a job"

tmux_do resize-window -t 0 -x 100 -y 30
row_30() { page | sed -n 30p | grep -q core_balance; }
soon row_30
is $? 0 "the page grows with the terminal" || diag "$(page)"
tmux_do resize-window -t 0 -x 40 -y 10
row_10() { page | sed -n 10p | grep -q core_bal; }
soon row_10
is $? 0 "and shrinks" || diag "$(page)"
tmux_do resize-window -t 0 -x 80 -y 24
keys h
shown 'invert the order' "h is for help"
keys q q
shown '^code 0$' "q quits"
shown '^echoes$' "the terminal echoes again"
is "$(tmux_do display -p -t 0 '#{alternate_on}#{cursor_flag}')" 01 \
	"it is its old page, with a cursor"

top "'$vmpitop' --delay 0.2 $running"
shown 'messages/s' "it starts again"
kill -TERM "$(pgrep -f "^$vmpitop --delay 0.2 $running$" | head -n 1)"
shown '^echoes$' "a signal leaves the terminal as it was"
shown '^code 143$' "and is what ends it"
is "$(tmux_do display -p -t 0 '#{alternate_on}#{cursor_flag}')" 01 \
	"on the old page, with a cursor"

out=$(timeout 20 "$vmpitop" "$running" </dev/null 2>&1)
is $? 2 "without a terminal it does not start"
like "$out" 'not a terminal; --batch' "and says why"
top "TERM=dumb '$vmpitop' $running"
shown '^code 2$' "nor on one that cannot place the cursor"
shown "type 'dumb'" "which it names"
out=$(timeout 20 "$vmpitop" 0 2>&1)
is $? 2 "an unknown job is a mistake"

top "'$vmpitop' --delay 0.2 $running"
shown '^ +0 .*runs' "it watches"
: >stop
shown 'the job has ended' "when the job ends that is said"
keys q

# Of 4 ranks and of 64 on 24 lines: half of them run, the others wait.
# map RANKS ROW ROW: these rows are in the map.
map() {
	rm -f stop
	start_job halves --workers 1 -n "$1" ./watched stop halves
	soon job_of $!
	halves=$job
	soon there "$halves"
	top "'$vmpitop' --delay 0.1 $halves"
	keys r
	shown 'm map' "of $1 ranks: r shows the list"
	keys m
	shown 'm list' "m the map"
	shown "$2" "which has a row in it"
	shown "$3" "and the last one"
	shown '^busy: least 0.0% \(rank 0\), median 50.0%, most 100% \(rank 1\)$' \
		"the line above says that half of them are busy"
	shown ' ranks +busy +.* ago .*now$' "the line below how long it goes back"
	shown '^ 1 overview ' "and the line of keys is still there"
	keys m
	shown ' rank.* waits for' "m again is the list"
	keys h
	shown 'ranks: map or list' "help has the key"
	: >stop
	keys q q
	shown '^code 0$' "q quits"
	soon gone "$halves"
}
gone() {
	! there "$1"
}
map 4 '^ +0 +0.0% \| *$' '^ +3 +100% \|.*@@@@$'
map 64 '^ +0-3 +50.0% \|.*\+\+\+\+$' '^ +60-63 +50.0% \|.*\+\+\+\+$'

# With a report above it, and more ranks than a terminal has lines.
rm -f stop
start_job many --workers 1 -n 20 ./watched stop hang
soon job_of $!
many=$job
soon there "$many"
hangs() {
	out=$(timeout 60 "$vmpitop" --batch 2 --delay 0.3 --hang 0.2 \
		--screen ranks "$many")
	case $out in *'the job hangs'*) ;; *) return 1 ;; esac
}
soon hangs
is $? 0 "--batch reports a job that hangs" || diag "$out"
like "$out" '^ +19 +0 wait .* Recv from 0 tag 7' "and lists all of its ranks"
kill "$many"

start_job hung --workers 1 -n 3 ./watched stop hang
soon job_of $!
hung=$job
soon there "$hung"
top "'$vmpitop' --delay 0.2 --hang 1 $hung"
shown 'the job hangs: 3 ranks wait, and nothing has moved for' \
	"a job that hangs is seen to"
shown 'circular wait: rank 0 for 1 for 2 for 0' "with the circle of its ranks"
shown 'rank 1 waits: MPI_Recv from 2 tag 7' "and what they wait for"
keys w
shown '^ +0 +0 +100%' "its worker has had nothing to do all the time"
keys o
shown 'the job hangs' "the overview is back"
keys s
shown 'vmpirun --control' "without --control nothing can be set"
process=$(page | sed -n 's/^ *0  *\([0-9]*\) .*runs.*/\1/p')
# vmpirun removes the file of a dead process, but not before it has been read.
kill -STOP "$hung"
kill -KILL "${process:-0}"
shown "node 0 \\(process $process on .*\\) died" "a killed process is seen to"
kill -CONT "$hung"
keys r
shown '^ +2 +0 wait .* Recv from 0 tag 7' \
	"and what it waited for is still there"
keys q
shown '^code 0$' "q quits there too"
done_testing
