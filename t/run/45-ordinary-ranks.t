#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ordinary executables, as any compiler makes them against the MPI ABI, are loaded
# once per rank; those that cannot be are processes, and vmpirun says why.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
need readelf
[ "$(uname -m)" = x86_64 ] || skip_all "ranks are processes on this machine"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the programs would need the sanitizer too" ;;
esac
libdir=$VMPI_BUILD/lib
cc="${CC:-cc} -g -O1 -Wall -I$VMPI_SRC/include"
cxx="${CXX:-c++} -std=c++17 -g -O1 -Wall -I$VMPI_SRC/include"

# A stub, as of the MPI Forum: the name and the functions, which do nothing.
{
	echo 'int nothing;'
	readelf -W --dyn-syms "$libdir/libmpi_abi.so.1" |
		sed -n 's/.* \(P*MPI_[A-Za-z_]*\)$/int \1(void) { return 1; }/p' |
		sort -u
} >stub.c
mkdir stub
${CC:-cc} -w -shared -fPIC -o stub/libmpi_abi.so stub.c \
	-Wl,-soname,libmpi_abi.so.1
ok "a program is linked with a stub library" \
	$cc -o plain "$programs/ordinary.c" -Lstub -lmpi_abi -pthread

# good RANKS NAME WORD...: all ranks, in one process, are content and end.
good() {
	good_ranks=$1
	good_name=$2
	shift 2
	run "$good_ranks" "$@" >out 2>err
	is $? 0 "$good_name: exit code 0" || diag "$(head -n 20 out err)"
	is "$(grep -c "of $good_ranks: 0 faults" out)" "$good_ranks" \
		"$good_name: all ranks are content"
	is "$(sort -u out | grep -c '^rank [0-9]\{1,2\} ends$')" "$good_ranks" \
		"$good_name: destructors run" || diag "$(cat out)"
}
for ranks in 1 4 64; do
	good $ranks "$ranks ranks" ./plain -a word -b last
	is "$(sed -n 's/.*pid //p' out | sort -u | wc -l)" "${TAP_ACROSS:-1}" \
		"$ranks ranks: in one process"
done
good 8 "2 nodes" --nodes 2 ./plain -a word -b last
good 6 "one worker" --workers 1 ./plain -a word -b last

# The program's copy of stdout is the rank's stream, as libc's own: what is
# written in several ways is one line.
cat >streams.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 2; i++) {
		FILE *file = i ? stderr : stdout;

		if (!i)
			printf("rank ");
		else
			perror("rank");
		fprintf(file, "%d ", rank);
		putc('c', file);
		fputs(" s", file);
		i ? (void)fputc('\n', file) : (void)putchar('\n');
	}
	MPI_Finalize();
	return 0;
}
END
$cc -O2 -o streams streams.c -Lstub -lmpi_abi
run 8 ./streams >out 2>err
is "$(sort out)" "$(seq 0 7 | sed 's/.*/rank & c s/')" \
	"output goes one way, however a program writes it"
is "$(grep -v '^rank: ' err | sort)" "$(seq 0 7 | sed 's/$/ c s/')" \
	"and so do errors"

# Other ways to link.
$cc -o native "$programs/ordinary.c" "-L$libdir" -lvmpi -pthread
good 4 "-lvmpi" ./native -a word -b last
$cc -O3 -fno-plt -rdynamic -o now "$programs/ordinary.c" -Lstub -lmpi_abi \
	-pthread -Wl,-z,now,-z,nodlopen,--hash-style=sysv
good 4 "-rdynamic -fno-plt -z now" ./now -a word -b last
for linker in gold lld; do
	if $cc -fuse-ld=$linker -o "by-$linker" "$programs/ordinary.c" \
		-Lstub -lmpi_abi -pthread 2>/dev/null; then
		good 4 $linker ./by-$linker -a word -b last
	else
		skip 3 "there is no linker $linker"
	fi
done
if command -v clang >/dev/null; then
	clang -O2 -I"$VMPI_SRC/include" -o by-clang "$programs/ordinary.c" \
		-Lstub -lmpi_abi -pthread -pie -fPIE
	good 4 clang ./by-clang -a word -b last
else
	skip 3 "there is no clang"
fi

# A library that does not call MPI; the program uses its variable, and it uses
# one of the program's.
mkdir lib
$cc -shared -fPIC -o lib/libown.so "$programs/ordinary-library.c"
$cc -DWITH_LIBRARY -o owner "$programs/ordinary.c" -Llib -lown -Lstub -lmpi_abi \
	-pthread -Wl,-rpath,'$ORIGIN/lib'
good 16 "a library" ./owner -a word -b last

# Only a library of a library of the program calls MPI; each finds the next one
# in another way.
cat >inner.c <<'END_C'
#include <mpi.h>
static int calls;
int inner_call(int *rank)
{
	int size, sum;

	MPI_Comm_rank(MPI_COMM_WORLD, rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return 100 * ++calls + (sum == size * (size - 1) / 2);
}
void inner_start(void) { MPI_Init(0, 0); }
void inner_end(void) { MPI_Finalize(); }
END_C
cat >outer.c <<'END_C'
int inner_call(int *rank);
void inner_start(void), inner_end(void);
int outer_state;
int outer_call(int *rank)
{
	int result = inner_call(rank);

	outer_state += *rank;
	return result;
}
void outer_start(void) { inner_start(); }
void outer_end(void) { inner_end(); }
END_C
cat >user.c <<'END_C'
#include <stdio.h>
#include <unistd.h>
extern int outer_state, outer_call(int *rank);
extern void outer_start(void), outer_end(void);
static int own;
int main(void)
{
	int rank, result;

	outer_start();
	outer_call(&rank);
	result = outer_call(&rank);
	own += rank;
	printf("%d, %d of itself, %d, pid %d\n", result, outer_state - 2 * rank,
	       own - rank, (int)getpid());
	outer_end();
	return 0;
}
END_C
mkdir outer inner
ln -s libmpi_abi.so stub/libmpi_abi.so.1
$cc -shared -fPIC -o inner/libinner.so inner.c -Lstub -lmpi_abi
# framework NAME FOLDER-OF-OUTER FLAGS-OF-OUTER FLAGS-OF-PROGRAM
framework() {
	$cc -shared -fPIC -o outer/libouter.so outer.c -Linner -linner $2
	$cc -o user user.c -Louter -louter -Wl,-rpath-link,inner:stub $3
	run 8 ./user >out 2>err
	is $? 0 "$1: exit code 0" || diag "$(cat out err)"
	is "$(sed 's/, pid.*//' out | sort | uniq -c | tr -s ' ')" \
		" 8 201, 0 of itself, 0" "$1: variables are private" ||
		diag "$(cat out)"
	is "$(sed 's/.*pid //' out | sort -u | wc -l)" "${TAP_ACROSS:-1}" \
		"$1: in one process"
}
framework "MPI in a library of a library, RUNPATH" \
	'-Wl,--enable-new-dtags,-rpath,$ORIGIN/../inner' \
	'-Wl,--enable-new-dtags,-rpath,$ORIGIN/outer'
# That of the program is for its libraries' libraries too.
framework "RPATH" '' \
	'-Wl,--disable-new-dtags,-rpath,$ORIGIN/outer:$ORIGIN/inner'
LD_LIBRARY_PATH=$scratch/outer:$scratch/inner
export LD_LIBRARY_PATH
framework LD_LIBRARY_PATH '' ''
like "$(run 8 -v ./user 2>&1)" \
	"^vmpirun: ./user: libinner.so is private \\($scratch/inner" \
	"-v names them"
# A tool that is preloaded does not make an MPI program of any other.
like "$(run 1 --dry-run -x LD_PRELOAD=libinner.so sleep 0 2>&1)" \
	"each rank is a process: it is not linked with libmpi_abi" \
	"a preloaded library of MPI does not count"
unset LD_LIBRARY_PATH

# A library of another MPI, behind another.
cat >other.c <<'END_C'
int other(void) { return 0; }
END_C
$cc -shared -fPIC -o inner/libmpi.so other.c -Wl,-soname,libmpi.so.40
ln -s libmpi.so inner/libmpi.so.40
$cc -shared -fPIC -o outer/libouter.so other.c -Wl,--no-as-needed -Linner -lmpi \
	'-Wl,-rpath,$ORIGIN/../inner'
echo 'int other(void); int main(void) { return other(); }' >user.c
$cc -o user user.c -Louter -louter -Wl,-rpath-link,inner \
	'-Wl,-rpath,$ORIGIN/outer'
run 2 ./user >out 2>err
is $? 2 "a program whose library needs another MPI is refused"
like "$(cat err)" "^vmpirun: ./user: this program was built for another MPI \\(libmpi.so.40\\)" \
	"by the name of that MPI"

# C++.
if $cxx -o cxx "$programs/ordinary.cc" -Lstub -lmpi_abi -pthread 2>err; then
	good 1 "C++, one rank" ./cxx
	good 64 "C++" ./cxx
	is "$(sort -u out | grep -c '^rank 10[0-9][0-9] ends$')" 64 \
		"C++: so do those of thread_local objects"
else
	diag "$(cat err)"
	skip 7 "there is no C++ compiler"
fi
if [ -x cxx ] && $cxx -fopenmp -o omp "$programs/ordinary.cc" -Lstub -lmpi_abi \
	2>/dev/null; then
	OMP_NUM_THREADS=3 good 6 "OpenMP" ./omp
	OMP_NUM_THREADS=3 good 32 "OpenMP, many ranks" ./omp
	OMP_NUM_THREADS=3 good 1 "OpenMP, one rank" ./omp
	like "$(run 2 -v ./omp 2>&1)" 'ranks share a process' \
		"OpenMP: ranks share a process"
else
	skip 10 "there is no OpenMP"
fi

# refused REGEX NAME WORD...: a process per rank, and why.
refused() {
	regex=$1
	name=$2
	shift 2
	LD_LIBRARY_PATH=$libdir run 2 -v "$@" >out 2>err
	is $? 0 "$name: it runs" || diag "$(cat out err)"
	like "$(cat err)" "^vmpirun: .*each rank is a process: $regex" \
		"$name: vmpirun says why"
	is "$(sort -u out | wc -l)" 2 "$name: as processes" || diag "$(cat out)"
}
cat >small.c <<'END_C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifdef THREADS
#include <threads.h>

static int run(void *arg)
{
	return !arg;
}
#endif
#ifdef LARGE
static __thread volatile char large[LARGE];
#endif
#ifdef REPLACES
void *memalign(size_t, size_t);
void *aligned_alloc(size_t align, size_t bytes)
{
	return memalign(align, bytes);
}
#endif

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
#ifdef LARGE
	large[argc] = 1;
#endif
#ifdef THREADS
	thrd_t thread;

	if (thrd_create(&thread, run, argv) == thrd_success)
		thrd_join(thread, NULL);
#endif
#ifdef ZONE
	if (tzname[0] == argv[0])
		return 1;
#endif
#ifdef GO
	static char mark[] = "\xff Go buildinf:";

	if (mark[argc] == argv[0][0])
		mark[0] = 0;
#endif
#ifdef D
	extern void _d_dso_registry(void *) __attribute__((weak));

	if (_d_dso_registry)
		return 1;
#endif
#pragma omp parallel
	getppid();
	printf("pid %d\n", (int)getpid());
	MPI_Finalize();
	return 0;
}
END_C
small="$cc small.c -L$libdir -lmpi_abi"
$small -o small
refused "--processes is given" "--processes" --processes ./small
refused "--agent is given" "--agent" --agent env ./small
$small -DGO -o go
refused "it is a Go program" "what has the mark of Go's linker" ./go
$small -DD -o d
refused "it is a D program" "what needs D's runtime" ./d
$small -DLARGE=8000 -o large
refused "its thread-local variables take 8000 bytes" "large TLS" ./large
$small -DZONE -o zone
refused "it uses _*tzname, a variable of libc" "a variable of libc" ./zone
$small -fno-builtin -DREPLACES -o replaces
refused "it replaces malloc" "another malloc" ./replaces
if $small -DLARGE=64 -DTHREADS -o thrd 2>/dev/null; then
	refused "it has thread-local variables of its own, and calls thrd_create" \
		"TLS and threads of C11" ./thrd
else
	skip 3 "there are no threads of C11"
fi
if $small -no-pie -fno-pie -o fixed 2>/dev/null; then
	refused "it is linked at a fixed address" "no PIE" ./fixed
else
	skip 3 "the compiler makes position-independent executables only"
fi
if $small -Wl,-z,execstack -o stack 2>/dev/null; then
	refused "it needs an executable stack" "an executable stack" ./stack
else
	skip 3 "the linker knows no -z execstack"
fi
if $small -pg -pie -o profiled 2>/dev/null; then
	refused "it is built for gprof" "gprof" ./profiled
else
	skip 3 "the compiler knows no -pg"
fi
libgomp=$(${CC:-cc} -print-file-name=libgomp.a)
if [ -f "$libgomp" ] && $cc -fopenmp -c small.c; then
	$cc small.o "$libgomp" "-L$libdir" -lmpi_abi -pthread -o contains
	strip -o stripped contains
	refused "an OpenMP library is linked" "libgomp.a" ./contains
	refused "an OpenMP library is linked" "without symbols" ./stripped
	ok "vmpicc takes it, too" \
		"$vmpicc" -fopenmp small.c "$libgomp" -o contains
	refused "an OpenMP library is linked" "vmpicc and libgomp.a" ./contains
else
	skip 10 "there is no libgomp.a"
fi
if $small -fsanitize=undefined,address -o sanitized 2>/dev/null &&
	ASAN_OPTIONS=detect_leaks=0 LD_LIBRARY_PATH=$libdir ./sanitized \
		>/dev/null 2>&1; then
	refused "it is built with a sanitizer" "a sanitizer" ./sanitized
else
	skip 3 "the compiler knows no -fsanitize=address"
fi
like "$(LD_LIBRARY_PATH=$libdir run 2 --report-bindings ./large 2>&1)" \
	'each rank is a process: its thread-local' "--report-bindings says it too"
LD_LIBRARY_PATH=$libdir run 2 --summary ./large >out 2>err
is $? 2 "what needs a node process is refused"
like "$(cat err)" "^vmpirun: --summary .*each rank of ./large is a process: its" \
	"with the reason"
like "$(run 2 --summary ./small 2>&1)" "rank .*sends" \
	"ranks of one that is loaded have a table"
"$vmpicc" small.c -o image
refused "--processes is given" "--processes, of vmpicc's" --processes ./image
done_testing
