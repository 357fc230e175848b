# SPDX-License-Identifier: BSD-3-Clause
#
# Jobs of PBS on the two hosts of hosts.sh, by a stand-in for qsub.
#
#	pbs_start
#	pbs_job SCRIPT		waits for it: its output and exit code
#
# The stand-in does what a script sees of PBS: it runs on the first host, with
# standard input empty, and $PBS_NODEFILE has a line for each process.

pbs_start() {
	pbs_what="a stand-in"
	printf '%s\n' "$a" "$a" "$b" "$b" >"$scratch/nodefile"
}

pbs_job() {
	on "$a" timeout 200 env PBS_NODEFILE="$scratch/nodefile" \
		PBS_JOBID=1.server PBS_ENVIRONMENT=PBS_BATCH PBS_NP=4 \
		PBS_O_WORKDIR="$scratch" sh "$1" </dev/null
}
