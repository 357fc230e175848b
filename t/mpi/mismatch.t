#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that call different collectives on one communicator: the job ends with
# one line that says which rank calls what.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
cd "$scratch" || exit 1

cat >program.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, x, xs[4];
static MPI_Comm comm;
static MPI_File file;
static MPI_Request request;

/* Two groups of two. */
static MPI_Comm inter(void)
{
	MPI_Comm half, both;

	MPI_Comm_split(world, rank / 2, rank, &half);
	MPI_Intercomm_create(half, 0, world, rank < 2 ? 2 : 0, 5, &both);
	return both;
}

static void idup(void)
{
	MPI_Request request;

	MPI_Comm_idup(world, &comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void ibarrier(void)
{
	MPI_Request request;

	MPI_Ibarrier(world, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Late, so that the others wait by then. */
static void late(void)
{
	usleep(100000);
	if (rank % 2)
		ibarrier();
	else
		MPI_Barrier(world);
}

static void cart(void)
{
	int dims = 4, period = 1;

	MPI_Cart_create(world, 1, &dims, &period, 0, &comm);
}

static void create(void)
{
	MPI_Group group;

	MPI_Comm_group(world, &group);
	MPI_Comm_create(world, group, &comm);
}

static int wait(void)
{
	return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#define DUP MPI_Comm_dup(world, &comm)
#define SPLIT MPI_Comm_split(world, 0, 0, &comm)
#define BARRIER MPI_Barrier(world)
#define SCAN MPI_Scan(&rank, &x, 1, MPI_INT, MPI_SUM, world)
#define NOTHING MPI_STATUS_IGNORE
#define GATHER MPI_Gather(&x, 1, MPI_INT, xs, 1, MPI_INT, 0, world)
#define ALLGATHER MPI_Allgather(&x, 1, MPI_INT, xs, 1, MPI_INT, world)
#define ALLREDUCE MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, world)

/* One rank, 1 if none is named, does the one thing, all others the other. */
#define CASE(name, one, others)                    \
	else if (!strcmp(argv[1], name))           \
	{                                          \
		if (rank == odd)                   \
			one;                       \
		else                               \
			others;                    \
	}

int main(int argc, char **argv)
{
	int odd = argc > 2 ? atoi(argv[2]) : 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(world, &rank);
	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
	MPI_File_open(world, "file", MPI_MODE_RDWR | MPI_MODE_CREATE,
		      MPI_INFO_NULL, &file);
	if (argc < 2)
		return 2;
	CASE("dup-barrier", DUP, BARRIER)
	CASE("barrier-dup", BARRIER, DUP)
	CASE("split-dup", SPLIT, DUP)
	CASE("create-split", create(), SPLIT)
	CASE("cart-bcast", cart(), MPI_Bcast(&x, 1, MPI_INT, 0, world))
	CASE("merge-barrier", MPI_Intercomm_merge(inter(), 0, &comm),
	     MPI_Barrier(inter()))
	CASE("merge-high", MPI_Intercomm_merge(inter(), 1, &comm),
	     MPI_Intercomm_merge(inter(), rank / 2, &comm))
	CASE("idup-ibarrier", idup(), ibarrier())
	CASE("create-barrier",
	     MPI_Intercomm_create(world, 2, MPI_COMM_SELF, 0, 0, &comm),
	     BARRIER)
	CASE("ibarrier-barrier", ibarrier(), (usleep(100000), BARRIER))
	CASE("barrier-ibarrier", late(), BARRIER)
	CASE("scan-barrier", SCAN, BARRIER)
	CASE("barrier-scan", BARRIER, SCAN)
	CASE("bcast-scan", MPI_Bcast(&x, 1, MPI_INT, 0, world), SCAN)
	CASE("dup-scan", DUP, SCAN)
	CASE("allgather-gather", ALLGATHER, GATHER)
	CASE("allreduce-gather", ALLREDUCE, GATHER)
	CASE("gather-allgather", GATHER, ALLGATHER)
	CASE("gather-barrier", GATHER, BARRIER)
	CASE("dup-gather", DUP, GATHER)
	CASE("bcast-twin", MPI_Bcast_c(&x, 1, MPI_INT, 0, world), BARRIER)
	CASE("file", MPI_File_write_at_all(file, 0, &x, 1, MPI_INT, NOTHING),
	     MPI_File_read_all(file, &x, 1, MPI_INT, NOTHING))
	CASE("file-twin", MPI_File_write_all_c(file, &x, 1, MPI_INT, NOTHING),
	     MPI_File_sync(file))
	CASE("file-ordered",
	     MPI_File_write_ordered_c(file, &x, 1, MPI_INT, NOTHING),
	     MPI_File_read_ordered(file, &x, 1, MPI_INT, NOTHING))
	CASE("file-split", MPI_File_write_all_begin(file, &x, 1, MPI_INT),
	     MPI_File_read_at_all_begin(file, 0, &x, 1, MPI_INT))
	CASE("file-started",
	     (MPI_File_iwrite_at_all(file, 0, &x, 1, MPI_INT, &request), wait()),
	     (MPI_File_iread_all(file, &x, 1, MPI_INT, &request), wait()))
	CASE("finalize-barrier", MPI_Finalize(), BARRIER)
	CASE("barrier-finalize", BARRIER, MPI_Finalize())
	MPI_Finalize();
	return 0;
}
END
"$VMPI_BUILD/vmpicc" -o program program.c || exit 1

# dies WHAT CODE TEXT NAME: the job exits with CODE and says TEXT; WHAT may name
# the rank that is alone.
dies() {
	for where in '--workers 1' '--workers 2' '--nodes 2' '--nodes 4'; do
		# shellcheck disable=SC2086
		timeout 150 "$VMPI_BUILD/vmpirun" -n 4 $where ./program $1 \
			>out 2>err
		is "$?" "$2" "$4: exit code $2, $where"
		like "$(cat err)" "$3" "$4: \"$3\""
		lines=$(wc -l <err)
		# All processes may say it before the job is ended.
		[ "$lines" -ge 1 ] && [ "$lines" -le "${where#*s }" ] && lines=1
		is "$lines" 1 "$4: one line"
	done
}

dies dup-barrier 16 'the ranks disagree: rank 1 calls MPI_Comm_dup, rank 0 MPI_Barrier' \
	'MPI_Comm_dup against a barrier'
dies barrier-dup 16 'the ranks disagree: rank 1 calls MPI_Barrier, rank 0 MPI_Comm_dup' \
	'a barrier against MPI_Comm_dup'
dies split-dup 16 'rank 1 calls MPI_Comm_split, rank 0 MPI_Comm_dup' \
	'MPI_Comm_split against MPI_Comm_dup'
dies create-split 16 'rank 1 calls MPI_Comm_create, rank 0 MPI_Comm_split' \
	'MPI_Comm_create against MPI_Comm_split'
dies cart-bcast 16 'rank 1 calls MPI_Cart_create, rank 0 MPI_Bcast' \
	'MPI_Cart_create against a broadcast'
dies merge-barrier 16 'rank 1 calls MPI_Intercomm_merge, rank 0 MPI_Barrier' \
	'MPI_Intercomm_merge against a barrier'
dies merge-high 13 'MPI_ERR_ARG.*rank 1 of a group says high = 1, rank 0 of the same group 0' \
	'MPI_Intercomm_merge with different words in one group'
dies idup-ibarrier 16 'rank 1 calls MPI_Comm_idup, rank 0 MPI_Ibarrier' \
	'MPI_Comm_idup against MPI_Ibarrier'
dies create-barrier 16 'rank 1 calls MPI_Intercomm_create, rank 0 MPI_Barrier' \
	'MPI_Intercomm_create against a barrier'
# Within a process who comes last says it, among processes each of them.
both='rank 1 calls MPI_Ibarrier, rank 0 MPI_Barrier'
dies ibarrier-barrier 16 "$both|MPI_Barrier on MPI_COMM_WORLD failed: .*others have started a nonblocking collective" \
	'a barrier after a nonblocking one of others'
dies barrier-ibarrier 16 "$both|rank 1: MPI_Ibarrier on MPI_COMM_WORLD failed: .*others wait in a blocking collective" \
	'a nonblocking barrier after a blocking one of others'
others='MPI_Scan on MPI_COMM_WORLD failed: .*others make a call of another kind'
dies scan-barrier 16 'rank 1 calls MPI_Scan, rank 0 MPI_Barrier' \
	'a scan against a barrier'
dies barrier-scan 16 "rank 1 calls MPI_Barrier, rank 0 MPI_Scan|rank 2 calls MPI_Scan, rank 1 MPI_Barrier|$others" \
	'a barrier against a scan'
dies bcast-scan 16 "rank 1 calls MPI_Bcast, rank 0 MPI_Scan|$others" \
	'a broadcast against a scan'
dies dup-scan 16 "rank 1 calls MPI_Comm_dup, rank 0 MPI_Scan|$others" \
	'MPI_Comm_dup against a scan'
# Who has gone on is missed by all others.
kind='others make a call of another kind'
dies allgather-gather 16 "rank 1 calls MPI_Allgather, rank 0 MPI_Gather|$kind" \
	'MPI_Allgather against a gather'
dies allreduce-gather 16 "rank 1 calls MPI_Allreduce, rank 0 MPI_Gather|$kind" \
	'MPI_Allreduce against a gather'
dies 'gather-allgather 3' 16 "rank 3 calls MPI_Gather, rank 0 MPI_Allgather|$kind" \
	'a gather against MPI_Allgather'
dies 'gather-barrier 3' 16 "rank 3 calls MPI_Gather, rank 0 MPI_Barrier|$kind" \
	'a gather against a barrier'
dies dup-gather 16 "rank 1 calls MPI_Comm_dup, rank 0 MPI_Gather|$kind" \
	'MPI_Comm_dup against a gather'
dies bcast-twin 16 'rank 1 calls MPI_Bcast_c, rank 0 MPI_Barrier' \
	'MPI_Bcast_c against a barrier'
dies file 16 'rank 1 calls MPI_File_write_at_all, rank 0 MPI_File_read_all' \
	'a write of a file against a read'
dies file-twin 16 'rank 1 calls MPI_File_write_all_c, rank 0 MPI_File_sync' \
	'a write with large counts against MPI_File_sync'
dies file-ordered 16 'rank 1 calls MPI_File_write_ordered_c, rank 0 MPI_File_read_ordered' \
	'a write in order against a read'
dies file-split 16 'rank 1 calls MPI_File_write_all_begin, rank 0 MPI_File_read_at_all_begin' \
	'the first half of a write against that of a read'
dies file-started 16 'MPI_File_iwrite_at_all, rank 0 MPI_File_iread_all' \
	'a started write against a started read'
dies finalize-barrier 16 'rank 1 calls MPI_Finalize, rank 0 MPI_Barrier' \
	'MPI_Finalize against a barrier'
dies barrier-finalize 16 'rank 1 calls MPI_Barrier, rank 0 MPI_Finalize' \
	'a barrier against MPI_Finalize'
# Of errors that are returned nothing stays with who has gone on in a gather.
cat >kept.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLS 100

static int rank, size, x, xs[64];
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;

static void watch(void)
{
	int provided, index, count;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_T_pvar_get_index("core_unexpected_len", MPI_T_PVAR_CLASS_LEVEL,
			     &index);
	MPI_T_pvar_session_create(&session);
	MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
}

/* One rank gathers, all others meet in another call. */
static int wrong(int odd)
{
	if (rank == odd)
		return MPI_Gather(&x, 1, MPI_INT, xs, 1, MPI_INT, 0,
				  MPI_COMM_WORLD);
	return MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(void)
{
	unsigned long long kept = 0;
	int errors = 0;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	watch();
	for (int i = 0; i < CALLS; i++)
		errors += wrong(size - 1) != MPI_SUCCESS;
	for (int i = 0; i < CALLS; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	MPI_T_pvar_read(session, handle, &kept);
	if (rank == 0)
		printf("%d errors\n", errors);
	if (rank == size - 1)
		printf("%s are kept\n", kept < CALLS / 2 ? "few" : "many");
	MPI_Finalize();
	return 0;
}
END
"$VMPI_BUILD/vmpicc" -o kept kept.c || exit 1
for n in 2 3 8; do
	out=$(timeout 150 "$VMPI_BUILD/vmpirun" -n $n --nodes $n ./kept 2>&1)
	is "$(echo "$out" | sort)" '100 errors
few are kept' "a gather beside reductions of $n processes, again and again"
done
done_testing
