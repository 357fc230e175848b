#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vmpirun --advise: programs with one problem each are told which flag helps,
# and are told no more when it is set; a quiet one hears nothing.  What is looked
# at are counts, or times that the link model makes much longer than any other.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT

build advise advise.c
build late late.c
one=$(taskset -pc $$ 2>/dev/null | sed 's/.*: *\([0-9]*\).*/\1/')

# advise NAME OPTION... PROGRAM...: $said is what it is told.
advise() {
	name=$1
	shift
	timeout 120 "$@" </dev/null >out 2>&1
	is $? 0 "$name: the program runs" || diag "$(cat out)"
	said=$(sed -n 's/^vmpirun: \(advice\|nothing\)/\1/p' out)
}

# silent RULE NAME: no such advice.
silent() {
	none "$(echo "$said" | grep "^advice ($1)")" "$2"
}

if [ -n "$one" ]; then
	advise quiet taskset -c "$one" "$vmpirun" -n 4 --advise ./advise quiet
	is "$said" 'nothing to advise' 'a quiet run has nothing to advise'
	advise workers taskset -c "$one" "$vmpirun" -n 4 --workers 4 --advise \
		./advise quiet
	like "$said" '^advice \(workers\): 4 workers share 1 cores: --workers 1$' \
		'too many workers'
else
	skip 4 'taskset does not work here'
fi
timeout 60 "$vmpirun" -n 4 ./advise quiet </dev/null >out 2>&1
is "$? $(cat out)" '0 ' 'without --advise there is none'

# Everything waits for the network.
slow="--nodes 2 --workers 1 --advise --set fabric_link_latency_ns=20000000"
advise eager "$vmpirun" -n 2 $slow ./advise long 18300 100
like "$said" '^advice \(eager\): 200 messages of 18300 bytes \(mean\) were announced and then fetched, and workers had no rank to run [0-9.]+ % of the time: --set core_eager_limit=20K$' \
	'messages beyond the eager limit: the variable, with its value'
is "$(echo "$said" | grep -c eager)" 1 'all processes say it together'
like "$said" '^advice \(ranks\): workers had no rank to run .* with 2 ranks on 2 workers: .*: -n 6$' \
	'few ranks per worker'
advise eager-set "$vmpirun" -n 2 $slow --set core_eager_limit=20K \
	./advise long 18300 100
silent eager 'with that flag it is not said any more'
advise ranks-set "$vmpirun" -n 6 $slow ./advise long 100 20
silent ranks 'nor is the other with so many ranks'

advise rendezvous "$vmpirun" -n 2 $slow ./late 200000 0 100
like "$said" '^advice \(rendezvous\): 100.0 % of 100 long messages were offered before their receive was posted, .*: --set core_rndv_protocol=write, or' \
	'receivers that come late'
advise rendezvous-set "$vmpirun" -n 2 $slow --set core_rndv_protocol=write \
	./late 200000 0 100
silent rendezvous 'with that protocol it is not said'

near="--workers 1 --advise"
advise flood "$vmpirun" -n 2 $near ./advise flood 8 3000
like "$said" '^advice \(flood\): .* messages came before their receive, up to 300[01] waited at one rank: .*: --set core_unexpected_limit=750$' \
	'a flood of messages'
silent copies 'short ones are not copied twice'
advise copies "$vmpirun" -n 2 $near ./advise flood 1000 3000
like "$said" '^advice \(copies\): [0-9.]+ % of 300[0-9] messages were copied twice' \
	'longer ones are'
advise credits "$vmpirun" -n 2 --nodes 2 $near ./advise flood 1000 1000
like "$said" '^advice \(credits\): [0-9]+ of [0-9]+ messages to other processes waited until .*: --set fabric_credits=256$' \
	'a sender without credits'
advise polling "$vmpirun" -n 2 $near ./advise poll
like "$said" '^advice \(polling\): [0-9]+ times all ranks of a worker only tested' \
	'a rank that polls'
advise balance "$vmpirun" -n 4 --workers 2 --advise ./advise uneven
like "$said" '^advice \(balance\): the busiest worker ran .*: --balance=auto$' \
	'ranks that have unequal work'
advise balanced "$vmpirun" -n 4 --workers 2 --advise --balance=auto \
	./advise uneven
silent balance 'with --balance it is not said'

timeout 60 "$vmpirun" -n 2 --advise=yes ./advise quiet </dev/null >out 2>&1
is "$?: $(cat out)" '2: vmpirun: --advise=yes: this option takes no value' \
	'it takes no value' || diag "$(cat out)"
timeout 60 "$vmpirun" -n 2 --advise /bin/true </dev/null >out 2>&1
is $? 2 'it is about ranks of a process'
like "$(cat out)" '^vmpirun: --advise is about the ranks of a process; /bin/true ' \
	'and says so'
done_testing
