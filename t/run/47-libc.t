#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# C libraries that cannot load a program many times: each rank is a process, and
# it is said why.  They are made of this one by a library that is preloaded and
# changes what the node program sees when it is asked (core/libc/probe.h).
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
[ "${VMPI_SANITIZE:-none}" = none ] ||
	skip_all "sanitizers want to be the first library"

cat >other.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *broken = ""; /* what does not hold */

__attribute__((constructor)) static void start(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--probe"))
		broken = getenv("BROKEN");
}

static int is(const char *name)
{
	return !strcmp(broken, name);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int count(void)
{
	static int number;

	return ++number;
}

/* The last call is a jump: libc's asks who calls. */
void *dlsym(void *handle, const char *name)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.2.5",
						"GLIBC_2.17" };
	static void *(*real)(void *, const char *);

	for (int i = 0; !real && i < 3; i++)
		*(void **)&real = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	if (is("own") && !strcmp(name, "vm_twice_count"))
		return (void *)count;
	return real(handle, name);
}

void *dlopen(const char *file, int mode)
{
	static void *before;
	struct link_map *map;
	void *handle;

	if (!file || !strstr(file, "libvmpi_twice"))
		return REAL(dlopen)(file, mode);
	if (before && is("twice"))
		return before;
	if (before && is("crash"))
		abort();
	if (before && is("killed"))
		raise(SIGKILL);
	if (before && is("hang"))
		pause();
	map = before = handle = REAL(dlopen)(file, mode);
	if (is("name"))
		map->l_name = strcpy((char *)malloc(100) + 16, file);
	return handle;
}

int dlinfo(void *handle, int request, void *out)
{
	static struct link_map fake;
	int rc = REAL(dlinfo)(handle, request, out);

	if (is("list") && request == RTLD_DI_LINKMAP) {
		fake = **(struct link_map **)out;
		*(struct link_map **)out = &fake;
	}
	if (is("thread") && request == RTLD_DI_TLS_MODID)
		*(size_t *)out = 0;
	return rc;
}

struct visit {
	int (*each)(struct dl_phdr_info *, size_t, void *);
	void *arg;
	int twice;
};

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct visit *visit = arg;

	if (is("found") && strstr(info->dlpi_name, "twice") && visit->twice++)
		return 0;
	if (is("program") && !info->dlpi_name[0] && info->dlpi_tls_data)
		info->dlpi_tls_data = (char *)info->dlpi_tls_data - 16;
	return visit->each(info, size, visit->arg);
}

int dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *),
		    void *arg)
{
	struct visit all = { each, arg, 0 };

	return REAL(dl_iterate_phdr)(visit, &all);
}

int find_object(void *address, void *object) __asm__("_dl_find_object");

int find_object(void *address, void *object)
{
	static int (*real)(void *, void *);

	if (is("unwind"))
		return -1;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "_dl_find_object");
	return real ? real(address, object) : -1;
}

int dlclose(void *handle)
{
	return is("close") ? -1 : REAL(dlclose)(handle);
}

int pthread_condattr_setclock(pthread_condattr_t *kind, clockid_t clock)
{
	return is("condition") ? 0 : REAL(pthread_condattr_setclock)(kind, clock);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int rc = REAL(pthread_mutex_lock)(mutex);

	if (is("mutex"))
		mutex->__data.__owner = 1;
	return rc;
}
END
${CC:-cc} -shared -fPIC -O2 -w other.c -o other.so -ldl || exit 1

cat >program.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static int total = 1;
int main(int argc, char **argv)
{
	int rank, size, sum, pid = getpid(), pids[64], apart = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	total += rank;
	MPI_Allreduce(&total, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++)
		apart += pids[i] != pid;
	if (!rank)
		printf("%d ranks, sum %d, %s\n", size, sum,
		       apart == size - 1 ? "processes" : "tasks");
	MPI_Finalize();
	return 0;
}
END
"$vmpicc" program.c -o linked || exit 1
${CC:-cc} -I"$VMPI_SRC/include" program.c -o ordinary \
	-L"$VMPI_BUILD/lib" -lmpi_abi || exit 1

# other WHAT COMMAND...: in a C library of which that does not hold.
other() {
	BROKEN=$1
	export BROKEN
	shift
	LD_PRELOAD=$scratch/other.so timeout 120 "$@"
}

is "$("$node" --probe | tr '\n' ' ')" \
	"list twice own found unwind thread name close program condition mutex " \
	"the C library of this system does all that is asked"
is "$(other nothing "$vmpirun" -n 4 ./linked 2>&1)" \
	"4 ranks, sum 10, tasks" "with the preloaded library, too"

# falls WHAT SENTENCE
falls() {
	is "$(other "$1" "$vmpirun" -n 4 ./linked 2>err)" \
		"4 ranks, sum 10, processes" "$1: each rank is a process" ||
		diag "$(cat err)"
	is "$(sed 's/glibc [0-9.]*: /glibc: /' err)" \
		"vmpirun: each rank of ./linked is a process, because the C library cannot load a program once per rank (glibc: $2)" \
		"$1: and it is said why"
}
falls list 'its list of loaded objects is not as <link.h> says'
falls twice 'a file that is not in its list of loaded objects is not loaded anew'
falls crash 'a file that is not in its list of loaded objects is not loaded anew (trying it crashed)'
falls own 'copies of a file share their variables'
falls found 'it does not find each copy of a file by its addresses'
falls thread 'copies of a file do not have thread-local variables of their own'
falls name 'the name of a loaded object cannot be replaced (trying it crashed)'
falls close 'copies of a file cannot be closed'
falls program 'thread-local variables of a program do not end where the thread pointer points'
falls condition 'a condition variable does not say by which clock it waits'
falls mutex 'a mutex does not say which thread has locked it'
if "$node" --probe | grep -q unwind &&
	nm -D "$(ldd "$node" | sed -n 's/.* => \(.*libc\.so\.6\) .*/\1/p')" \
		2>/dev/null | grep -q _dl_find_object; then
	falls unwind 'exceptions do not find the code of each copy of a file'
else
	skip 2 "this C library has no _dl_find_object()"
fi
# A signal from elsewhere is no answer.
is "$(other killed "$vmpirun" -n 4 ./linked 2>&1)" "4 ranks, sum 10, tasks" \
	"who asks is killed: all may hold"
falls hang 'a file that is not in its list of loaded objects is not loaded anew (trying it did not end)'

is "$(other twice "$vmpirun" -n 3 ./ordinary 2>err)" \
	"3 ranks, sum 6, processes" "an ordinary executable, too"
is "$(wc -l <err | tr -d ' ')" 1 "with one sentence"
is "$(other twice "$vmpirun" --processes -n 3 ./linked 2>&1)" \
	"3 ranks, sum 6, processes" "--processes needs none"
other twice "$vmpirun" --summary -n 3 ./linked >out 2>&1
is "$?" 2 "an option that needs ranks in one process is refused"
like "$(cat out)" "summary is about the ranks of a process, but .*not loaded anew" \
	"with the reason"
like "$(other twice "$VMPI_BUILD/vmpi_info" 2>&1)" \
	"ranks +processes, because of glibc .*not loaded anew" \
	"vmpi_info says it"
like "$("$VMPI_BUILD/vmpi_info")" "ranks +tasks, each with a copy" \
	"and what is usual"

# Without vmpirun on the same host.
VMPI_JOB_RANKS=3 other twice "$node" ./linked >out 2>&1
is "$?" 2 "a node process that vmpirun has not asked for refuses"
like "$(cat out)" "start the job with --processes" "and says what helps"
VMPI_JOB_RANKS=3 VMPI_JOB_LIBC=2.0 other twice "$node" ./linked >out 2>&1
is "$?" 2 "so does one on a host with another C library"
is "$(other twice ./linked)" "1 ranks, sum 1, processes" \
	"a program that is started by itself runs"
done_testing
