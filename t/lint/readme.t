#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The promises of README.md: its first program builds and runs uninstalled.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
[ -x "$VMPI_BUILD/vmpicc" ] && [ -x "$VMPI_BUILD/vmpirun" ] ||
	skip_all "vmpicc or vmpirun is not built"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the program would need the sanitizer too" ;;
esac

awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$VMPI_SRC/README.md" \
	>"$scratch/hello.c"
cd "$scratch" || exit 1
PATH=$VMPI_BUILD:$PATH

ok "the first program of README.md compiles" \
	vmpicc -O2 -Wall -Werror -o hello hello.c
timeout 100 vmpirun -n 64 ./hello >out 2>err
is $? 0 "it runs as 64 ranks"
is "$(sort -u out | wc -l)" 64 "each rank prints a line of its own"
is "$(grep -c ': sum 2016$' out)" 64 "the sum is that of private variables"
is "$(cat err)" "" "nothing is said on standard error"
timeout 100 ./hello >out 2>&1
is "$(cat out)" "rank 0 of 1: sum 0" "alone it is one rank"
done_testing
