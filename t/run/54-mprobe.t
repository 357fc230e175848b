#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The ways of bench/mprobe to receive messages of unknown size with several
# threads: each but the wrong one brings every message, once, to who was
# promised it; and the wrong one is caught.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
[ "${VMPI_SANITIZE:-none}" != thread ] ||
	skip_all "the thread sanitizer does not see who holds a program's mutex"
for program in vmpirun vmpicc bench/mprobe_native; do
	[ -x "$VMPI_BUILD/$program" ] || skip_all "$program is not built"
done
unset MPIEXEC_TIMEOUT VMPI_NODE
bench=$VMPI_SRC/bench
cd "$scratch" || exit 1

ok "mprobe compiles without a warning" \
	"$VMPI_BUILD/vmpicc" -std=gnu17 -D_GNU_SOURCE -O2 -Wall -Wextra \
	-Werror -pthread -o mprobe "$bench/mprobe.c" "$bench/mprobe_lock.c" \
	"$bench/mprobe_out.c" "$bench/mprobe_race.c" "$bench/mprobe_way.c"

# mprobe RANKS ARG...: leaves what it printed in out and err; ends in time or
# is ended.
mprobe() {
	ranks=$1
	shift
	timeout -k 5 50 "$VMPI_BUILD/vmpirun" -n "$ranks" ./mprobe "$@" \
		>out 2>err
}

# The program itself looks at each message, counts them, and ends with 1.
mprobe 9 --messages 20 rate
is "$?" 0 "8 threads of a rank receive from 8 ranks, in every way"
diag "$(cat err)"
is "$(grep -c '^rate-' out)" 50 "... that is 5 ways, 2 patterns, 5 sizes"
mprobe 2 --messages 20 trip
is "$?" 0 "threads of two ranks play ping-pong, in every way"
diag "$(cat err)"
is "$(grep -c '^trip-' out)" 70 "... 5 ways, 2 patterns, 7 kinds of games"

mprobe 9 --messages 20 race
is "$?" 0 "threads race for messages of many sizes"
diag "$(cat err)"
for way in matched locked polled outside; do
	like "$(cat out)" "^free-$way-wrong 0\$" "$way: all get the right ones"
done
for way in matched polled outside; do
	like "$(cat out)" "^mixed-$way-wrong 0\$" \
		"$way: ... with four kinds of wildcards at once"
	like "$(cat out)" "^crossed-$way-wrong 0\$" \
		"$way: ... and nobody keeps the message that another needs"
done
like "$(cat out)" "^held-matched-wrong 0\$" \
	"held between probe and receive, a matched message stays one's own"
like "$(cat out)" "^held-unsafe-wrong 140\$" \
	"... and of what was only probed 7 of 8 are another one's"

timeout -k 5 50 "$VMPI_BUILD/bench/mprobe_native" --messages 20 >out 2>err
is "$?" 0 "tasks take messages of unknown size"
diag "$(cat err)"
is "$(grep -c '^rate-' out) $(grep -c '^trip-' out)" "20 28" \
	"... 2 ways, 2 patterns, 5 sizes and 7 kinds of games"

mprobe 2 rate
is "$?" 2 "a wrong number of ranks is refused"
like "$(cat err)" "mprobe: a wrong number of ranks for 'rate'" \
	"... with a sentence"
mprobe 2 --messages 20 trip any best
is "$?" 2 "so is an unknown way"
done_testing
