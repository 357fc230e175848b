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
#include <string.h>
#include <unistd.h>

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, x;
static MPI_Comm comm;

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

#define DUP MPI_Comm_dup(world, &comm)
#define SPLIT MPI_Comm_split(world, 0, 0, &comm)
#define BARRIER MPI_Barrier(world)

/* Rank 1 does the one thing, all others the other. */
#define CASE(name, one, others)                    \
	else if (!strcmp(argv[1], name))           \
	{                                          \
		if (rank == 1)                     \
			one;                       \
		else                               \
			others;                    \
	}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(world, &rank);
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
	CASE("finalize-barrier", MPI_Finalize(), BARRIER)
	CASE("barrier-finalize", BARRIER, MPI_Finalize())
	MPI_Finalize();
	return 0;
}
END
"$VMPI_BUILD/vmpicc" -o program program.c || exit 1

# dies WHAT CODE TEXT NAME: the job exits with CODE and says TEXT.
dies() {
	for where in '--workers 1' '--workers 2' '--nodes 2'; do
		# shellcheck disable=SC2086
		timeout 150 "$VMPI_BUILD/vmpirun" -n 4 $where ./program "$1" \
			>out 2>err
		is "$?" "$2" "$4: exit code $2, $where"
		like "$(cat err)" "$3" "$4: \"$3\""
		lines=$(wc -l <err)
		# Both processes may say it before the job is ended.
		[ "$where" = '--nodes 2' ] && [ "$lines" = 2 ] && lines=1
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
dies ibarrier-barrier 16 'MPI_Barrier on MPI_COMM_WORLD failed: .*others have started a nonblocking collective' \
	'a barrier after a nonblocking one of others'
dies barrier-ibarrier 16 'rank 1: MPI_Ibarrier on MPI_COMM_WORLD failed: .*others wait in a blocking collective' \
	'a nonblocking barrier after a blocking one of others'
dies finalize-barrier 16 'rank 1 calls MPI_Finalize, rank 0 MPI_Barrier' \
	'MPI_Finalize against a barrier'
dies barrier-finalize 16 'rank 1 calls MPI_Barrier, rank 0 MPI_Finalize' \
	'a barrier against MPI_Finalize'
done_testing
