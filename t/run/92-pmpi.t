#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tools that define MPI functions and call PMPI_ functions see every call of
# every rank, however they get into the program.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

# lines RANKS: what the tool prints.
lines() {
	i=0
	while [ $i -lt "$1" ]; do
		echo "tool: rank $i has sent $((i + 2))"
		i=$((i + 1))
	done | sort
}

# seen RANKS NAME COMMAND...: the tool prints just its lines.
seen() {
	seen_ranks=$1
	seen_name=$2
	shift 2
	is "$(timeout 200 "$@" 2>&1 </dev/null | sort)" "$(lines "$seen_ranks")" \
		"$seen_name"
}

build libpmpi.so pmpi.c -shared
build liblibrary.so pmpi_user.c -shared -DIS_LIBRARY
build none pmpi_user.c
build linked pmpi_user.c -L. -lpmpi -Wl,-rpath,"$scratch"
build library pmpi_user.c -DWITH_LIBRARY -L. -llibrary -lpmpi \
	-Wl,-rpath,"$scratch"
build preloaded pmpi_user.c -DWITH_LIBRARY -L. -llibrary -Wl,-rpath,"$scratch"
build inside pmpi_user.c "$programs/pmpi.c" -DWITH_LIBRARY -L. -llibrary \
	-Wl,-rpath,"$scratch"

for program in linked library inside; do
	seen 9 "$program: each of 9 ranks" "$vmpirun" -n 9 ./$program
	seen 1 "$program: a single rank" "$vmpirun" -n 1 ./$program
	seen 1 "$program: without vmpirun" ./$program
done
seen 5 "several processes" "$vmpirun" -n 5 --nodes 2 ./library
is "$("$vmpirun" -n 3 ./none)" "" "a program without a tool runs without it"

for program in none preloaded; do
	seen 9 "LD_PRELOAD: $program" env LD_PRELOAD=./libpmpi.so \
		"$vmpirun" -n 9 ./$program
done
seen 4 "-x LD_PRELOAD, found in LD_LIBRARY_PATH, with another library" \
	env LD_LIBRARY_PATH="$scratch" "$vmpirun" -n 4 \
	-x "LD_PRELOAD=libm.so.6 libpmpi.so" ./preloaded
seen 1 "LD_PRELOAD: a single rank" "$vmpirun" -n 1 \
	-x LD_PRELOAD=./libpmpi.so ./preloaded
seen 1 "LD_PRELOAD: without vmpirun" env LD_PRELOAD=./libpmpi.so ./preloaded
seen 4 "LD_PRELOAD of a tool that is linked too" "$vmpirun" -n 4 \
	-x LD_PRELOAD="$scratch/libpmpi.so" ./linked
seen 4 "while calls are profiled" "$vmpirun" -n 4 --set core_intercept=keep \
	./linked

# Shared by choice: all ranks add to one counter, one after the other.
for how in "./linked" "-x LD_PRELOAD=./libpmpi.so ./preloaded" \
	"-x LD_PRELOAD=$scratch/libpmpi.so ./none"; do
	run 4 --workers 1 --shared=libpmpi $how >out 2>&1
	is "$(grep -c '^tool: ' out) $(sed 's/.* //' out | sort -n | tail -n 1)" \
		"4 14" "--shared=libpmpi: one instance for all ranks ($how)"
done

# An ordinary program: the dynamic linker itself does it all.
cc -I"$VMPI_SRC/include" -o ordinary "$programs/pmpi_user.c" \
	-L"$VMPI_BUILD/lib" -lvmpi -Wl,-rpath,"$VMPI_BUILD/lib" 2>cc.log ||
	diag "$(cat cc.log)"
seen 3 "LD_PRELOAD: ranks that are processes" "$vmpirun" -n 3 \
	-x LD_PRELOAD=./libpmpi.so ./ordinary

# What a rank starts gets the variable as it was given.
cat >env.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	puts(getenv("LD_PRELOAD"));
	return 0;
}
END
"$vmpicc" env.c -o env
is "$("$vmpirun" -n 2 -x LD_PRELOAD=./libpmpi.so ./env)" "./libpmpi.so
./libpmpi.so" "ranks see LD_PRELOAD as it was given"

# Also a library that all ranks share has a strtok() per rank.
cat >words.c <<'END'
#include <string.h>
char *words(char *text) { return strtok(text, " "); }
END
cat >splits.c <<'END'
#include <stdio.h>
#include <string.h>
#include <vmpi.h>
extern char *words(char *text);
int main(void)
{
	char text[64], last[16] = "";
	snprintf(text, sizeof(text), "a b c d %d", vmpi_rank());
	for (char *word = words(text); word; word = words(NULL)) {
		strcpy(last, word);
		vmpi_yield();
	}
	snprintf(text, sizeof(text), "%d", vmpi_rank());
	if (strcmp(last, text))
		printf("rank %d: %s\n", vmpi_rank(), last);
	return 0;
}
END
cc -shared -fPIC words.c -o libwords.so
"$vmpicc" splits.c -o splits -L. -lwords -Wl,-rpath,"$scratch"
is "$(run 8 ./splits)" "" "strtok() of a shared library is per rank"
done_testing
