#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --tune=rndv in real jobs: it asks who waits for a late receiver to write, and
# takes that back; each decision is a line with its reason and an event.  And jobs
# that do the same all the time: no policy swings.  Only counts are looked at.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT

build late late.c
build halo halo.c

# job OPTION... PROGRAM...
job() {
	timeout 300 "$vmpirun" -n 2 --nodes 2 --workers 1 --tune-log \
		--set tune_interval_ms=2 "$@" </dev/null >out 2>&1
}

# Rank 0 posts its receives late until rank 1, of process 1, is asked to write
# (2 to the power of 1), and then early until that is taken back.
set=core_rndv_write_from
rm -f t.json
job --tune=rndv --trace t.json ./late 200000 0 0 $set 2 \
	tune_reverted
is $? 0 "who waits for a late receiver is asked to write, and no more later" ||
	diag "$(cat out)"
grep "^vmpi: tune: process 0: rndv: $set " out >lines
like "$(head -n 1 lines)" "^vmpi: tune: process 0: rndv: $set 0 -> 2: process 1: receives came late for [0-9]+ % of [0-9]+ long messages: a trial\$" \
	"a line says why it is tried"
like "$(tail -n 1 lines)" "^vmpi: tune: process 0: rndv: $set 2 -> 0 \(back\): process 1: (.* long messages/s by write, of [0-9]+ pairs of slots: (no gain|may be chance|nothing to compare)|receives come late for [0-9]+ %, no more for [0-9]+ %|receives come late for [0-9]+ %: to see whether they do by auto)\$" \
	"and one why it goes back" || diag "$(cat out)"
none "$(grep '^vmpi: tune: process 1: ' out)" \
	"who gets no long messages decides nothing"
if command -v python3 >/dev/null; then
	python3 "$VMPI_SRC/t/run/trace.py" t.json >found 2>&1
	is $? 0 "the trace is right" || diag "$(cat found)"
	# The last one goes back when the runtime stops, if there is one more.
	is "$(awk '$1 == "moment_policy" { print $2 }' found)" \
		"$(grep -c ' -> ' out)" "each decision is an event in it"
fi

# A user's setting stays.
job --tune=rndv --set core_rndv_protocol=read ./late 200000 0 500
is "$? $(grep -c ' -> ' out)" "0 0" "a protocol for all is left alone" ||
	diag "$(cat out)"

# The same all the time.  Each thing may be tried again, after a time that
# doubles: in so many looks five times, there and back; a policy that swings
# decides ten times as often.
for bytes in 100 20000 65536 200000; do
	job --tune=all ./halo $bytes 10 ticks 3000
	is $? 0 "$bytes bytes, again and again" || diag "$(cat out)"
	ok "$bytes bytes: no message is changed" grep -qx "wrong 0" out
	for rank in 0 1; do
		decisions=$(sed -n "s/^decisions of rank $rank: //p" out)
		ok "$bytes bytes: policies come to rest, rank $rank" \
			test "${decisions:-1000}" -le 20 || diag "$(cat out)"
	done
	none "$(grep 'turned off' out)" "$bytes bytes: none is turned off"
done
done_testing
