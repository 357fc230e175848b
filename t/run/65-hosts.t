#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts, which are network namespaces with two networks between them: jobs of
# node processes and of ranks that are processes, and which network they take.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the programs would need the sanitizer too" ;;
esac
need ip pgrep
unset MPIEXEC_TIMEOUT
# Both are one machine: they would share its memory.
export VMPI_FABRIC_SHM=off
libdir=$VMPI_BUILD/lib
a=vmpi-a-$$
b=vmpi-b-$$

hosts_remove() {
	for host in $a $b; do
		ip netns del $host 2>/dev/null
	done
}
trap 'hosts_remove; rm -rf "$scratch"' EXIT

hosts_make() {
	for host in $a $b; do
		ip netns add $host && ip -n $host link set lo up || return 1
	done
	for net in 0 1; do
		ip link add vmpi$net netns $a type veth \
			peer name vmpi$net netns $b &&
			ip -n $a addr add 10.199.$net.1/24 dev vmpi$net &&
			ip -n $b addr add 10.199.$net.2/24 dev vmpi$net &&
			ip -n $a link set vmpi$net up &&
			ip -n $b link set vmpi$net up || return 1
	done
}
hosts_make >why 2>&1 ||
	skip_all "no network namespaces can be made: $(tail -n 1 why)"

# The kernel needs a moment until links are up.
links_wait() {
	for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		up=0
		for host in $a $b; do
			up=$((up + $(ip -n $host link |
				grep -c 'vmpi[01].*,LOWER_UP.* state UP')))
		done
		[ $up -eq 4 ] && return
		sleep 0.2
	done
	skip_all "the links between the namespaces do not come up"
}

cat >where.c <<'END'
#include <mpi.h>
#include <stdio.h>

/* Who listens on this host: the processes of the job. */
int main(int argc, char **argv)
{
	char line[512];
	unsigned address, state;
	FILE *file;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	file = fopen("/proc/thread-self/net/tcp", "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, " %*d: %x:%*x %*x:%*x %x", &address, &state) ==
			    2 &&
		    state == 10)
			printf("rank %d: %u.%u.%u.%u\n", rank, address & 255,
			       address >> 8 & 255, address >> 16 & 255,
			       address >> 24);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
END
cc="${CC:-cc} -g -Wall -I$VMPI_SRC/include"
abi="-L$libdir -lmpi_abi -Wl,-rpath,$libdir -pthread"
$cc -o processes "$programs/processes.c" $abi &&
	$cc -o where where.c $abi &&
	"$vmpicc" -o image "$programs/processes.c" -pthread || exit 1

job() {
	timeout 250 "$vmpirun" --agent 'ip netns exec %h' "$@" </dev/null 2>err
}

links_wait
RANKS_PER_HOST=2
export RANKS_PER_HOST
job -H $a:2,$b:2 ./processes work >out
is $? 0 "ranks that are processes run on two hosts"
is "$(grep -c ': 0 faults$' out)" 4 "and are content" || diag "$(cat out err)"
job -H $a:3,$b ./processes threads >out
is $? 0 "threads too, and unequal numbers"
job -H $a,$b -n 4 ./image work >out
is $? 0 "node processes do"
is "$(grep -c ': 0 faults$' out)" 4 "and their ranks are content" ||
	diag "$(cat out err)"
for protocol in write pipeline; do
	job -H $a,$b -n 4 --set core_rndv_protocol=$protocol ./image work >out
	is "$(grep -c ': 0 faults$' out)" 4 "with $protocol too" ||
		diag "$(cat out err)"
done
job -H $a,$b -n 4 --set fabric_provider='tcp;ofi_rxm' ./image work >out
is "$(grep -c ': 0 faults$' out)" 4 "and with another provider" ||
	diag "$(cat out err)"
job -H $a,$b:2 ./processes die >out
is $? 137 "the death of a rank on the other host ends the job"
like "$(cat err)" "^vmpirun: rank 1 on $b \(pid [0-9]+\) died of SIGKILL" \
	"with the name of the host"
none "$(still '^\./processes die')" "nobody stays on a host"

# The addresses that are listened at.
listens() {
	job -H $a,$b "$@" ./where | sed 's/.*: //' | sort -u | tr '\n' ' '
}
none "$(listens | grep -o '127\.[0-9.]*\|0\.0\.0\.0')" \
	"without a route it is a network, and not all of them"
for host in $a $b; do
	ip -n $host route add default dev vmpi1
done
is "$(listens)" "10.199.1.1 10.199.1.2 " "the default route says which"
is "$(listens --set fabric_interface=vmpi0)" "10.199.0.1 10.199.0.2 " \
	"fabric_interface names an interface"
is "$(VMPI_FABRIC_INTERFACE=10.199.0.0/24 listens)" "10.199.0.1 10.199.0.2 " \
	"or a network, which is the same on all hosts"
is "$(listens --set fabric_interface=10.199.1.0/28)" \
	"10.199.1.1 10.199.1.2 " "of any size"
unset RANKS_PER_HOST
job -H $a:3 ./processes work >out
is "$(grep -c ': 0 faults$' out)" 3 "one of the hosts alone is one host"
is "$(timeout 100 "$vmpirun" -n 2 --agent "ip netns exec $a" ./where 2>&1 |
	sed 's/.*: //' | sort -u)" 127.0.0.1 "whose processes use loopback"

# refused INTERFACE REGEX NAME
refused() {
	for program in ./image ./processes; do
		job -H $a,$b --set fabric_interface="$1" $program >out
		is $? 2 "$3: $program is refused"
		like "$(cat err)" "^vmpi: fabric_interface = $2" "with the reason"
		none "$(grep -v "^vmpi: fabric_interface\|MPI_Init.* failed\|ended with code 2" err)" \
			"and no more than that"
	done
}
refused eth77 'eth77: no such interface, address or network; there are lo vmpi0 vmpi1' \
	"an unknown interface"
refused 10.198.0.0/16 '10.198.0.0/16: no such interface' "another network"
refused lo 'lo: 127.0.0.1 is loopback' "loopback between hosts"

# Hosts that do not choose alike: `pick` is the agent, with a setting of each.
cat >pick <<'END'
#!/bin/sh
setting=$1
[ "$PMI_RANK" = 0 ] || setting=$2
shift 2
export "$setting"
exec ip netns exec "$@"
END
chmod +x pick
# picked FIRST SECOND PROGRAM...
picked() {
	agent="./pick $1 $2 %h"
	shift 2
	timeout 100 "$vmpirun" --agent "$agent" -H $a,$b "$@" </dev/null \
		>out 2>err
}
vmpi0=VMPI_FABRIC_INTERFACE=vmpi0
vmpi1=VMPI_FABRIC_INTERFACE=vmpi1
picked $vmpi0 $vmpi1 -n 2 ./image threads
is "$?, $(grep -c ': 0 faults$' out)" "0, 2" \
	"hosts that chose different networks reach each other if they can"
is "$(cat err)" "vmpi: hosts of the job use different networks, 10.199.0.1 here \
(vmpi0) and 10.199.1.2 of process 1: fabric_interface names one that all hosts \
have, as 10.1.0.0/16 on all alike" "and one line warns"
for program in ./image ./processes; do
	picked VMPI_FABRIC_PROVIDER=net "VMPI_FABRIC_PROVIDER=tcp;ofi_rxm" \
		$program
	is $? 2 "different providers end it: $program"
	like "$(cat err)" "^vmpi: process [01] of the job uses the provider \
[a-z;_]+, this one [a-z;_]+: fabric_provider names one" "in one sentence"
done
for host in $a $b; do
	ip -n $host route del default
done
ip -n $b addr del 10.199.0.2/24 dev vmpi0
ip -n $b addr add 10.200.0.2/24 dev vmpi0
picked $vmpi0 $vmpi0 -n 2 ./image work
is $? 2 "networks between which there is no route end it"
like "$(cat err)" "^vmpi: process [01] of the job is at 10\.[0-9.]+, to which \
there is no route from here \(10\.[0-9.]+, vmpi0\): fabric_interface names" \
	"with what to set"
is "$(wc -l <err)" 1 "by one process"
ip -n $a route add default via 10.199.0.77
ip -n $b route add default via 10.200.0.77
picked $vmpi0 $vmpi0 -n 2 --timeout 15 ./image work
is $? 124 "a router that does not answer may come yet"
like "$(cat err)" "^vmpi: another process of the job, at 10\.[0-9.]+, is not \
reached: No route to host; trying on" "but it is said"

for host in $a $b; do
	for net in 0 1; do
		ip -n $host link set vmpi$net down
	done
done
job -H $a,$b ./processes >out
is $? 2 "without a network between the hosts there is no job"
like "$(cat err)" '^vmpi: no network interface but loopback is up' \
	"with the reason"

hosts_remove
none "$(ip netns list | grep "vmpi-[ab]-$$")" "nothing is left of the hosts"
done_testing
