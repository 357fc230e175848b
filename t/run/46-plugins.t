#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Libraries that ranks open by dlopen() are private, as those that the program is
# linked with.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the programs would need the sanitizer too" ;;
esac
libdir=$VMPI_BUILD/lib
cc="${CC:-cc} -g -O1 -Wall -I$VMPI_SRC/include"

mkdir lib
$cc -shared -fPIC -DNEEDED -o lib/libneeded.so "$programs/plugin.c"
$cc -shared -fPIC -o lib/plugin.so "$programs/plugin.c" -Llib -lneeded \
	-Wl,-rpath,'$ORIGIN'
build image plugin-host.c -ldl -Wl,-rpath,'$ORIGIN/lib'
programs_made=./image
if [ "$(uname -m)" = x86_64 ]; then
	$cc -rdynamic -o ordinary "$programs/plugin-host.c" "-L$libdir" \
		-lmpi_abi -ldl -Wl,-rpath,'$ORIGIN/lib'
	programs_made="./image ./ordinary"
fi

# good RANKS NAME WORD...
good() {
	good_ranks=$1
	good_name=$2
	shift 2
	run "$good_ranks" "$@" libm.so.6 >out 2>err
	is $? 0 "$good_name: exit code 0" || diag "$(head -n 30 out err)"
	is "$(grep -c ': 0 faults' out)" "$good_ranks" \
		"$good_name: each rank has its own"
	is "$(grep -c '^plugin of [0-9]* ends' out)" $((4 * good_ranks)) \
		"$good_name: destructors run each time it is closed"
}
for program in $programs_made; do
	good 2 "$program, a path" $program lib/plugin.so
	good 16 "$program, 16 ranks" $program lib/plugin.so
	good 3 "$program, in DT_RUNPATH" $program plugin.so
	LD_LIBRARY_PATH=lib good 3 "$program, in LD_LIBRARY_PATH" $program \
		plugin.so
	good 3 "$program, one worker" --workers 1 $program plugin.so
done
good 1 "one rank" ./image plugin.so

run 1 --shared=plugin,libneeded ./image plugin.so libm.so.6 >out 2>&1
like "$(cat out)" "plugin.so: undefined symbol: program_number" \
	"by --shared it is opened as always, and not bound to a program" ||
	diag "$(cat out)"

# What cannot be opened is said by dlerror().
echo text >lib/text.so
cat >bad.c <<'END_C'
#include <dlfcn.h>
#include <stdio.h>
#include <vmpi.h>
int main(int argc, char **argv)
{
	void *handle = dlopen(argv[1], RTLD_NOW);

	vmpi_barrier(vmpi_world());
	printf("%s\n", handle ? "opened" : dlerror());
	return 0;
}
END_C
"$vmpicc" bad.c -o bad
echo 'extern int nobody_has(void); int f(void) { return nobody_has(); }' >open.c
$cc -w -shared -fPIC -o lib/open.so open.c
like "$(run 2 ./bad lib/text.so 2>&1)" "text.so: (file too short|invalid ELF)" \
	"a file that is no library"
like "$(run 2 ./bad lib/open.so 2>&1)" "undefined symbol: nobody_has" \
	"a symbol that nobody has"
is "$(run 2 ./bad libm.so.6 2>&1 | uniq -c | tr -s ' ')" " 2 opened" \
	"the system's are opened"
done_testing
