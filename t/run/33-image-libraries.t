#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Libraries of a program are private to a rank, unless they are the system's or
# the user says otherwise.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

# wanted RANKS [TEXT]: a shared library counts the calls in the process of rank
# 0, which has the most ranks of all.
wanted() {
	i=0
	processes=${TAP_ACROSS:-1}
	[ "$processes" -le "$1" ] || processes=$1
	while [ $i -lt "$1" ]; do
		tail=
		[ $i = 0 ] && tail=" calls $((($1 + processes - 1) / processes))"
		echo "rank $i: start 0 state $i global $i${2:+ $2 $i}$tail"
		i=$((i + 1))
	done | sort
}

mkdir lib
build lib/libstate.so library.c -shared
build lib/libplain.so plain.c -shared
build uses uses.c -Llib -lstate -lplain -Wl,-rpath,'$ORIGIN/lib'
for ranks in 1 2 12; do
	is "$(run $ranks --shared=libplain ./uses | grep ^rank | sort)" "$(wanted $ranks)" \
		"the library's state is private, $ranks ranks"
done
is "$(run 3 ./uses | grep ends | sort)" "library of 0 ends
library of 1 ends
library of 2 ends" "its destructors run once per rank"
is "$(cd / && "$scratch/uses" | grep ^rank)" "$(wanted 1)" \
	"a library beside the program is found from elsewhere"
is "$(cd / && run 3 --shared libplain.so "$scratch/uses" |
	grep ^rank | sort)" "$(wanted 3)" \
	"also by several ranks"

# What is private and what is shared.
is "$(run 3 ./uses | grep -o 'calls.*')" "calls 1" \
	"a library that does not call MPI is private as well"
is "$(run 3 --private=libplain --shared=libplan ./uses 2>&1)" \
	"vmpi: --private, --shared: libplan is no library of $scratch/uses, or of the C library; ldd lists them" \
	"a name that is no library's is a mistake"
run 3 --shared=libplain,libstate ./uses 2>&1 | grep ^rank | sort >out
is "$(grep -c "global 3" out)" 3 "a library that calls MPI may be shared" ||
	diag "$(cat out)"
run 3 --private lib/libplain.so ./uses >out 2>err
is $? 2 "a path is not a name"
like "$(cat err)" "names of libraries such as libone,libtwo" "which is said"
is "$(run 2 -v --shared=libplain ./uses 2>&1 | grep '^vmpirun' | grep -v 'lib[hu]\|libcap\|lib[at]san\|libgcc_s\|libstdc' |
	sort |
	sed 's/ (.*//')" "vmpirun: ./uses: libplain.so is shared
vmpirun: ./uses: libstate.so is private
vmpirun: ./uses: ranks share a process; each has its own copy of the program" \
	"-v lists them"

# A library behind a library, and one that calls back into the program.
build lib/libouter.so plain.c -shared -Wl,--no-as-needed -Llib -lstate
build nested uses.c -Llib -lstate -lplain -Wl,--no-as-needed -louter \
	-Wl,-rpath,'$ORIGIN/lib'
LD_LIBRARY_PATH=lib
export LD_LIBRARY_PATH
is "$(run 3 ./nested | grep ^rank | sort | sed 's/ calls.*//')" \
	"$(wanted 3 | sed 's/ calls.*//')" \
	"a library that needs a private one is private"
build lib/libcall.so library.c -shared -DWITH_CALLBACK
build calls uses.c -DWITH_CALLBACK -Llib -lcall -lplain
is "$(run 3 --shared=libplain ./calls | grep ^rank | sort)" "$(wanted 3 callback)" \
	"a library may take symbols from the program"
run 3 --shared libouter ./nested >out 2>err
is $? 2 "a shared library cannot need a private one"
like "$(cat err)" "--shared: libouter.so needs a library that is private" \
	"which is said"
unset LD_LIBRARY_PATH
run 2 ./calls >out 2>err
is $? 2 "a library that is not found is an error"
like "$(cat err)" "libcall.so is not found.*LD_LIBRARY_PATH" "which names it"

# A library of the rank's own sees what the program has set in libc.
cat >seen.c <<'END'
#include <stdlib.h>
const char *seen(void)
{
	return getenv("SET") ? getenv("SET") : "nothing";
}
int drawn(void)
{
	return rand();
}
END
cat >sets.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <vmpi.h>
const char *seen(void);
int drawn(void);
int main(void)
{
	char text[16];
	int number;

	snprintf(text, sizeof(text), "%d", vmpi_rank());
	setenv("SET", text, 1);
	srand(vmpi_rank() + 1u);
	vmpi_barrier(vmpi_world());
	number = drawn();
	vmpi_barrier(vmpi_world());
	srand(vmpi_rank() + 1u);
	vmpi_barrier(vmpi_world());
	printf("rank %d: %s %s\n", vmpi_rank(), seen(),
	       number == rand() ? "same" : "another");
	return 0;
}
END
"$vmpicc" -shared -fPIC -o lib/libseen.so seen.c
"$vmpicc" -o sets sets.c -Llib -lseen -Wl,-rpath,'$ORIGIN/lib'
for ranks in 1 3; do
	is "$(run $ranks ./sets | sort)" "$(seq 0 $((ranks - 1)) |
		sed 's/.*/rank &: & same/')" \
		"its libraries have the environment and rand() of the rank, $ranks ranks"
done

# Initial-exec thread-local variables have room in libc's static block only.
cat >tls.c <<'END'
#include <stdio.h>
#include <vmpi.h>
static __thread char block[64] __attribute__((tls_model("initial-exec")));
int main(void)
{
	block[5] = (char)vmpi_rank();
	vmpi_barrier(vmpi_world());
	if (block[5] != (char)vmpi_rank())
		printf("rank %d: %d\n", vmpi_rank(), block[5]);
	return 0;
}
END
"$vmpicc" tls.c -o tls
is "$(run 500 ./tls 2>&1; echo $?)" 0 "500 blocks of static TLS"
is "$(env -u GLIBC_TUNABLES VMPI_JOB_RANKS=500 timeout 200 "$node" ./tls 2>&1
	echo $?)" 0 "also when nobody has made room for them"
case ${VMPI_SANITIZE:-none} in
none) is "$(run 8000 ./tls 2>&1; echo $?)" 0 "8000 blocks" ;;
*) skip 1 "too slow with sanitizers" ;;
esac
done_testing
