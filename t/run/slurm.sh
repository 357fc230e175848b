# SPDX-License-Identifier: BSD-3-Clause
#
# Slurm with fake nodes on the loopback interface, for one test.
#
#	. "$VMPI_SRC/t/run/slurm.sh"
#	slurm_start 2		(or skips the test, with the reason)
#	srun -N 2 --mpi=pmix ...
#
# It lives in $scratch and ends with the test, also when that is interrupted.
# Slurm asks for root, and for munge, with a key of its own here.

slurm_stop() {
	slurm_pids=$(cat "$scratch"/slurm/*.pid 2>/dev/null)
	for slurm_pid in $slurm_pids; do
		kill "$slurm_pid" 2>/dev/null
	done
	# They write to the directory until they are gone.
	for slurm_pid in $slurm_pids; do
		slurm_tries=0
		while [ $slurm_tries -lt 100 ] && grep -qs \
			'^State:[[:space:]]*[A-Ya-z]' "/proc/$slurm_pid/status"; do
			slurm_tries=$((slurm_tries + 1))
			sleep 0.1
		done
	done
}

# Three free ports in a row, from the number of this process on.
slurm_port() {
	slurm_base=$((20000 + $$ % 20000))
	while ss -Hltn 2>/dev/null | grep -Eq ":($slurm_base|$((slurm_base + 1))|$((slurm_base + 2)))[[:space:]]"; do
		slurm_base=$((slurm_base + 3))
	done
}

slurm_conf() {
	slurm_port
	cat <<END
ClusterName=loop
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$slurm_base
AuthType=auth/munge
AuthInfo=socket=$1/munge.sock
SlurmUser=root
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool-%n
SlurmctldPidFile=$1/ctld.pid
SlurmdPidFile=$1/slurmd-%n.pid
SlurmctldLogFile=$1/ctld.log
SlurmdLogFile=$1/slurmd-%n.log
TmpFS=$1/tmp-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
CommunicationParameters=NoAddrCache,NoCtldInAddrAny,NoInAddrAny
ReturnToService=2
NodeName=n[1-$2] NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=[$((slurm_base + 1))-$((slurm_base + $2))] CPUs=$3 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
END
}

# slurm_start COUNT [CPUS]: 1 or 2 fake nodes, n1 and n2, of so many processors
# (2); a job takes one of each of its nodes.
slurm_start() {
	PATH=$PATH:/usr/sbin:/sbin
	need slurmctld slurmd srun munged sinfo ss
	[ "$(id -u)" -eq 0 ] || skip_all "Slurm's daemons need root"
	slurm_dir=$scratch/slurm
	mkdir -p "$slurm_dir/state"
	chmod 755 "$scratch" "$slurm_dir"
	head -c 128 /dev/urandom >"$slurm_dir/munge.key"
	chmod 400 "$slurm_dir/munge.key"
	slurm_conf "$slurm_dir" "$1" "${2:-2}" >"$slurm_dir/slurm.conf"
	# From 23 on slurmd wants control groups unless it is told.
	case $(slurmd -V) in
	*' '1?.* | *' '2[0-2].*) ;;
	*) echo CgroupPlugin=disabled >"$slurm_dir/cgroup.conf" ;;
	esac
	SLURM_CONF=$slurm_dir/slurm.conf
	export SLURM_CONF
	trap 'slurm_stop; rm -rf "$scratch"' EXIT
	trap 'exit 1' HUP INT TERM
	munged --force --socket="$slurm_dir/munge.sock" \
		--key-file="$slurm_dir/munge.key" \
		--log-file="$slurm_dir/munged.log" \
		--pid-file="$slurm_dir/munged.pid" \
		--seed-file="$slurm_dir/munged.seed" >"$slurm_dir/out" 2>&1 ||
		skip_all "munged does not start: $(tail -n 1 "$slurm_dir/out")"
	slurmctld >"$slurm_dir/out" 2>&1 ||
		skip_all "slurmctld does not start: $(tail -n 1 "$slurm_dir/out")"
	slurm_node=0
	while [ $slurm_node -lt "$1" ]; do
		slurm_node=$((slurm_node + 1))
		mkdir -p "$slurm_dir/tmp-n$slurm_node" \
			"$slurm_dir/spool-n$slurm_node"
		slurmd -N n$slurm_node >"$slurm_dir/out" 2>&1 ||
			skip_all "slurmd does not start: $(tail -n 1 "$slurm_dir/out")"
	done
	slurm_begin=$(date +%s)
	# sinfo asks for long where the name of this host has no address.
	until timeout 5 sinfo -h -o '%D %t' 2>"$slurm_dir/out" |
		grep -q "^$1 idle"; do
		[ $(($(date +%s) - slurm_begin)) -lt 60 ] ||
			skip_all "Slurm's nodes are not ready after 60 s: $(head -n 1 "$slurm_dir/out")"
		sleep 0.2
	done
	srun --mpi=list 2>&1 | grep -q pmix ||
		skip_all "this Slurm was built without PMIx"
}
