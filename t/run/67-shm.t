#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Processes of one host exchange messages through shared memory, or by the
# network where that is not wanted or not possible; all bytes are right.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

build near near.c
deny=$VMPI_BUILD/t/habitats/deny
"$deny" EPERM=swapon -- true 2>/dev/null
filters=$?
printf '#!/bin/sh\nulimit -f 100\nexec "$@"\n' >limited
chmod +x limited

# job NAME WHAT OPTION...: WHAT is sed's, of what the summary says of packets:
# "all 5000 moved", "none 0 moved".
job() {
	name=$1 want=$2
	shift 2
	timeout 120 $before "$vmpirun" -n 4 --nodes 2 --workers 2 --summary \
		"$@" ./near $argument </dev/null >out 2>&1
	is $? 0 "$name: the job ends well" || diag "$(cat out)"
	like "$(cat out)" '^0 wrong bytes$' "$name: and no byte is wrong"
	is "$(awk '/through shared memory/ {
		some += $4; sent += $6; moved += / moved from memory/
	} END {
		print some == sent ? "all" : some ? "some" : "none",
			moved ? "moved" : "not moved"
	}' out)" "$want" "$name: by the expected way" || diag "$(cat out)"
}

before= argument=
job 'as it is' 'all moved'
argument=drops
for protocol in auto read write pipeline; do
	want='all moved'
	[ $protocol != pipeline ] || want='all not moved'
	job "when privileges are dropped, $protocol" "$want" \
		--set core_rndv_protocol=$protocol
done
argument=
job 'with a core for each process, where there are two' 'all moved' --workers 1
job 'by the network' 'none not moved' --set fabric_shm=off
job 'by remote writes' 'all moved' --set core_rndv_protocol=write
job 'in pieces' 'all not moved' --set core_rndv_protocol=pipeline
job 'announced from the first byte on' 'all moved' --set core_eager_limit=0
job 'with all the link model adds' 'all moved' \
	--set fabric_link_latency_ns=1000 --set fabric_link_bandwidth=1G
job 'with few credits' 'all moved' --set fabric_credits=2
job 'with packets too long for a ring' 'none not moved' \
	--set fabric_packet_bytes=1M
before=./limited
# The sanitizer's own files are larger.
[ "${VMPI_SANITIZE:-none}" = thread ] ||
	job 'with a limit of files' 'none not moved'
if [ "$filters" = 0 ]; then
	before="$deny EPERM=process_vm_readv,process_vm_writev --"
	job 'where memory must not be moved' 'all not moved'
	before="$deny EPERM=memfd_create --"
	job 'where there is no memory to share' 'none not moved'
	before="$deny EPERM=membarrier --"
	job 'where each message costs a fence' 'all moved'
	like "$(timeout 120 $before "$vmpirun" -n 2 --nodes 2 --workers 1 \
		--set core_log=info ./near </dev/null 2>&1)" \
		'membarrier\(\) is refused: Operation' \
		'and that is said'
else
	skip 10 'no filter of system calls can be set here'
fi
before=

# Over sockets messages of 8 * core_eager_limit bytes are sent at once; through
# shared memory one copy is better.
build halo halo.c
# eager WANT NAME BYTES OPTION...: how many of 10 messages.
eager() {
	want=$1 name=$2 bytes=$3
	shift 3
	is "$(timeout 120 $before "$vmpirun" -n 2 --nodes 2 "$@" ./halo $bytes 10 eager \
		</dev/null 2>&1 | tr '\n' ' ')" "eager $want wrong 0 " "$name"
}
eager 10 'by TCP 64 KiB are eager' 65536 --set fabric_shm=off
eager 0 'a byte more is not' 65537 --set fabric_shm=off
eager 10 'that follows core_eager_limit' 16384 --set fabric_shm=off \
	--set core_eager_limit=2K
eager 0 'down to the byte' 16385 --set fabric_shm=off \
	--set core_eager_limit=2K
eager 0 'core_eager_net=1 makes it the limit itself' 8193 \
	--set fabric_shm=off --set core_eager_net=1
eager 10 'which is eager' 8192 --set fabric_shm=off --set core_eager_net=1
eager 0 'through shared memory the limit counts' 8193
eager 10 'alone' 8192
# peers WANT NAME: with how many processes the first one shares cores and memory.
peers() {
	is "$(timeout 120 $before "$vmpirun" -n 2 --nodes 2 ./halo 8 1 core_shared_peers \
		</dev/null 2>&1 | tr '\n' ' ')" "core_shared_peers $1 wrong 0 " "$2"
}
peers 0 'each process has a core'
before="taskset -c $(taskset -cp $$ | sed 's/.*[^0-9]\([0-9][0-9]*\)$/\1/')"
peers 1 'both share one, as core_shared_peers says'
eager 10 'on a shared core 32 KiB are eager' 32768
eager 0 'a byte more is not' 32769
eager 0 'core_eager_shared=1 makes it the limit itself' 8193 \
	--set core_eager_shared=1
before=

# What was announced one right behind the other is read together.
build windows windows.c
# window WANT NAME BYTES COUNT [ARGUMENT]: of remote reads.
window() {
	want=$1 name=$2 bytes=$3 count=$4
	shift 4
	rm -f sent
	is "$(timeout 120 "$vmpirun" -n 2 --nodes 2 --workers 1 \
		--set core_progress=off --set core_eager_shared=1 \
		./windows "$bytes" "$count" "$PWD/sent" "$@" </dev/null 2>&1)" \
		"wrong 0 reads $want" "$name"
}
window 1 '16 messages of 9000 bytes take one read' 9000 16
window 2 'one more takes another' 9000 17
window 3 '20 of 32 KiB take three: 256 KiB at a time' 32768 20
window 20 'longer ones one each' 40000 20
window 1 'each is read again alone when that is refused' 9000 16 drops

# Ranks that are processes, of which one has nothing to share: it is reached over
# the network, from all others, while these share memory.
programs=$VMPI_SRC/t/run/programs
libdir=$VMPI_BUILD/lib
cc -o process "$programs/near.c" "-I$VMPI_SRC/include" "-L$libdir" -lmpi_abi \
	"-Wl,-rpath,$libdir" 2>cc.out || diag "$(cat cc.out)"
# The thread sanitizer must be in the program itself.
[ "${VMPI_SANITIZE:-none}" != thread ] || cp near process
cat >mixed <<'END'
#!/bin/sh
[ "$PMI_RANK" != 2 ] || export VMPI_FABRIC_SHM=off
exec ./process
END
chmod +x mixed
for program in ./process ./mixed; do
	is "$(timeout 120 "$vmpirun" --processes -n 4 $program 2>&1)" \
		'0 wrong bytes' "each rank a process: no byte is wrong, $program"
done

# Those that need no network do not load libfabric, which takes 200 ms.
build maps maps.c
cc -o alone "$programs/maps.c" "-I$VMPI_SRC/include" "-L$libdir" -lmpi_abi \
	"-Wl,-rpath,$libdir" 2>cc.out || diag "$(cat cc.out)"
[ "${VMPI_SANITIZE:-none}" != thread ] || cp maps alone
sed 's/process/alone/' mixed >differ
sed 's/VMPI_FABRIC_SHM=off/VMPI_FABRIC_PORTS=8/' differ >many
chmod +x differ many
# loads NAME WANT COMMAND...: how many ranks are where libfabric is.
loads() {
	name=$1 want=$2
	shift 2
	is "$(timeout 60 "$@" 2>&1)" "$want of 4" "libfabric: $name"
}
nodes="$vmpirun -n 4 --nodes 2"
loads 'not in processes that share memory' 0 $nodes ./maps
loads 'nor with a modelled network' 0 $nodes \
	--set fabric_link_latency_ns=1000 ./maps
loads 'where they may not' 4 $nodes --set fabric_shm=off ./maps
loads 'where a provider is asked for' 4 env FI_PROVIDER=tcp $nodes ./maps
loads 'by name' 4 $nodes --set fabric_provider=tcp ./maps
loads 'where an interface is' 4 $nodes --set fabric_interface=lo ./maps
loads 'nor in ordinary executables' 0 "$vmpirun" --processes -n 4 ./alone
loads 'in all if one of them may not' 4 "$vmpirun" --processes -n 4 ./differ
loads 'or if there are not rings enough' 4 "$vmpirun" --processes -n 4 \
	--set core_connect_max=0 ./many
done_testing
