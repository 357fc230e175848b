#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Thousands of copies: time, memory, mappings, and what is said at the limit.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

cat >many.c <<'END'
#include <stdio.h>
#include <string.h>
#include <vmpi.h>
#ifndef BSS
#define BSS 1
#endif
int own = 3;
char zero[BSS];
/* The memory of the process, and of one rank. */
static long pss(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Pss: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}
int main(void)
{
	own += vmpi_rank();
	zero[BSS / 2] = 1;
	vmpi_barrier(vmpi_world());
	if (own != 3 + vmpi_rank())
		printf("wrong\n");
	if (vmpi_rank() == 0)
		printf("pss %ld\n", pss());
	vmpi_barrier(vmpi_world());
	printf("hello\n");
	return 0;
}
END
"$vmpicc" -O2 many.c -o many
"$vmpicc" -O2 -DBSS=100000 many.c -o bss
"$vmpicc" -O2 many.c -o segments -Wl,-z,separate-code,-z,relro

now() {
	date +%s%N | cut -c 1-13
}
plain=no
case ${VMPI_SANITIZE:-none} in
none) plain=yes ;;
esac

run 1 ./many >one
start=$(now)
run 4096 ./many >out
is $? 0 "4096 copies run"
took=$(($(now) - start))
is "$(grep -c hello out)" 4096 "and all say hello"
none "$(grep wrong out)" "with globals of their own"
each=$((($(sed -n 's/pss //p' out) - $(sed -n 's/pss //p' one)) / 4096))
diag "4096 ranks: $took ms, $each KiB each"
if [ $plain = yes ]; then
	ok "in less than 40 KiB each" test "$each" -lt 40
else
	skip 1 "measured without sanitizers"
fi
is "$(run 1000 ./bss | grep -c hello)" 1000 "with large uninitialised data"
is "$(run 1000 ./segments | grep -c hello)" 1000 "with many segments"

limit=$(cat /proc/sys/vm/max_map_count)
if [ $plain = yes ] && [ "$limit" -ge 65530 ] && [ "$limit" -lt 200000 ]; then
	is "$(run 30000 ./many | grep -c hello)" 30000 "30000 copies run"
	is "$(run 25000 ./bss | grep -c hello)" 25000 \
		"data and bss are joined when mappings are short"
	run 300000 ./many >out 2>err
	is $? 2 "300000 copies do not"
	like "$(cat err)" "max_map_count=[0-9]+" "which names the limit"
	is "$(wc -l <err)" 1 "in one line"
else
	skip 5 "needs the usual vm.max_map_count, and no sanitizers"
fi
done_testing
