#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Several node processes on this host: who they are, what they exchange, what
# they are given, and how their job ends.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
vmpirun=$VMPI_BUILD/vmpirun
node=$VMPI_BUILD/t/boot/boot-node
[ -x "$vmpirun" ] && [ -x "$node" ] || skip_all "vmpirun is not built"
unset MPIEXEC_TIMEOUT GLIBC_TUNABLES
cd "$scratch" || exit 1
VMPI_NODE=$node
export VMPI_NODE

run() {
	timeout 150 "$vmpirun" "$@" </dev/null 2>&1
}

until_true() {
	tries=0
	while ! "$@" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 400 ] || return 1
		sleep 0.05
	done
}

# Also true of a process that waits for its parent to look at it.
gone() {
	! grep -qs '^State:[[:space:]]*[A-Ya-z]' "/proc/$1/status"
}

out=$(run -n 10 true who)
is "$out" "process 0 of 1: ranks 0-9 of 10, hosts 1, share 0 of 1, alone" \
	"without --nodes there is one process, and no PMI"
out=$(run -n 10 --nodes 3 true who | sort)
is "$out" "process 0 of 3: ranks 0-3 of 10, hosts 1, share 0 of 3, pmi
process 1 of 3: ranks 4-6 of 10, hosts 1, share 1 of 3, pmi
process 2 of 3: ranks 7-9 of 10, hosts 1, share 2 of 3, pmi" \
	"--nodes 3 makes three, with ranks in blocks"
for nodes in 2 5; do
	out=$(run -n 64 --nodes $nodes true exchange fence)
	is $? 0 "$nodes processes end with 0"
	is "$(echo "$out" | grep -c 'exchanged$')" $nodes \
		"all of them have exchanged blobs"
done
out=$(run -n 64 --nodes 33 true key fence)
is $? 0 "33 processes end with 0"
is "$(echo "$out" | grep -c 'key is the same$')" 33 "and have the same key"
like "$(run --nodes 5 true who)" '^process 0 of 5: ranks 0-0 of 5' \
	"there are at least as many ranks as nodes"
out=$(run -n 7 --ppn 3 true who)
like "$out" '^process 2 of 3: ranks 6-6 of 7' "--ppn makes as many as needed"
like "$out" '^process 0 of 3: ranks 0-2 of 7' "and fills the first"
out=$(run -H localhost:4 true who)
like "$out" '^process 0 of 1: ranks 0-3 of 4' "localhost needs no launcher"

out=$(echo hello | timeout 150 "$vmpirun" -n 2 --nodes 2 true stdin 2>&1)
like "$out" "^process 0: stdin 'hello'\$" "node 0 gets standard input"
like "$out" "^process 1: stdin ''\$" "the others nothing"
out=$(PMI_FD=9 PMI_RANK=3 PMIX_NAMESPACE=x PMIX_RANK=1 run -n 2 true who)
like "$out" '^process 0 of 1: .* alone' \
	"what another launcher has set does not get to the node process"
out=$(run -n 2 --nodes 2 true spawn exit=0 | wc -l)
ok "what a node has started and left behind ends with it" test "$out" -ge 2

cat >env-node <<'END'
#!/bin/sh
env | grep -E '^(VMPI_JOB_|PMI_)' | sort | tr '\n' ' '
echo
END
chmod +x env-node
VMPI_NODE=./env-node run -n 4 --nodes 2 true | grep 'RANK=1' >out
like "$(cat out)" 'PMI_FD=[0-9]+ PMI_RANK=1 PMI_SIZE=2' "PMI is in the environment"
like "$(cat out)" 'VMPI_JOB_KEY=[0-9a-f]{32} .*VMPI_JOB_NODES=2 .*VMPI_JOB_RANKS=4' \
	"so is the job, with a key"
VMPI_NODE=./env-node run -n 4 --nodes 2 true | grep -o 'KEY=[0-9a-f]*' |
	sort -u >keys
grep -o 'KEY=[0-9a-f]*' out >>keys
is "$(sort -u keys | wc -l)" 2 "which all nodes of a job share, and no two jobs"
none "$(run -n 2 --nodes 2 sh 'ps -o args= -e' | grep -i 'job_key')" \
	"it is in no command line"

# Ends of a job.
out=$(run -n 4 --nodes 4 true fence 2:abort=42 sleep=20000)
is $? 42 "an abort is the exit code"
none "$(echo "$out" | grep '^vmpirun')" "of which vmpirun says nothing more"
out=$(run -n 4 --nodes 4 true fence 2:exit=7 sleep=20000)
is $? 7 "so is a node's own exit code"
like "$out" '^vmpirun: node 2 \(rank 2, pid [0-9]+\) exited with status 7; ending the job$' \
	"with a line"
out=$(run -n 4 --nodes 4 true fence 1:exit=0 sleep=20000)
is $? 1 "to end without leaving is a failure"
out=$(run -n 4 --nodes 2 true 0:exit=3 1:exit=3)
is $? 3 "two failures give one code"

for signal in KILL:137 SEGV:139; do
	out=$(run -n 8 --nodes 4 true watch fence "1:signal=${signal%:*}" \
		events=1 sleep=20000)
	is $? "${signal#*:}" "SIG${signal%:*} of a node makes it ${signal#*:}"
	like "$out" "^vmpirun: node 1 \\(ranks 2-3, pid [0-9]+\\) died of SIG${signal%:*}" \
		"with the node and its ranks"
	is "$(echo "$out" | grep -c "death of 1, status ${signal#*:}")" 3 \
		"the others are told"
done
out=$(run -n 4 --nodes 4 true ignore=TERM fence 3:signal=KILL sleep=20000)
is $? 137 "those who do not end at SIGTERM are killed"
out=$(run -n 4 --nodes 4 --keep-going true watch fence 3:signal=KILL events=1 fence)
is $? 137 "--keep-going gives the code of the death too"
is "$(echo "$out" | grep -c '^process [012]: fence failed$')" 3 \
	"but the others go on, and a fence is of the living"
[ $tap_failed -eq 0 ] || diag "$out"
out=$(run -n 4 --nodes 4 --keep-going true fence 3:abort=5 sleep=20000)
is $? 5 "an abort is for all"
out=$(run -n 3 --nodes 3 true 0:signal=KILL fence sleep=20000)
is $? 137 "a death before the first fence is no different"
cat >early-node <<END
#!/bin/sh
[ "\$PMI_RANK" != 0 ] || kill -KILL \$\$
exec "$node" "\$@"
END
chmod +x early-node
wrong=
for try in 1 2 3 4 5 6; do
	out=$(VMPI_NODE=./early-node run -n 3 --nodes 3 true fence sleep=20000)
	[ $? -eq 137 ] && [ "$(echo "$out" | wc -l)" -eq 1 ] || wrong=$out
done
none "$wrong" "a death before a node has joined is the only thing reported"
out=$(run -n 3 --nodes 3 --timeout 0.5 true ignore=TERM sleep=20000)
is $? 124 "the time limit ends all nodes"

# Signals to vmpirun, and its death.
begin() {
	rm -f up.*
	"$vmpirun" -n 3 --nodes 3 "$@" </dev/null >out 2>err &
	run=$!
	until_true test -e up.0 -a -e up.1 -a -e up.2 ||
		diag "the nodes are not ready: $(cat out err)"
	pids=$(cat up.0 up.1 up.2)
}
all_gone() {
	for pid in $pids; do
		until_true gone "$pid" || return 1
	done
}
begin true ready=up sleep=20000
kill -TERM $run
wait $run
is $? 143 "SIGTERM to vmpirun ends the job"
ok "and all nodes" all_gone
begin true ignore=TERM ready=up sleep=20000
kill -INT $run 2>/dev/null
kill -TERM $run
sleep 0.3
kill -TERM $run
wait $run
ok "a second one kills what does not want to end" all_gone
begin true ready=up sleep=20000
kill -KILL $run
wait $run 2>/dev/null
ok "when vmpirun is killed, no node stays" all_gone
# Under env, which clears nothing, as under a program that does: the socket.
begin --agent 'setsid --wait' true watch ready=up sleep=20000
kill -KILL $run
wait $run 2>/dev/null
ok "also when an agent is between" all_gone

# Agents.
cat >agent <<'END'
#!/bin/sh
echo "agent $1 $2 '$3'"
shift 3
exec "$@"
END
chmod +x agent
out=$(run -n 2 -H h1,h2 --agent "./agent %h %n 'a b%%'" true who)
like "$out" "^agent h2 1 'a b%'\$" "--agent comes before each node process"
like "$out" '^process 1 of 2: .* pmi$' "which joins all the same"
like "$(run -n 1 --agent 'env A=1 ./agent x "y z"  a\ b' true who)" \
	"^agent x y z 'a b'\$" "its words are divided as a shell does"
out=$(run -n 2 --nodes 2 --agent 'nosuch-agent %h' true who)
is $? 2 "an agent that is not there is a mistake"
like "$out" '^vmpirun: nosuch-agent: the agent cannot be started' "which is said"
if command -v ip >/dev/null && ip netns list >/dev/null 2>&1 &&
	ip netns add "vmpi-t-$$" 2>/dev/null; then
	trap 'ip netns del "vmpi-t-$$"; rm -rf "$scratch"' EXIT
	out=$(run -n 2 --nodes 2 \
		--agent "./agent x %n y ip netns exec vmpi-t-$$" true who)
	like "$out" '^process 1 of 2: .*, hosts 1, .* pmi$' \
		"ip netns exec keeps the descriptors"
	printf '#!/bin/sh\n[ $1 = 0 ] && shift && exec "$@"\nshift\nexec ip netns exec vmpi-t-%d "$@"\n' \
		$$ >netns
	chmod +x netns
	out=$(run -n 2 --nodes 2 --agent './netns %n' true who)
	like "$out" '^process 1 of 2: .*, hosts 2, ' \
		"loopback does not connect two network namespaces"
else
	skip 2 "no network namespaces can be made"
fi
done_testing
