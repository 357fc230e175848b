#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that are processes keep to a share of the cores each, where these suffice
# and nobody else has bound them.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
need taskset lscpu
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the programs would need the sanitizer too" ;;
esac
cores=$(lscpu -p=CORE,SOCKET | grep -v '^#' | sort -u | wc -l)
[ "$cores" -ge 2 ] && [ "$(nproc)" -eq "$(nproc --all)" ] ||
	skip_all "not all processors, or only one, may be used here"
libdir=$VMPI_BUILD/lib
cc -o cores "$programs/cores.c" -pthread "-I$VMPI_SRC/include" "-L$libdir" \
	-lmpi_abi "-Wl,-rpath,$libdir" 2>cc.out || diag "$(cat cc.out)"
unset VMPI_SCHED_BIND

# job OPTION...: what the processes say, in lines that are sorted.
job() {
	timeout 120 $before "$vmpirun" --processes "$@" ./cores </dev/null 2>&1 |
		sort
}

before=
out=$(job -n 2)
is "$(echo "$out" | grep -c '^some of [0-9 ]*$')" 2 \
	"two processes use a part of the processors each, and so do threads" ||
	diag "$out"
is "$(echo "$out" | tr -d a-z | tr ' ' '\n' | grep . | sort -n | uniq -c |
	awk '$1 == 1' | wc -l)" "$(nproc)" "and together all, each once" ||
	diag "$out"
is "$(job -n 2 --set sched_bind=0 | grep -c '^all of')" 2 \
	"they use all if they are told to"
is "$(job -n 1 | grep -c '^all of')" 1 "one process uses all"
if [ "$cores" -le 8 ]; then
	is "$(job -n 9 | grep -c '^all of')" 9 \
		"so do more processes than there are cores"
else
	skip 1 "there are too many cores for that"
fi
before='taskset -c 0'
is "$(job -n 2)" "all of 0
all of 0" "a binding of the user stays"
done_testing
