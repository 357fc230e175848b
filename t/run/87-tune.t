#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Policies: --tune and --policy, what they decide in real jobs, what is refused.
# Only counters and values are looked at, no times.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT

build halo halo.c
for mode in 0 1 2 3 4 5 6 7 8 9 10; do
	${CC:-cc} -shared -fPIC -DMODE=$mode -I"$VMPI_SRC/include" \
		"$programs/policy.c" -o policy$mode.so || exit 1
done
echo 'int vmpi_policy_needs(void); int f(void) { return vmpi_policy_needs(); }' \
	>needs.c
${CC:-cc} -shared -fPIC needs.c -o needs.so || exit 1
echo 'no library' >text.so

# job [OPTION...]: with what the program is given behind --.
job() {
	timeout 300 "$vmpirun" -n 2 --nodes 2 --workers 1 "$@" </dev/null \
		>out 2>&1
}

# Mistakes: exit 2, one line.
# refused PATTERN NAME OPTION...
refused() {
	refused_pattern=$1
	refused_name=$2
	shift 2
	timeout 200 "$vmpirun" -n 1 "$@" ./halo 1 1 </dev/null >out 2>&1
	is $? 2 "$refused_name: exit 2" || diag "$(cat out)"
	is "$(wc -l <out)" 1 "... after one line" || diag "$(cat out)"
	ok "... which says what" grep -q "$refused_pattern" out ||
		diag "$(cat out)"
}

refused "no policy 'hasty'; known are eager" "an unknown policy" \
	--tune eager,hasty
refused "no policy ''" "no policy at all" --tune=
refused "policy nonsense" "an unknown policy among the settings" \
	--set tune_policies=nonsense
refused "No such file" "a file that is not there" --policy ./nothing.so
refused "without colons" "a file with a colon" --policy a:b.so
refused "text.so: .*invalid\|text.so: .*short" "a file that is no library" \
	--policy text.so
refused "needs.so: .*vmpi_policy_needs" "a symbol that is missing" \
	--policy needs.so
refused "does not export vmpi_policy" "a library that is no policy" \
	--policy policy4.so
refused "another version" "a policy for another version" --policy policy5.so
refused "it has no name" "a policy without a name" --policy policy6.so
refused "it has no tick()" "a policy that does nothing" --policy policy7.so
refused "it does not start" "a policy that does not want to" \
	--policy policy0.so=x
refused "another one of this name" "the same policy twice" \
	--policy policy0.so --policy ./policy0.so=y

# Crashes end the job, and what is said leads to the file.
case ${VMPI_SANITIZE:-none} in
none)
	for mode in 8:constructor 9:start 10:tick; do
		file=policy${mode%:*}.so
		timeout 200 "$vmpirun" -n 1 --policy "./$file" \
			--set tune_interval_ms=1 ./halo 1 100 file none \
			</dev/null >out 2>&1
		is $? 139 "a policy that crashes in its ${mode#*:}: SIGSEGV"
		like "$(cat out)" "SIGSEGV at address 0x8 in .*(policy.c:[0-9]+|$file)" \
			"a line says where"
	done
	;;
*) skip 6 "a sanitizer tells of crashes in its own way" ;;
esac

# A policy at work, in both processes.
job --policy policy0.so --tune-log ./halo 100 10 ticks 2
is $? 0 "a policy sets a variable" || diag "$(cat out)"
ok "and messages arrive as before" grep -qx "wrong 0" out
ok "a line says why" \
	grep -q "tune: process 0: mine: core_eager_limit 8192 -> 12345: because" \
	out || diag "$(cat out)"
ok "and at the end one the option for what it has set" \
	grep -q "mine: .* ends with: --set core_eager_limit=12345\$" out ||
	diag "$(cat out)"
is "$(grep -c 'mine: it is the time of the day' out)" 2 \
	"it is given the time of the day, in each process" || diag "$(cat out)"

# Its decisions are events, which a trace records.
if command -v python3 >/dev/null; then
	job --policy policy0.so --trace t.json ./halo 100 10 \
		core_eager_limit 12345
	is $? 0 "a policy in a job that is traced" || diag "$(cat out)"
	python3 "$VMPI_SRC/t/run/trace.py" t.json >found 2>&1
	is $? 0 "the trace is right" || diag "$(cat found)"
	moments=$(awk '$1 == "moment_policy" { print $2 }' found)
	ok "decisions are in it" test "${moments:-0}" -ge 1 ||
		diag "$(cat found)"
fi

# Policies that fail do not end the job.  The program goes on until it has ended.
# fails MODE PATTERN NAME
fails() {
	rm -f ended
	job --policy "policy$1.so=$scratch/ended" --set tune_interval_ms=1 \
		./halo 1000 20 file "$scratch/ended"
	is $? 0 "$3 does not end the job" || diag "$(cat out)"
	ok "$3: messages arrive as before" grep -qx "wrong 0" out
	ok "$3: a line says so" grep -q "policy mine: $2" out ||
		diag "$(cat out)"
}
fails 1 "disabled because it failed: input or output failed" \
	"a policy that fails"
fails 2 "disabled: it sets a variable up and down" \
	"a policy that swings"
fails 3 "fabric_packet_bytes cannot be set: only before the start" \
	"a policy that sets what it must not"
ok "... and what is not there" \
	grep -q "variable 9999 cannot be set: there is none" out

# eager: the limit goes up, if only for a trial, whose gain is a matter of chance
# here; the job goes on until that has happened.
for bytes in 16000 32768 100000; do
	case $bytes in
	16000) limit=16384 ;;
	32768) limit=32768 ;;
	100000) limit=131072 ;;
	esac
	job --tune=eager --tune-log --set tune_interval_ms=2 --summary \
		./halo $bytes 30 core_eager_limit $limit
	is $? 0 "$bytes bytes: the limit goes up to $limit" ||
		diag "$(cat out)"
	ok "$bytes bytes: no message is changed" grep -qx "wrong 0" out
	ok "$bytes bytes: a line says why" \
		grep -q "eager: core_eager_limit .* messages have 8193 to" out
done

# By hand: all messages go at once, in several packets.
for provider in net "tcp;ofi_rxm"; do
	for bytes in 16128 16129 32768 100000 1000000; do
		job --set core_eager_limit=1M \
			--set "fabric_provider=$provider" \
			--set fabric_shm=off ./halo $bytes 50
		is "$? $(cat out)" "0 wrong 0" \
			"$bytes bytes are sent at once by $provider"
	done
done
for bytes in 16128 16129 32768 100000 1000000; do
	job --set core_eager_limit=1M ./halo $bytes 50
	is "$? $(cat out)" "0 wrong 0" \
		"$bytes bytes are sent at once through shared memory"
done
job --set core_eager_limit=1M --set fabric_packet_bytes=512 \
	--set fabric_credits=8 ./halo 4000 200
is "$? $(cat out)" "0 wrong 0" "in small packets, with few credits"
job --set core_eager_limit=1M --set fabric_packet_bytes=512 \
	--set fabric_credits=8 ./halo 5000 200
is "$? $(cat out)" "0 wrong 0" "and where credits are too few for it"
job --set core_eager_limit=1M --set fabric_link_latency_ns=100000 \
	--set fabric_link_bandwidth=1G ./halo 100000 50
is "$(grep -x 'wrong 0' out)" "wrong 0" "and over a slow link" ||
	diag "$(cat out)"

done_testing
