# SPDX-License-Identifier: BSD-3-Clause
#
# Slurm for one test: with fake nodes on the loopback interface, or with the two
# hosts of hosts.sh, which have a network between them.
#
#	. "$VMPI_SRC/t/run/slurm.sh"
#	slurm_start 2		(or skips the test, with the reason)
#	srun -N 2 --mpi=pmix ...
#
#	hosts_start
#	slurm_start_hosts 4	(1: it does not, and $slurm_why says why)
#	on $a srun -N 2 --mpi=pmix ...
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

# slurm_nodes COUNT|hosts CPUS: the lines about them.  Fake nodes listen on
# loopback alone where this host's name leads there.  It may lead to 127.0.1.1, as
# on Debian, where nobody connects from; then on all addresses.
slurm_nodes() {
	if [ "$1" = hosts ]; then
		echo "NodeName=$a NodeHostname=$a NodeAddr=10.198.0.1 Port=$((slurm_base + 1)) CPUs=$2 State=UNKNOWN"
		echo "NodeName=$b NodeHostname=$b NodeAddr=10.198.0.2 Port=$((slurm_base + 1)) CPUs=$2 State=UNKNOWN"
		return
	fi
	slurm_listen=NoAddrCache
	! getent ahostsv4 "$(hostname)" | grep -q '^127\.0\.0\.1 ' ||
		slurm_listen=NoAddrCache,NoCtldInAddrAny,NoInAddrAny
	echo "CommunicationParameters=$slurm_listen"
	echo "NodeName=n[1-$1] NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=[$((slurm_base + 1))-$((slurm_base + $1))] CPUs=$2 State=UNKNOWN"
}

# slurm_conf COUNT|hosts CPUS
slurm_conf() {
	slurm_port
	slurm_host="$(hostname)(127.0.0.1)"
	[ "$1" != hosts ] || slurm_host="$a(10.198.0.1)"
	cat <<END
ClusterName=loop
SlurmctldHost=$slurm_host
SlurmctldPort=$slurm_base
AuthType=auth/munge
AuthInfo=socket=$slurm_dir/munge.sock
SlurmUser=root
StateSaveLocation=$slurm_dir/state
SlurmdSpoolDir=$slurm_dir/spool-%n
SlurmctldPidFile=$slurm_dir/ctld.pid
SlurmdPidFile=$slurm_dir/slurmd-%n.pid
SlurmctldLogFile=$slurm_dir/ctld.log
SlurmdLogFile=$slurm_dir/slurmd-%n.log
TmpFS=$slurm_dir/tmp-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerParameters=sched_min_interval=0
$(slurm_nodes "$1" "$2")
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
END
}

# slurm_on HOST COMMAND...: there, if there are hosts.  slurmd wants to see its
# control groups, which the /sys of such a host has not.
slurm_on() {
	slurm_at=$1
	shift
	if [ "$slurm_what" != hosts ]; then
		"$@"
		return
	fi
	mkdir -p "$slurm_dir/cgroup"
	nsenter --net="/run/netns/$slurm_at" unshare -u -m sh -c '
		hostname "$1"
		[ ! -d /sys/fs/cgroup ] || mount --rbind /sys/fs/cgroup "$2"
		mount -t sysfs none /sys
		[ ! -d /sys/fs/cgroup ] || mount --rbind "$2" /sys/fs/cgroup
		shift 2
		exec "$@"' on "$slurm_at" "$slurm_dir/cgroup" "$@"
}

# slurm_daemon HOST COMMAND...
slurm_daemon() {
	slurm_on "$@" >"$slurm_dir/out" 2>&1 && return
	slurm_why="a daemon of Slurm ($2) does not start: $(tail -q -n 1 \
		"$slurm_dir/out" "$slurm_dir"/slurmd-*.log 2>/dev/null |
		tail -n 1)"
	return 1
}

# slurm_idle COUNT: waits for so many nodes.
slurm_idle() {
	slurm_begin=$(date +%s)
	# sinfo asks for long where the name of this host has no address.
	until slurm_on "$a" timeout 5 sinfo -h -o '%D %t' 2>"$slurm_dir/out" |
		grep -q "^$1 idle"; do
		slurm_why="Slurm's nodes are not ready after 60 s: $(head -n 1 "$slurm_dir/out")"
		[ $(($(date +%s) - slurm_begin)) -lt 60 ] || return
		sleep 0.2
	done
}

slurm_prepare() {
	slurm_dir=$scratch/slurm
	mkdir -p "$slurm_dir/state"
	chmod 755 "$scratch" "$slurm_dir"
	head -c 128 /dev/urandom >"$slurm_dir/munge.key"
	chmod 400 "$slurm_dir/munge.key"
	slurm_conf "$1" "$2" >"$slurm_dir/slurm.conf"
	# From 23 on slurmd wants control groups unless it is told.
	case $(slurmd -V) in
	*' '1?.* | *' '2[0-2].*) ;;
	*) echo CgroupPlugin=disabled >"$slurm_dir/cgroup.conf" ;;
	esac
	SLURM_CONF=$slurm_dir/slurm.conf
	export SLURM_CONF
}

# slurm_make COUNT|hosts CPUS: 1 if it cannot be, with the reason in $slurm_why.
slurm_make() {
	PATH=$PATH:/usr/sbin:/sbin
	slurm_what=$1
	for slurm_need in slurmctld slurmd srun munged sinfo ss nsenter; do
		slurm_why="$slurm_need is missing"
		command -v $slurm_need >/dev/null || return
	done
	slurm_why="Slurm's daemons need root"
	[ "$(id -u)" -eq 0 ] || return
	slurm_prepare "$1" "$2"
	slurm_names="$a $b"
	[ "$1" = hosts ] || slurm_names=$(seq -f 'n%.0f' "$1")
	slurm_daemon "$a" munged --force --socket="$slurm_dir/munge.sock" \
		--key-file="$slurm_dir/munge.key" \
		--log-file="$slurm_dir/munged.log" \
		--pid-file="$slurm_dir/munged.pid" \
		--seed-file="$slurm_dir/munged.seed" &&
		slurm_daemon "$a" slurmctld || return
	for slurm_name in $slurm_names; do
		mkdir -p "$slurm_dir/tmp-$slurm_name" \
			"$slurm_dir/spool-$slurm_name"
		slurm_daemon "$slurm_name" slurmd -N "$slurm_name" || return
	done
	slurm_idle "$(echo "$slurm_names" | wc -w)" || return
	slurm_why="this Slurm was built without PMIx"
	slurm_on "$a" srun --mpi=list 2>&1 | grep -q pmix
}

# slurm_start COUNT [CPUS]: 1 or 2 fake nodes, n1 and n2, of so many processors
# (2); a job takes one of each of its nodes.
slurm_start() {
	trap 'slurm_stop; rm -rf "$scratch"' EXIT
	trap 'exit 1' HUP INT TERM
	slurm_make "$1" "${2:-2}" || skip_all "$slurm_why"
}

# slurm_start_hosts CPUS: the hosts are nodes, of so many processors.
slurm_start_hosts() {
	trap 'slurm_stop; hosts_stop; rm -rf "$scratch"' EXIT
	slurm_make hosts "$1"
}
