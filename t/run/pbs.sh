# SPDX-License-Identifier: BSD-3-Clause
#
# Jobs of PBS on the two hosts of hosts.sh: OpenPBS, if pbs_server, qsub and so on
# are in the path (PATH=$PATH:/opt/pbs/bin:/opt/pbs/sbin) and this is root; else a
# stand-in for qsub.
#
#	pbs_start		$pbs_what says which
#	pbs_job SCRIPT		waits for it: its standard output, and its code
#	pbs_stop
#
# The stand-in does what a script sees of PBS: it runs on the first host, with
# standard input empty, and $PBS_NODEFILE has a line for each process of the
# chunks that the script asks for (select=2:ncpus=2:mpiprocs=2), one on each host.

# pbs_on HOST COMMAND...: with a home, and names of hosts, that PBS trusts.
pbs_on() {
	pbs_at=$1
	shift
	nsenter --net="/run/netns/$pbs_at" unshare -u -m sh -c '
		hostname "$1"
		mount -t sysfs none /sys
		mount --bind "$2/names" /etc/hosts
		mount --bind "$2/$1" /mnt
		PBS_CONF_FILE=$2/$1.conf
		PBS_DATA_SERVICE_USER=postgres
		export PBS_CONF_FILE PBS_DATA_SERVICE_USER
		shift 2
		exec "$@"' on "$pbs_at" "$scratch/pbs" "$@" </dev/null
}

pbs_prepare() {
	printf '127.0.0.1 localhost\n10.198.0.1 %s\n10.198.0.2 %s\n' \
		"$a" "$b" >"$scratch/pbs/names"
	for pbs_host in "$a" "$b"; do
		cat >"$scratch/pbs/$pbs_host.conf" <<END
PBS_EXEC=$pbs_exec
PBS_SERVER=$a
PBS_START_SERVER=$pbs_first
PBS_START_SCHED=$pbs_first
PBS_START_COMM=$pbs_first
PBS_START_MOM=1
PBS_HOME=/mnt
PBS_SCP=/bin/cp
END
		pbs_first=0
		pbs_on "$pbs_host" "$pbs_exec/libexec/pbs_habitat" || return
		echo '$usecp *:/ /' >>"$scratch/pbs/$pbs_host/mom_priv/config"
	done
}

# pbs_free: waits for two nodes.
pbs_free() {
	pbs_tries=0
	until [ "$(pbs_on "$a" pbsnodes -a | grep -c 'state = free')" -eq 2 ]; do
		pbs_tries=$((pbs_tries + 1))
		[ $pbs_tries -lt 60 ] || return
		sleep 0.5
	done
}

pbs_daemons() {
	pbs_prepare && pbs_on "$a" pbs_comm && pbs_on "$a" pbs_mom &&
		pbs_on "$b" pbs_mom && pbs_on "$a" pbs_sched &&
		pbs_on "$a" timeout 60 pbs_server || return
	for pbs_host in "$a" "$b"; do
		pbs_on "$a" qmgr -c "create node $pbs_host"
		pbs_on "$a" qmgr -c \
			"set node $pbs_host resources_available.ncpus=4"
	done
	pbs_on "$a" qmgr -c 'set server acl_roots=root'
	pbs_free
}

pbs_start() {
	pbs_what="a stand-in"
	for pbs_need in pbs_server pbs_mom pbs_comm pbs_sched qsub nsenter; do
		command -v $pbs_need >/dev/null || return 0
	done
	[ "$(id -u)" -eq 0 ] || return 0
	pbs_exec=$(dirname "$(dirname "$(command -v pbs_server)")")
	pbs_first=1
	mkdir -p "$scratch/pbs/$a" "$scratch/pbs/$b"
	chmod 755 "$scratch" "$scratch/pbs" "$scratch/pbs/$a" "$scratch/pbs/$b"
	trap 'pbs_stop; hosts_stop; rm -rf "$scratch"' EXIT
	if pbs_daemons >"$scratch/pbs/log" 2>&1; then
		pbs_what="that of $(qsub --version 2>&1)"
		return
	fi
	diag "PBS does not start: $(tail -n 3 "$scratch/pbs/log")"
	pbs_stop
}

pbs_stop() {
	[ -d "$scratch/pbs" ] || return 0
	pbs_on "$a" timeout 60 qterm -t quick >/dev/null 2>&1
	for pbs_file in "$scratch"/pbs/*/*/*lock; do
		[ ! -s "$pbs_file" ] || kill "$(cat "$pbs_file")" 2>/dev/null
	done
	pbs_on "$a" timeout 60 pbs_dataservice stop >/dev/null 2>&1
	rm -rf "$scratch/pbs"
}

# pbs_chunks SCRIPT: the lines of its file of nodes.
pbs_chunks() {
	sed -n 's/^#PBS.* select=\([^ ]*\).*/\1/p' "$1" | awk -v hosts="$a $b" '{
		split(hosts, host, " ")
		for (i = split($0, chunks, "+"); i > 0; i--) {
			many[i] = chunks[i] + 0
			sub(/.*mpiprocs=/, "", chunks[i])
		}
		for (i = 1; i in chunks; i++)
			while (many[i]-- > 0 && ++at <= 2)
				for (j = 0; j < chunks[i]; j++)
					print host[at]
	}'
}

pbs_job() {
	if [ "$pbs_what" != "a stand-in" ]; then
		pbs_on "$a" timeout 200 qsub -V -W block=true \
			-o "$scratch/pbs/job.out" -e "$scratch/pbs/job.err" \
			"$scratch/$1" >"$scratch/pbs/job.id" 2>&1
		pbs_code=$?
		pbs_output
		return $pbs_code
	fi
	pbs_chunks "$1" >"$scratch/nodefile"
	on "$a" timeout 200 env PBS_NODEFILE="$scratch/nodefile" \
		PBS_JOBID=1.server PBS_ENVIRONMENT=PBS_BATCH PBS_NP=4 \
		PBS_O_WORKDIR="$scratch" sh "$1" </dev/null
}

# They are moved to their place after the end.
pbs_output() {
	pbs_tries=0
	until [ -f "$scratch/pbs/job.out" ] && [ -f "$scratch/pbs/job.err" ]; do
		pbs_tries=$((pbs_tries + 1))
		[ $pbs_tries -lt 100 ] || cat "$scratch/pbs/job.id" >&2
		[ $pbs_tries -lt 100 ] || return
		sleep 0.1
	done
	cat "$scratch/pbs/job.out"
	cat "$scratch/pbs/job.err" >&2
	rm -f "$scratch/pbs/job.out" "$scratch/pbs/job.err"
}
