#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ordinary executables, as any compiler makes them from mpi.h and -lmpi_abi, are
# one rank each; libmpi_abi.so.1 and libvmpi.so are one library in a process.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
need readelf
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the programs would need the sanitizer too" ;;
esac
cc="${CC:-cc} -Wall -I$VMPI_SRC/include"
libdir=$VMPI_BUILD/lib
cd "$scratch" || exit 1

cat >one.c <<'END_C'
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *thread(void *arg)
{
	int initialized = 0, main_thread = -1, sent = 5, got = 0;

	MPI_Initialized(&initialized);
	MPI_Is_thread_main(&main_thread);
	MPI_Sendrecv(&sent, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	printf("thread: initialized %d main %d got %d\n", initialized,
	       main_thread, got);
	return NULL;
}

static void messages(void)
{
	static char large[1 << 20], copy[1 << 20];
	int rank, size, three = 3, sum = 0, got = 0;
	MPI_Request request[2];
	MPI_Comm dup;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Allreduce(&three, &sum, 1, MPI_INT, MPI_SUM, dup);
	MPI_Send(&sum, 1, MPI_INT, 0, 1, dup);
	MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, dup,
		 MPI_STATUS_IGNORE);
	memset(large, 'x', sizeof(large));
	MPI_Irecv(copy, sizeof(copy), MPI_CHAR, 0, 2, dup, &request[0]);
	MPI_Issend(large, sizeof(large), MPI_CHAR, 0, 2, dup, &request[1]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	MPI_Ibarrier(dup, &request[0]);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_Comm_free(&dup);
	printf("rank %d of %d: %d %s\n", rank, size, got,
	       memcmp(large, copy, sizeof(copy)) ? "differs" : "equals");
}

int main(int argc, char **argv)
{
	int provided, early = -1, late = -1, rank;
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t other;
	MPI_Info info;

	MPI_Initialized(&early);
	if (!strcmp(what, "before"))
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Info_create(&info);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (!strcmp(what, "abort"))
		MPI_Abort(MPI_COMM_WORLD, 9);
	if (!strcmp(what, "error"))
		MPI_Send(&rank, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
	messages();
	for (int i = 0; i < 3; i++)
		if (!pthread_create(&other, NULL, thread, NULL))
			pthread_join(other, NULL);
	MPI_Finalize();
	MPI_Finalized(&late);
	MPI_Info_free(&info);
	printf("initialized %d finalized %d\n", early, late);
	if (!strcmp(what, "after"))
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return 0;
}
END_C
want='rank 0 of 1: 3 equals
thread: initialized 1 main 0 got 5
thread: initialized 1 main 0 got 5
thread: initialized 1 main 0 got 5
initialized 0 finalized 1'

ok "a plain compiler links with -lmpi_abi" \
	$cc -o one one.c "-L$libdir" -lmpi_abi -pthread
is "$(readelf -d one | sed -n 's/.*(NEEDED).*\[\(lib[a-z]*mpi.*\)\]/\1/p')" \
	libmpi_abi.so.1 "the program needs libmpi_abi.so.1 and no more"
none "$(readelf -W --dyn-syms one | grep 'MPI_.*@')" \
	"its symbols have no version, as those of other MPIs' programs"
is "$(readelf -d "$libdir/libmpi_abi.so.1" |
	sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')" libmpi_abi.so.1 \
	"the library's own name is that"
is "$(LD_LIBRARY_PATH=$libdir timeout 150 ./one 2>&1)" "$want" \
	"by itself it is one rank"

is "$(timeout 150 "$VMPI_BUILD/vmpirun" --processes -n 1 ./one 2>&1)" "$want" \
	"vmpirun lets it find the library, also if ranks are processes"
is "$(LD_LIBRARY_PATH=/mine "$VMPI_BUILD/vmpirun" --dry-run --processes ./one |
	sed -n 's/.*LD_LIBRARY_PATH=\([^ ]*\).*/\1/p' | sed 's,:.*/,:,' | uniq)" \
	/mine:abi "behind the user's own directories"

$cc -o native one.c "-L$libdir" -lvmpi "-Wl,-rpath,$libdir" -pthread
is "$(timeout 150 ./native 2>&1)" "$want" "one linked with -lvmpi is, too"

# ends WHAT CODE REGEX NAME
ends() {
	LD_LIBRARY_PATH=$libdir timeout 150 ./one "$1" >out 2>err
	is $? "$2" "$4: exit code $2"
	like "$(cat err)" "$3" "$4: the message"
}
ends before 16 'MPI_Comm_rank was called before MPI_Init' 'before MPI_Init'
ends after 16 'called MPI_Comm_rank after MPI_Finalize' 'after MPI_Finalize'
ends abort 9 'rank 0 called MPI_Abort\(9\)' 'MPI_Abort'
ends error 6 'MPI_Send on MPI_COMM_WORLD failed: MPI_ERR_RANK' 'an error'

# As Python and others find MPI.
cat >open.c <<'END_C'
#include <dlfcn.h>
#include <stdio.h>

static void *find(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		printf("no %s\n", name);
	return found;
}

int main(void)
{
	void *library = dlopen("libmpi_abi.so.1", RTLD_NOW | RTLD_GLOBAL);
	int (*init)(void *, void *), (*size)(void *, int *), (*end)(void);
	int n = 0;

	if (!library)
		return printf("%s\n", dlerror()), 1;
	*(void **)&init = find(library, "MPI_Init");
	*(void **)&size = find(library, "MPI_Comm_size");
	*(void **)&end = find(NULL, "PMPI_Finalize");
	init(NULL, NULL);
	size((void *)0x101, &n);
	end();
	printf("size %d\n", n);
	return 0;
}
END_C
$cc -o open open.c -ldl
is "$(LD_LIBRARY_PATH=$libdir timeout 150 ./open 2>&1)" "size 1" \
	"dlopen and dlsym find the functions"

# One state, whichever of the two names was linked.
cat >part.c <<'END_C'
#include <mpi.h>

int part_rank(void);
int part_rank(void)
{
	int initialized = 0, rank = -1;

	MPI_Initialized(&initialized);
	if (initialized)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return rank;
}
END_C
cat >whole.c <<'END_C'
#include <mpi.h>
#include <stdio.h>

int part_rank(void);
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	printf("part of rank %d\n", part_rank());
	MPI_Finalize();
	return 0;
}
END_C
for names in "vmpi mpi_abi" "mpi_abi vmpi"; do
	set -- $names
	$cc -shared -fPIC -o libpart.so part.c "-L$libdir" "-l$1"
	$cc -o whole whole.c -L. -lpart "-L$libdir" "-l$2" \
		-Wl,--no-as-needed "-l$1" "-Wl,-rpath-link,$libdir"
	is "$(LD_LIBRARY_PATH=.:$libdir timeout 150 ./whole 2>&1)" \
		"part of rank 0" \
		"a library linked with -l$1 and a program with -l$2 share MPI"
done

$cc -shared -fPIC -o libpart.so part.c "-L$libdir" -lmpi_abi
"$VMPI_BUILD/vmpicc" -o image whole.c -L. -lpart
is "$(LD_LIBRARY_PATH=.:$libdir timeout 150 "$VMPI_BUILD/vmpirun" -n 3 ./image \
	2>&1 | sort)" "part of rank 0
part of rank 1
part of rank 2" "a library linked with -lmpi_abi serves the ranks of an image"
done_testing
