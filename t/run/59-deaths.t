#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A node process dies while messages fly: the others get errors where they need
# it and go on where they do not; or the job ends, with a report.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT

build bereft bereft.c
build doomed doomed.c
build piled piled.c

job() {
	timeout 100 "$vmpirun" -n 6 --nodes 3 --workers 1 "$@" </dev/null 2>&1
}

for protocol in read write pipeline; do
	out=$(job --keep-going --set core_rndv_protocol=$protocol ./bereft)
	is $? 137 "$protocol: the code is that of the death"
	is "$(echo "$out" | grep -c ': 0 faults$')" 4 \
		"the others get errors for it and go on without it" ||
		diag "$out"
done
out=$(job ./bereft default)
is $? 137 "with the default error handler the job ends"
like "$out" '^vmpirun: node 1 \(ranks 2-3, pid [0-9]+\) died of SIGKILL' \
	"and says which node and ranks have died" || diag "$out"
out=$(DIE=700 RETURN=1 timeout 100 "$vmpirun" -n 3 --nodes 3 --workers 1 \
	--keep-going ./doomed after 1 1 0 </dev/null 2>&1)
is $? 137 "nobody waits for the goodbye of who dies after MPI_Finalize" ||
	diag "$out"
out=$(timeout 100 "$vmpirun" -n 3 --nodes 3 --workers 1 --keep-going \
	--set fabric_shm=1 ./piled </dev/null 2>&1)
is "$(echo "$out" | grep -c ': 0 faults$')" 2 \
	"puts to who is dead that were put off fail where they are flushed" ||
	diag "$out"
# An agent that does not become the node process.
cat >agent <<'END'
#!/bin/sh
"$@"
exit $?
END
chmod +x agent
# Processes of a job that are there, by what is in their environment.
there() {
	grep -lsz "^DEATH_MARK=$scratch$1\$" /proc/[0-9]*/environ |
		while read -r file; do
			file=${file%/environ}
			grep -sq doomed "$file/comm" && echo "${file#/proc/}"
		done
}

# There are so many of them, within a minute.
there_wait() {
	for _ in $(seq 600); do
		found=$(there "$1")
		[ "$(printf '%s' "$found" | grep -c .)" -ne "$2" ] || break
		sleep 0.1
	done
	printf '%s' "$found"
}

for nodes in 1 2; do
	DEATH_MARK=$scratch$nodes "$vmpirun" -n 2 --nodes $nodes --workers 1 \
		--deadlock=off \
		--agent "$scratch/agent" ./doomed idle 2 1 0 </dev/null \
		>out 2>&1 &
	vmpirun_pid=$!
	is "$(there_wait $nodes $nodes | grep -c .)" $nodes "a job with an agent"
	kill -9 $vmpirun_pid
	wait $vmpirun_pid 2>/dev/null
	none "$(there_wait $nodes 0)" "ends with vmpirun ($nodes nodes)"
done
none "$(still "$scratch/bereft\|\./bereft default")" "nobody is left behind"
done_testing
