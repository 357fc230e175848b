#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What is written to the file of a program that runs does nothing to its ranks.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

build liblibrary.so kept.c -DLIBRARY -shared -fPIC
build kept kept.c -L. -llibrary -Wl,-rpath,"$PWD"
cp kept kept.good
cp liblibrary.so library.good
head -c 100000 /dev/zero >zeros

# goes NAME COMMAND ARGUMENT...: of vmpirun; the command is one of the ranks'.
goes() {
	goes_name=$1
	goes_command=$2
	shift 2
	cp kept.good kept
	cp library.good liblibrary.so
	is "$(timeout 100 "$vmpirun" "$@" "$goes_command" 2>&1 </dev/null)" \
		"status 0 sum 12" "$goes_name: the job goes on"
	cmp -s kept kept.good && cmp -s liblibrary.so library.good
	is $? 1 "$goes_name: the file has been written to"
}

for ranks in 1 2 5; do
	goes "truncated, $ranks ranks" ": >kept" -n $ranks ./kept
	goes "zeros, $ranks ranks" "cat zeros >kept" -n $ranks ./kept
done
goes "a library of its own" "cp zeros liblibrary.so" -n 4 ./kept
goes "two processes" "cp zeros kept" -n 4 --nodes 2 ./kept
goes "two workers" "cp zeros kept" -n 4 --workers 2 ./kept
goes "a child that was there before" "sleep 100 & child=\$!; cp zeros kept; kill \$child" \
	-n 2 ./kept
cp kept.good kept
is "$(timeout 100 ./kept "cp zeros kept" 2>&1)" "status 0 sum 12" "started directly"

# Without a lease: somebody else may write to the file.
other="setpriv --reuid 65534 --regid 65534 --clear-groups"
if [ "$(id -u)" = 0 ] && $other test -x "$node" 2>/dev/null; then
	chmod 777 .
	for ranks in 1 3; do
		rm -f kept
		cp kept.good kept
		chmod 777 kept
		is "$(HOME=$PWD timeout 100 $other "$vmpirun" -n $ranks ./kept ": >kept" \
			2>&1 </dev/null)" "status 0 sum 12" \
			"without a lease, $ranks ranks"
	done
else
	skip 2 "no other user here"
fi

# An ordinary executable.
if ${CC:-cc} -I"$VMPI_SRC/include" -O1 "$programs/kept.c" -o kept.good -L. -llibrary \
	-L"$VMPI_BUILD/lib" -lmpi_abi -Wl,-rpath,"$PWD:$VMPI_BUILD/lib" 2>err; then
	for ranks in 1 3; do
		goes "ordinary, $ranks ranks" ": >kept" -n $ranks ./kept
	done
else
	skip 4 "no ordinary executables here"
fi
done_testing
