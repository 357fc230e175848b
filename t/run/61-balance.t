#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --balance: which programs have ranks that can move, what is said about the
# others, that results do not depend on it, and placements for the next run.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
vmpirun=$VMPI_BUILD/vmpirun
vmpicc=$VMPI_BUILD/vmpicc
[ -x "$vmpirun" ] || skip_all "vmpirun is not built"
[ "$(uname -m)" = x86_64 ] || skip_all "ranks move on x86-64 only"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "ranks stay: the sanitizer's library has thread-local variables" ;;
esac
cd "$scratch" || exit 1

run() {
	timeout 250 "$vmpirun" -n 4 --workers 2 "$@"
}

# stays NAME: what is said about why its ranks stay.
stays() {
	run --balance=auto "./$1" 2>&1 >/dev/null |
		sed -n 's/^vmpirun: balance: ranks were not moved: //p'
}

# program NAME TEXT [OPTION...]: a program with this text before main.
program() {
	name=$1
	printf '%s\n' '#include <mpi.h>' '#include <stdio.h>' \
		'#include <stdlib.h>' "$2" >"$name.c"
	shift 2
	"$vmpicc" -O2 "$name.c" -o "$name" "$@" ||
		bail "$name.c cannot be compiled"
}
main='int main(int argc, char **argv) { MPI_Init(&argc, &argv); work();
	MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 0; }'

program plain "static void work(void) { free(malloc(9)); }
$main"
is "$(stays plain)" "" "a plain program's ranks can move"
out=$(run --balance=auto ./plain 2>&1)
case $out in
'vmpirun: balance: '*' of ranks in '*' rounds; '*) out=right ;;
esac
is "$out" right "what has been done is told"
is "$(timeout 250 "$vmpirun" -n 4 --workers 1 --balance=auto ./plain 2>&1)" \
	"vmpirun: balance: ranks were not moved: there is only one worker" \
	"nor is there anywhere to go with one worker"
is "$(run --balance=off ./plain 2>&1)" "" "off says nothing"
program tls "static __thread int n; static void work(void) { n++; }
$main"
is "$(stays tls)" "tls has thread-local variables" "thread-local variables tie"
program self "#include <pthread.h>
static pthread_t me; static void work(void) { me = pthread_self(); if (!me) exit(1); }
$main"
is "$(stays self)" \
	"self imports pthread_self: locks, keys and names belong to threads" \
	"so does what belongs to a thread"
program uses_errno "#include <errno.h>
static void work(void) { errno = 0; strtol(\"99999999999999999999\", NULL, 10);
	if (errno != ERANGE) exit(1); }
$main"
is "$(stays uses_errno)" "" "errno does not, it is looked up each time"
program loads "#include <dlfcn.h>
static void work(void) { dlopen(\"libm.so.6\", RTLD_NOW); }
$main"
is "$(stays loads)" "loads imports dlopen: libraries that nobody has looked at" \
	"and loading what was not looked at"
printf '__thread int library_n; int library(void) { return library_n++; }\n' >library.c
${CC:-cc} -shared -fPIC library.c -o liblibrary.so
program uses "int library(void); static void work(void) { library(); }
$main" -L. -llibrary "-Wl,-rpath,$PWD"
is "$(stays uses)" "liblibrary.so has thread-local variables" \
	"a library's count as the program's"
if [ -x "$VMPI_BUILD/vmpic++" ]; then
	cat >throws.cc <<-'END'
		#include <mpi.h>
		#include <iostream>
		#include <memory>
		#include <string>
		#include <vector>
		int main(int argc, char **argv)
		{
			MPI_Init(&argc, &argv);
			int rank, caught = 0;
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			auto text = std::make_shared<std::string>("x");
			for (int i = 0; i < 300; i++) {
				try {
					throw i;
				} catch (int n) {
					MPI_Barrier(MPI_COMM_WORLD);
					try {
						throw;
					} catch (int m) {
						caught += m == n && m == i;
					}
				}
			}
			if (caught != 300)
				std::cout << "rank " << rank << ": " << caught
					  << " of 300" << *text << std::endl;
			MPI_Finalize();
		}
	END
	"$VMPI_BUILD/vmpic++" -O2 throws.cc -o throws
	out=$(run --balance=auto --set core_balance_shuffle=20 ./throws 2>&1)
	moves=${out#vmpirun: balance: }
	moves=${moves%% moves of*}
	ok "exceptions go along with ranks that move ($moves times)" \
		[ "$moves" -gt 10 ]
else
	skip 1 "there is no C++ compiler"
fi

# Programs of t/mpi, whose ranks move all the time; their harness takes a lock of
# stdio, but never over an MPI call.
for name in p2p-any p2p-modes p2p-complete icoll neighbor; do
	program=$VMPI_BUILD/t/mpi/mpi-$name
	[ -x "$program" ] || {
		skip 2 "mpi-$name is not built"
		continue
	}
	for nodes in 1 2; do
		timeout 250 "$vmpirun" -n 9 --nodes $nodes --workers 2 \
			--balance=force --set core_balance_shuffle=40 \
			"$program" >"$name.out" 2>&1
		is "$? $(grep -c '^not ok' "$name.out")" "0 0" \
			"$name does not notice, in $nodes process(es)"
	done
done

# Ranks that compute 1 to 8 times as long.
"$vmpicc" -O2 "$VMPI_SRC/bench/uneven.c" -o uneven
result() {
	sed -n 's/^seconds.*result //p'
}
uneven() {
	timeout 250 "$vmpirun" -n 16 --workers 2 "$@" ./uneven 150 5
}
want=$(uneven | result)
out=$(uneven --balance=auto --set core_balance_round=10 2>&1)
is "$(echo "$out" | result)" "$want" "the result is the same, to the bit"
moves=$(echo "$out" | sed -n 's/^vmpirun: balance: \([0-9]*\) move.*/\1/p')
ok "ranks have moved ($moves times)" [ "${moves:-0}" -gt 0 ]
is "$(uneven --balance=auto --set core_balance_shuffle=30 2>/dev/null | result)" \
	"$want" "and when they move all the time"
out=$(uneven --balance=auto --set core_balance_round=10 \
	--set core_balance_log=on 2>&1 | grep -c '^vmpi: balance: round [0-9]*: ')
ok "each round can be looked at ($out lines)" [ "$out" -gt 1 ]

is "$(uneven --balance=learn 2>said | result)" "$want" "learn changes nothing"
case $(cat said) in
"vmpirun: balance: placement written to $PWD/vmpi.map: "*) out=right ;;
*) out=$(cat said) ;;
esac
is "$out" right "but writes a file"
is "$(uneven --map vmpi.map | result)" "$want" "which --map takes"
uneven --nodes 2 --balance=learn=two.map >/dev/null 2>&1
is "$(sed -n 's/^[^#]* \([0-9]\):.*/\1/p' two.map | sort -u | tr '\n' ' ')" \
	"0 1 " "several nodes write one"
is "$(uneven --map two.map --set mpi_coll_allreduce_algorithm=ordered \
	--set mpi_coll_reduce_algorithm=ordered | result)" \
	"$want" "which makes as many again"
is "$(uneven --balance=learn=/nowhere/x 2>&1 >/dev/null)" \
	"vmpi: --balance=learn: /nowhere/x: No such file or directory" \
	"a file that cannot be written"
out=$(run --balance=force ./tls 2>&1 | sed -n 1p)
is "$out" "vmpirun: balance: forced, although tls has thread-local variables" \
	"force moves whatever one has, and says so"
out=$(run --balance=maybe ./plain 2>&1)
is "$? $out" \
	"2 vmpirun: --balance maybe: off, auto, force, learn or learn=FILE is needed" \
	"another word"
done_testing
