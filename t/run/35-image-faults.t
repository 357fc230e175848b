#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A fault is reported in one line, whatever is broken.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "sanitizers report faults by themselves" ;;
esac
ulimit -c 0

build circle circle.c -pthread -Wno-infinite-recursion

place='s/ in .*//; s/ (.*//'

# says KIND STATUS TEXT NAME: the job ends so, and vmpirun's only line begins so.
says() {
	for says_workers in 1 2; do
		run 2 --workers $says_workers ./circle "$1" >out 2>&1
		is "$? $(grep -c vmpirun: out)" "$2 1" \
			"$4: one line, $says_workers workers"
		grep '^vmpirun:' out | sed "$place" >line
		grep -q -x "vmpirun: $3" line
		is $? 0 "$4: it names the rank" || diag "$(cat out)"
	done
}

nowhere="rank 1: SIGSEGV at address 0x0"
says call 139 "$nowhere" "a call of NULL"
says page 139 "rank 1: SIGSEGV at address 0x[0-9a-f]*" "an unreadable first page"
says tables 139 "$nowhere" "unreadable tables of the program"
# What others read may be on these pages, too.
says all 139 "rank [01]: SIGSEGV at address 0x[0-9a-f]*" "unreadable tables of everything"
says destructor 139 "rank [01]: SIGSEGV at address 0x[0-9a-f]*" "the same in a destructor"
says deep 139 "rank 1 overflowed its stack of [0-9]* KiB" \
	"a stack that overflows"
says handler 139 "$nowhere" "a fault in the rank's own handler"
says handler-deep 139 "$nowhere" "one on its alternate stack"
says thread 139 "$nowhere" "a fault of another thread"
says both 139 "rank [01]: SIGSEGV at address 0x0" "faults of two ranks"
run 2 ./circle heap >out 2>&1
is "$? $(grep vmpirun: out | sed "$place")" "134 vmpirun: rank 1 called abort()" \
	"a damaged heap"

# vmpi-where cannot be started, and what the second way needs never comes.
cat >hang.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
static int hung(const char *path)
{
	if (strcmp(path, "/proc/self/maps") || access("stuck", F_OK))
		return 0;
	while (access("spin", F_OK))
		pause();
	for (;;)
		;
}
int clone(int (*run)(void *), void *stack, int flags, void *arg, ...)
{
	return -1;
}
int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	hung(path);
	return openat(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
END
cc -shared -fPIC -O1 hang.c -o hang.so
for how in sleeps computes; do
	rm -f stuck
	[ $how = sleeps ] || : >spin
	LD_PRELOAD=$PWD/hang.so timeout 60 "$vmpirun" -n 2 ./circle stuck >out 2>&1 </dev/null
	is "$? $(grep vmpirun: out | sed "$place")" \
		"134 vmpirun: rank 1 called abort()" \
		"a report that $how for ever is ended with what is certain" ||
		diag "$(cat out)"
done
done_testing
