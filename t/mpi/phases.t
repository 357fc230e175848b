#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI functions before MPI_Init and after MPI_Finalize: a line that says which,
# whatever the arguments; and those that may be called at any time.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
cd "$scratch" || exit 1

cat >program.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int x, flag;
static MPI_Comm comm;
static MPI_Request request = MPI_REQUEST_NULL;
static MPI_Datatype type;
static MPI_Info info;
static MPI_Group group;
static MPI_Status status;

#define CALLS(X)                                                           \
	X(Send, &x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)                      \
	X(Recv, &x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)   \
	X(Isend, &x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request)           \
	X(Wait, &request, MPI_STATUS_IGNORE)                               \
	X(Start, &request)                                                 \
	X(Iprobe, 0, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE)          \
	X(Buffer_attach, &x, 4)                                            \
	X(Get_count, &status, MPI_INT, &x)                                 \
	X(Barrier, MPI_COMM_WORLD)                                         \
	X(Ibarrier, MPI_COMM_WORLD, &request)                              \
	X(Allreduce, &x, &flag, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)       \
	X(Comm_rank, MPI_COMM_WORLD, &x)                                   \
	X(Comm_dup, MPI_COMM_WORLD, &comm)                                 \
	X(Comm_group, MPI_COMM_WORLD, &group)                              \
	X(Group_size, MPI_GROUP_EMPTY, &x)                                 \
	X(Comm_get_attr, MPI_COMM_WORLD, MPI_TAG_UB, &info, &flag)         \
	X(Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_RETURN)          \
	X(Cart_create, MPI_COMM_WORLD, 1, &x, &x, 0, &comm)                \
	X(Type_size, MPI_INT, &x)                                          \
	X(Type_contiguous, 2, MPI_INT, &type)                              \
	X(Pack_size, 1, MPI_INT, MPI_COMM_WORLD, &x)                       \
	X(Op_commutative, MPI_SUM, &x)                                     \
	X(Alloc_mem, 8, MPI_INFO_NULL, &info)                              \
	X(Query_thread, &x)                                                \
	X(Finalize)

/* Allowed at any time (MPI 4.1, 11.4.1). */
static int any_time(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int rc = 0, n;

	rc += MPI_Initialized(&flag);
	rc += MPI_Finalized(&flag);
	rc += MPI_Get_version(&n, &x);
	rc += MPI_Get_library_version(text, &n);
	rc += MPI_Abi_get_version(&n, &x);
	rc += MPI_Error_class(MPI_ERR_TAG, &n);
	rc += MPI_Error_string(MPI_ERR_TAG, text, &n);
	rc += MPI_Pcontrol(0);
	return rc != 0 || MPI_Wtime() < 0 || MPI_Wtick() <= 0 ||
	       MPI_Aint_diff(MPI_Aint_add(8, 8), 8) != 8;
}

static void call(const char *name)
{
#define CALL(name_, ...)                  \
	if (!strcmp(name, #name_))        \
		MPI_##name_(__VA_ARGS__);
	CALLS(CALL)
}

int main(int argc, char **argv)
{
	if (argc == 1) {
#define NAME(name, ...) puts(#name);
		CALLS(NAME)
		return 0;
	}
	if (!strcmp(argv[1], "before"))
		call(argv[2]);
	if (any_time())
		return 3;
	MPI_Init(&argc, &argv);
	MPI_Finalize();
	if (any_time())
		return 4;
	if (!strcmp(argv[1], "after"))
		call(argv[2]);
	if (!strcmp(argv[1], "init"))
		MPI_Init(NULL, NULL);
	return 0;
}
END
"$VMPI_BUILD/vmpicc" -o program program.c || exit 1

# dies PHASE WORDS NAME
dies() {
	timeout 150 "$VMPI_BUILD/vmpirun" -n 2 --workers 1 ./program "$1" "$3" \
		>out 2>err
	is "$? $(sed 's/rank [01]/rank N/; s/ (in .*//' err)" \
		"16 vmpirun: rank N called MPI_$3 $2" "MPI_$3 $2"
}

for name in $(timeout 150 "$VMPI_BUILD/vmpirun" -n 1 ./program); do
	dies before "before MPI_Init" "$name"
	dies after "after MPI_Finalize" "$name"
done
dies init "after MPI_Finalize" Init
timeout 150 "$VMPI_BUILD/vmpirun" -n 4 ./program none none >out 2>err
is "$? $(cat err)" "0 " "the others may be called at any time"
done_testing
