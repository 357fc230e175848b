#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A file that cannot be loaded once per rank is refused in one clear line.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
cc=${CC:-cc}

# refused FILE REGEX WHAT
refused() {
	run 2 "$1" >out 2>err
	check_refused $? "$2" "$3"
}

# Refused by the node program itself: vmpirun makes each rank a process.
node_refused() {
	VMPI_JOB_RANKS=2 timeout 200 "$node" "$1" </dev/null >out 2>err
	check_refused $? "$2" "$3"
}

# check_refused CODE REGEX WHAT
check_refused() {
	is $1 2 "$3 is refused"
	like "$(cat err)" "$2" "the message says what to do"
	is "$(wc -l <err)" 1 "in one line"
}

echo 'int main(void) { return 0; }' >main.c
$cc main.c -o pie
node_refused ./pie "ordinary executable.*vmpicc" "an ordinary executable"
if $cc -no-pie -fno-pie main.c -o fixed 2>/dev/null; then
	node_refused ./fixed "ordinary executable.*vmpicc" "one at a fixed address"
fi
if $cc -static main.c -o static 2>/dev/null; then
	node_refused ./static "ordinary executable.*vmpicc" "a static one"
fi
$cc -shared -fPIC main.c -o library.so
refused ./library.so "shared library.*vmpicc" "a shared library"
printf '#!/bin/sh\ntrue\n' >script
chmod +x script
node_refused ./script "script.*vmpicc" "a script"
# interpreter NAME LINE REGEX: a script whose first line is wrong.
interpreter() {
	printf '%b\ntrue\n' "$2" >script
	refused ./script "this is a script, whose interpreter $3" "$1"
}
interpreter "a script of Windows" '#!/bin/sh\r' \
	"/bin/sh would have a name that ends in a carriage return.*dos2unix"
interpreter "a missing interpreter" '#! /no/such/sh -e' "/no/such/sh does not exist"
interpreter "a folder as interpreter" "#!$PWD" ".* is not a file"
interpreter "a text as interpreter" "#!$PWD/main.c" ".* may not be executed"
interpreter "a script of itself" "#!$PWD/script" ".* is a script that needs itself"
mkfifo pipe
chmod +x pipe
refused ./pipe "not a file" "a named pipe"
$cc -c main.c -o object.o
chmod +x object.o
refused ./object.o "object file.*vmpicc" "an object file"
echo text >text
chmod +x text
refused ./text "not a program.*vmpicc" "a text"
: >empty
chmod +x empty
refused ./empty "not a program.*vmpicc" "an empty file"
if command -v aarch64-linux-gnu-gcc >/dev/null; then
	if [ "$(uname -m)" != aarch64 ] &&
		aarch64-linux-gnu-gcc main.c -o foreign; then
		refused ./foreign "for aarch64.*vmpicc" \
			"a program for another machine"
	fi
fi
# Another MPI: a library of that name is enough.
echo 'int MPI_Init(int *c, char ***v) { return 0; }' >mpi.c
$cc -shared -fPIC mpi.c -o libmpi.so.40 -Wl,-soname,libmpi.so.40
echo 'int MPI_Init(int *, char ***); int main(void) { return MPI_Init(0, 0); }' \
	>other.c
$cc other.c -o other libmpi.so.40
refused ./other "another MPI.*libmpi.so.40.*vmpicc" "a program of another MPI"

# musl: the name of its dynamic linker, and of our library, is enough.
$cc -shared -fPIC -Wl,-soname,libmpi_abi.so.1 mpi.c -o libmpi_abi.so.1
$cc other.c -o musl libmpi_abi.so.1 -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1
refused ./musl "linked with musl.*glibc.*vmpicc" "a program for musl"

# Damaged files.
"$vmpicc" main.c -o good
bad=0
for cut in 1 3 16 63 64 100 400 1000 1500; do
	head -c "$cut" good >damaged
	chmod +x damaged
	run 2 ./damaged >out 2>err
	[ $? = 2 ] || { bad=$((bad + 1)); diag "cut at $cut: $(cat err)"; }
done
is $bad 0 "a program cut short is refused"

case ${VMPI_SANITIZE:-none} in
*address*) away= ;; # LeakSanitizer needs /proc itself
*) away=$(unshare -m echo away 2>/dev/null) ;;
esac
if [ "$away" ]; then
	unshare -m sh -c 'umount -l /proc && exec "$@"' - \
		"$vmpirun" -n 2 ./good >out 2>err </dev/null
	is $? 0 "without /proc a program runs"
	like "$(cat err)" 'each rank of ./good is a process.*/proc' \
		"as a process per rank, which is said"
else
	skip 2 "no file system can be taken away here"
fi
done_testing
