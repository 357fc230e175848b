# SPDX-License-Identifier: BSD-3-Clause
#
# Two hosts for one test, which are namespaces of network and name.
#
#	. "$VMPI_SRC/t/run/hosts.sh"
#	hosts_start		(or skips the test, with the reason)
#	on $a COMMAND...	on the first host; the other is $b
#	hosts_sshd		starts sshd on $b, if there is one; $rsh is how to
#				get there, by it or by a stand-in
#
# They are $a and $b, of addresses 10.198.0.1 and 10.198.0.2, and end with the
# test.

a=vmpi-a-$$
b=vmpi-b-$$

hosts_stop() {
	[ ! -f "$scratch/sshd.pid" ] || kill "$(cat "$scratch/sshd.pid")"
	for host in $a $b; do
		ip netns del $host 2>/dev/null
	done
}

on() {
	on_host=$1
	shift
	ip netns exec "$on_host" unshare -u \
		sh -c 'hostname "$1"; shift; exec "$@"' on "$on_host" "$@"
}

hosts_make() {
	for host in $a $b; do
		ip netns add $host && ip -n $host link set lo up || return 1
	done
	ip link add vmpi0 netns $a type veth peer name vmpi0 netns $b &&
		ip -n $a addr add 10.198.0.1/24 dev vmpi0 &&
		ip -n $b addr add 10.198.0.2/24 dev vmpi0 &&
		ip -n $a link set vmpi0 up && ip -n $b link set vmpi0 up
}

hosts_start() {
	need ip unshare
	trap 'hosts_stop; rm -rf "$scratch"' EXIT
	trap 'exit 1' HUP INT TERM
	hosts_make >why 2>&1 ||
		skip_all "no network namespaces can be made: $(tail -n 1 why)"
	on $a true >why 2>&1 ||
		skip_all "no hosts can be made: $(tail -n 1 why)"
	hosts_tries=0
	# The kernel needs a moment until links are up.
	until ip -n $b link show vmpi0 | grep -q 'LOWER_UP.* state UP'; do
		hosts_tries=$((hosts_tries + 1))
		[ $hosts_tries -lt 50 ] || skip_all "the link does not come up"
		sleep 0.1
	done
}

# A stand-in for ssh: the words behind the host are for a shell.
hosts_stand_in() {
	cat >"$scratch/rsh" <<END
#!/bin/sh
host=\$1
shift
exec ip netns exec "\$host" unshare -u sh -c "hostname \$host; \$*"
END
	chmod +x "$scratch/rsh"
	rsh=$scratch/rsh
}

hosts_sshd() {
	hosts_stand_in
	sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) &&
		command -v ssh ssh-keygen >/dev/null && [ "$(id -u)" -eq 0 ] ||
		return
	ssh-keygen -q -t ed25519 -N '' -f "$scratch/hostkey" &&
		ssh-keygen -q -t ed25519 -N '' -f "$scratch/id" || return
	mkdir -p /run/sshd
	cat >"$scratch/sshd_config" <<END
ListenAddress 10.198.0.2
HostKey $scratch/hostkey
AuthorizedKeysFile $scratch/id.pub
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile $scratch/sshd.pid
END
	cat >"$scratch/ssh_config" <<END
Host $b
HostName 10.198.0.2
Host *
IdentityFile $scratch/id
UserKnownHostsFile $scratch/known
StrictHostKeyChecking no
LogLevel ERROR
END
	on $b "$sshd" -f "$scratch/sshd_config" || return
	hosts_tries=0
	until on $a ssh -F "$scratch/ssh_config" $b true 2>why; do
		hosts_tries=$((hosts_tries + 1))
		[ $hosts_tries -lt 20 ] || return
		sleep 0.1
	done
	rsh="ssh -F $scratch/ssh_config"
}
