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

# advise NAME OPTION... PROGRAM...: $said is the advice it gets.
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
waiting=', and ranks waited on idle cores [0-9.]+ % of their time in calls \(most in'
advise eager "$vmpirun" -n 2 $slow ./advise long 18300 100
like "$said" "^advice \(eager\): 200 messages of 18300 bytes on average \(most from MPI_Isend\) were sent by rendezvous$waiting MPI_Waitall\): --set core_eager_limit=20K\$" \
	'messages beyond the eager limit: the call, the variable, with its value'
is "$(echo "$said" | grep -c eager)" 1 'all processes say it together'
# The line is known with libdw only.
like "$said" "advice \((sender|receiver)\): cores were idle [0-9.]+ % of the time, most in MPI_Waitall( at advise\.c:[0-9]+)?, where" \
	'where cores were idle'
like "$said" "^advice \(ranks\): workers were idle .* with 2 ranks on 2 workers$waiting MPI_Waitall\): .*: -n 6\$" \
	'few ranks per worker'
advise eager-set "$vmpirun" -n 2 $slow --set core_eager_limit=20K \
	./advise long 18300 100
silent eager 'with that flag it is not said any more'
advise ranks-set "$vmpirun" -n 6 $slow ./advise long 100 20
silent ranks 'nor is the other with so many ranks'
advise profiled "$vmpirun" -n 2 $slow --profile=core_receives \
	./advise long 18300 100
like "$said" '^advice \(eager\): 200 messages of 18300 bytes on average were ' \
	'with a profile of other counters no call is named'

advise rendezvous "$vmpirun" -n 2 $slow ./late 200000 0 100
like "$said" "^advice \(rendezvous\): 100.0 % of 100 long messages \(most from MPI_Isend\) were announced before their receive was posted$waiting MPI_Wait\): --set core_rndv_protocol=write, or" \
	'receivers that come late'
advise rendezvous-set "$vmpirun" -n 2 $slow --set core_rndv_protocol=write \
	./late 200000 0 100
silent rendezvous 'with that protocol it is not said'

# Rank 1 sends while rank 0 computes.
local="--workers 1 --advise"
two="-n 2 --workers 2 --advise"
advise flood "$vmpirun" -n 2 $local ./advise flood 8 3000
like "$said" '^advice \(flood\): .* messages arrived before their receive was posted, and up to 300[01] were queued at one rank: .*: --set core_unexpected_limit=750$' \
	'a flood of messages'
silent copies 'short ones are not copied twice'
advise flood-set "$vmpirun" $two --set core_unexpected_limit=750 \
	./advise pour 8 3000
silent flood 'with that limit there is none'
advise copies "$vmpirun" -n 2 $local ./advise flood 1000 3000
like "$said" '^advice \(copies\): [0-9.]+ % of 300[0-9] messages \(most from MPI_Send\) were copied twice .*: --set core_copy_limit=256$' \
	'longer ones are'
advise copies-set "$vmpirun" $two --set core_copy_limit=256 \
	./advise pour 1000 3000
silent copies 'with that limit they are not'

internode="-n 2 --nodes 2 $local"
advise credits "$vmpirun" $internode ./advise bursts 1000 200 40
like "$said" '^advice \(credits\): [0-9]+ of [0-9]+ messages to other processes waited for credits \(most from MPI_Send\): --set fabric_credits=256$' \
	'a sender without credits'
advise credits-set "$vmpirun" $internode --set fabric_credits=256 \
	./advise bursts 1000 200 40
silent credits 'with so many it has some'
kept="$internode --set fabric_credits=1024 --set fabric_pool_keep"
advise pool "$vmpirun" $kept=1000 ./advise rest 8000 800
like "$said" '^advice \(pool\): [0-9.]+ MiB of the [0-9.]+ MiB of packet memory .*: --set fabric_pool_keep=1$' \
	'packet memory that is kept for nothing'
advise pool-set "$vmpirun" $kept=1 ./advise rest 8000 800
silent pool 'with that it is given back'

advise polling "$vmpirun" -n 2 $local ./advise poll
like "$said" '^advice \(polling\): .* tested or probed .*, mostly in MPI_Iprobe: MPI_Wait, ' \
	'a rank that probes'
advise testing "$vmpirun" $two ./advise test 20
like "$said" '^advice \(polling\): .* tested or probed .*, mostly in MPI_Test: ' \
	'a rank that tests while another one computes'
advise testing-set "$vmpirun" $two ./advise wait 20
silent polling 'one that waits is not told'

# How long the machine computes between two switches is a matter of what else it
# does, so there are some tries.
case ${VMPI_SANITIZE:-none} in
none)
	for try in 1 2 3 4 5 6 7 8 9 10; do
		timeout 120 "$vmpirun" -n 64 $local ./advise pingpong 20000 \
			</dev/null >out 2>&1
		grep -q '(switches)' out && break
	done
	like "$(cat out)" '^vmpirun: advice \(switches\): [0-9]+ switches in .* among 64 ranks on 1 workers: .*: -n 4$' \
		'ranks that only switch'
	;;
*) skip 1 'a sanitizer computes too long between two switches' ;;
esac
advise switches-set "$vmpirun" -n 4 $local ./advise pingpong 20000
silent switches 'with so few it is not said'

advise balance "$vmpirun" -n 4 --workers 2 --advise ./advise uneven
like "$said" '^advice \(balance\): the busiest worker ran .*: --balance=auto$' \
	'ranks that have unequal work'
advise balanced "$vmpirun" -n 4 --workers 2 --advise --balance=auto \
	./advise uneven
silent balance 'with --balance it is not said'

if [ "$(nproc)" -ge 2 ]; then
	advise cores "$vmpirun" -n 4 --workers 1 --advise ./advise compute
	like "$said" '^advice \(workers\): 4 ranks kept 1 workers busy .*: --workers [0-9]+$' \
		'cores that nobody uses'
	advise cores-set "$vmpirun" -n 4 \
		$(echo "$said" | sed -n 's/^advice (workers).*: //p') \
		--advise ./advise compute
	silent workers 'with that many workers it is not said'
else
	skip 4 'there is one core'
fi

# Broadcasts and reductions among four processes.
four="--nodes 4 $local"
algorithm=mpi_coll_bcast_algorithm
advise collectives "$vmpirun" -n 4 $four --set $algorithm=linear \
	./advise bcast 65536 100
like "$said" "^advice \(collectives\): [0-9]+ of [0-9]+ collectives among 4 processes used the algorithm linear or ordered; MPI_Bcast is set to one of them: --set $algorithm=auto\$" \
	'an algorithm that was set'
advise collectives-set "$vmpirun" -n 4 $four --set $algorithm=auto \
	./advise bcast 65536 100
silent collectives 'with auto it is not said'
advise short "$vmpirun" -n 4 $four ./advise bcast 8 200
silent collectives 'nor of short ones, which auto sends from each to each'
advise order "$vmpirun" -n 8 $four --map=cyclic \
	--set mpi_coll_reduce_order=rank ./advise fold 200
like "$said" '^advice \(collectives\): [0-9]+ of [0-9]+ collectives among 4 processes sent all operands to all processes, because operations do not commute .*: --map=block$' \
	'operations that do not commute among ranks that are no neighbours'
advise order-set "$vmpirun" -n 8 $four --map=block ./advise fold 200
silent collectives 'among neighbours it is not said'

timeout 60 "$vmpirun" -n 2 --advise=yes ./advise quiet </dev/null >out 2>&1
is "$?: $(cat out)" '2: vmpirun: --advise=yes: this option takes no value' \
	'it takes no value' || diag "$(cat out)"
timeout 60 "$vmpirun" -n 2 --advise /bin/true </dev/null >out 2>&1
is $? 2 'it is about ranks of a process'
like "$(cat out)" '^vmpirun: --advise is about the ranks of a process, but each rank of /bin/true ' \
	'and says so'
done_testing
