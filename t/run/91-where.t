#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The place in the program, with its callers, in the line that says why a job
# ends: of faults, of errors of MPI, of abort() and exit().
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
[ "${VMPI_SANITIZE:-none}" = none ] ||
	skip_all "a sanitizer tells of crashes in its own way"
build where where.c
ldconfig -p | grep -q 'libdw\.so\.1' || skip_all "libdw is not installed"

# at WORD: "where.c:12", the line of the source with this comment.
at() {
	grep -n "/\\* at $1 \\*/" "$programs/where.c" | sed 's/:.*//; s/^/where.c:/'
}

main="called from main, $(at main)"

# says WAY CODE PATTERN NAME: rank 1 ends the job, with a line like that.
says() {
	timeout 200 "$vmpirun" -n 2 "./$program" "$1" </dev/null >out 2>err
	is $? "$2" "$4: the code is $2"
	like "$(cat err)" "^vmpirun: rank 1$3\$" "and it is said where" ||
		diag "$(cat err)"
}

# faults WAY CODE SIGNAL PLACE: main has called the place.
faults() {
	says "$1" "$2" ": SIG$3 at address 0x[0-9a-f]+ in $4, $main" \
		"SIG$3 ($1)"
}

program=where
faults segv 139 SEGV "boom, $(at boom), called from segv, $(at segv)"
faults inline 139 SEGV "inner, $(at inner), called from outer, $(at outer)"
faults falls 139 SEGV "fall, $(at bottom), called from fall, $(at fall) \(9 times\), called from falls, $(at falls)"
faults fpe 136 FPE "fpe, $(at fpe)"
faults ill 132 ILL "ill, $(at ill)"
faults bus 135 BUS "bus, $(at bus)"
faults null 139 SEGV "no function, called from null, $(at null)"
faults libc 139 SEGV "[a-z0-9_]*strlen[a-z0-9_]* of libc.so.6, called from libc, $(at libc)"
faults sort 139 SEGV "compare, $(at compare), called from qsort[_r]* of libc.so.6, called from sort, $(at sort)"
faults op 139 SEGV "on_op, $(at on_op), called from MPI_Reduce_local, called from op, $(at op)"
faults errh 139 SEGV "on_error, $(at on_error), called from MPI_Send, called from errh, $(at errh)"
faults attr 139 SEGV "on_copy, $(at on_copy), called from MPI_Comm_dup, called from attr, $(at attr)"
faults pointer 139 SEGV "MPI_Comm_size, called from pointer, $(at pointer)"
faults handler 139 SEGV "handle, $(at handler), which interrupted [a-z_]* of libc.so.6, called from handler, $(at raise)"
says thread 139 ": SIGSEGV at address 0x8 in thread_run, $(at thread)" \
	"in a thread of a rank"
says stack 139 " overflowed its stack of [0-9]+ KiB in deep, where.c:[0-9]+, called from deep, $(at deep) \([0-9]+ times\); raise it with --stack SIZE" \
	"a stack overflow"
says assert 134 " called abort\(\) in asserts, $(at assert), $main" "assert()"
says free 134 " called abort\(\) in frees, $(at free), $main" "free() twice"
says raise 143 " raised SIGTERM in raises, $(at raises), $main" "raise()"
says rank 6 ": MPI_Send on MPI_COMM_WORLD failed: .*ranks are 0 to 1 \(in error_rank, $(at rank), $main\)" \
	"an error of MPI"
says comm 5 ": MPI_Barrier failed: .*: MPI_COMM_NULL \(in error_comm, $(at comm), $main\)" \
	"one without a communicator"
says abort 9 " called MPI_Abort\(9\) \(in aborts, $(at abort), $main\)" \
	"MPI_Abort"
says exit 3 " exited with status 3; ending the job \(in exits, $(at exit), $main\)" \
	"exit()"

# Without lines the functions are named, without those the file.
"$VMPI_BUILD/vmpicc" -O1 -I"$programs" "$programs/where.c" -o plain
program=plain
says segv 139 ": SIGSEGV at address 0x8 in .*\+0x[0-9a-f]+( of plain)?, called from .*" \
	"a program without debug information"
if [ -n "$(command -v strip)" ]; then
	cp where stripped
	strip stripped
	program=stripped
	says segv 139 ": SIGSEGV at address 0x8 in stripped\+0x[0-9a-f]+, called from .*" \
		"a stripped one"
else
	skip 2 "there is no strip"
fi

# Of many that crash at once one tells, in one process and in several.
for way in "-n 256" "-n 4 --processes" "-n 8 --nodes 2"; do
	# shellcheck disable=SC2086 # several words
	timeout 200 "$vmpirun" $way ./where all ranks </dev/null >out 2>err
	is $? 139 "all ranks crash, with $way"
	is "$(sed "s/rank [0-9]*/rank N/" err)" \
		"vmpirun: rank N: SIGSEGV at address 0x8 in boom, $(at boom), called from segv, $(at segv), $main" \
		"and one line tells of it"
done

# A buffer that cannot be accessed is that of the rank that has given it,
# whoever copies: the line names its call, its place and the bytes.
build buffer where_buffer.c
echo 'int cuInit(unsigned flags) { return (int)flags; }' >gpu.c
"$vmpicc" -shared -fPIC gpu.c -o libcuda.so.1 2>build.log ||
	cc -shared -fPIC gpu.c -o libcuda.so.1
line() {
	grep -n "/\\* at $1 \\*/" "$programs/where_buffer.c" |
		sed 's/:.*//; s/^/where_buffer.c:/'
}

# bad WAY BYTES CALL PATTERN: rank 0 has a bad buffer.
bad() {
	timeout 200 "$vmpirun" -n 3 $workers ./buffer "$1" "$2" </dev/null \
		>out 2>err
	is $? 139 "a bad buffer of $2 bytes ($1 $workers): a fault"
	like "$(cat err)" "^vmpirun: rank 0: SIGSEGV at address 0x[0-9a-f]+ in $3, called from main, $(line "$1"): $4" \
		"its owner and its call are named" || diag "$(cat err)"
}
# whole BYTES
whole() {
	echo "bytes 0 to $(($1 - 1)) of its buffer of $1 bytes at 0x[0-9a-f]+ are not accessible"
}
part='byte [0-9]+ of its buffer at 0x[0-9a-f]+ is not accessible|bytes [0-9]+ to [0-9]+ of its buffer of'
for workers in "" "--workers 1"; do
	bad send 10 MPI_Send "$part"
	for bytes in 5000 100000; do
		bad send $bytes MPI_Send "$(whole $bytes)"
	done
	bad recv 5000 MPI_Recv "$(whole 5000); rank 1 copied it in MPI_Send, called from main, $(line sent)"
	bad half 100000 MPI_Send 'bytes 4096 to 99999 of its buffer of 100000 bytes'
	bad fixed 100000 MPI_Recv 'bytes 0 to 99999 of its buffer of 100000 bytes at 0x[0-9a-f]+ are read-only'
	bad irecv 100000 MPI_Wait "$part"
	bad bcast 100000 MPI_Bcast "$part"
	bad gather 64 MPI_Gather "$part"
	bad put 64 MPI_Put "$part"
done
workers=
bad device 5000 MPI_Send "$(whole 5000); if it is memory of a GPU, whose library is loaded, copy it to the host before"
timeout 200 "$vmpirun" -n 2 --nodes 2 ./buffer send 1000000 </dev/null >out 2>err
ok "between processes the kernel finds it, and a line says so" \
	grep -Eq "rank [01]: (MPI_Recv|MPI_Send) .* failed: .*accessible memory \\(in main, where_buffer|SIGSEGV .* in MPI_Send" err

# A message that is longer than its receive: whose, how long, and the place, also
# where the functions of the program have little of the stack.
build long where_long.c
lengthy() {
	grep -n "/\\* at $1 \\*/" "$programs/where_long.c" |
		sed 's/:.*//; s/^/where_long.c:/'
}
for way in "--workers 1" "--nodes 2"; do
	for call in recv:Recv came:Recv wait:Wait test:Test mrecv:Mrecv \
		both:Sendrecv; do
		for bytes in 41 1000000; do
			# shellcheck disable=SC2086 # two words
			timeout 200 "$vmpirun" -n 2 $way ./long "${call%:*}" \
				$bytes </dev/null >out 2>err
			like "$(cat err)" "^vmpirun: rank 1: MPI_${call#*:} on MPI_COMM_WORLD failed: .*: rank 0 sent $bytes bytes with tag 7, the receive buffer has room for 40 \\(in main, $(lengthy "${call%:*}")\\)\$" \
				"MPI_${call#*:} of $bytes bytes, with $way" ||
				diag "$(cat err)"
		done
	done
done

# An ordinary executable that is a process of its own.
if cc -g -no-pie -I"$VMPI_SRC/include" "$programs/where.c" -o fixed \
	-pthread -L"$VMPI_BUILD/lib" -lmpi_abi \
	-Wl,-rpath,"$VMPI_BUILD/lib" 2>build.log; then
	timeout 200 "$vmpirun" -n 3 ./fixed all ranks </dev/null >out 2>err
	is $? 139 "ranks that are processes crash"
	is "$(sed "s/rank [0-9]*/rank N/" err)" \
		"vmpirun: rank N: SIGSEGV at address 0x8 in boom, $(at boom), called from segv, $(at segv), $main" \
		"and one says where"
else
	skip 2 "there is no compiler for programs at fixed addresses"
fi

# Where vmpi-where cannot be asked, an address is said.
mkdir -p alone/lib
cp "$node" alone/vmpi-node
VMPI_NODE=$PWD/alone/vmpi-node timeout 200 "$vmpirun" -n 2 ./where segv \
	</dev/null >out 2>err
is $? 139 "a crash, and vmpi-where is not installed"
like "$(cat err)" 'SIGSEGV at address 0x8 \(pc 0x[0-9a-f]+, .*/where\+0x[0-9a-f]+\)$' \
	"the address is said"
done_testing
