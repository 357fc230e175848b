#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What MPI_Finalize finds undone: told by name, never waited for, and nothing is
# said where a program is right.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
cd "$scratch" || exit 1

cat >program.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE 300000

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, x, y[20];
static char large[LARGE], attached[2 * LARGE];
static MPI_Request request;
static MPI_Comm comm;

static void receives(void)
{
	if (rank != 3)
		return;
	MPI_Irecv(&x, 1, MPI_INT, 1, 7, world, &request);
	MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
}

static void persistent(void)
{
	if (rank != 1)
		return;
	MPI_Recv_init(&x, 1, MPI_INT, 0, 9, world, &request);
	MPI_Start(&request);
}

static void message(void)
{
	if (rank == 0)
		MPI_Send(y, 4, MPI_INT, 2, 3, world);
}

static void many(void)
{
	for (int i = 0; i < 20 && rank == 0; i++)
		MPI_Send(&y[i], 1, MPI_INT, 1, i, comm);
}

static void large_send(void)
{
	if (rank == 0)
		MPI_Isend(large, LARGE, MPI_CHAR, 3, 4, world, &request);
}

static void synchronous(void)
{
	if (rank == 0)
		MPI_Issend(&x, 1, MPI_INT, 3, 5, world, &request);
}

static void buffered(void)
{
	MPI_Buffer_attach(attached, sizeof(attached));
	if (rank == 0)
		MPI_Bsend(large, LARGE, MPI_CHAR, 3, 6, world);
}

static void collectives(void)
{
	MPI_Request requests[2];

	if (rank != 2)
		MPI_Ibarrier(comm, &requests[0]);
	if (rank == 0)
		MPI_Ibcast(&x, 1, MPI_INT, 0, comm, &requests[1]);
}

static void all_ranks(void)
{
	MPI_Irecv(&x, 1, MPI_INT, rank, 1, world, &request);
}

/* Nothing here is wrong. */
static void right(void)
{
	MPI_Irecv(&x, 1, MPI_INT, 0, 1, world, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Irecv(&x, 1, MPI_INT, 0, 1, world, &request);
	MPI_Cancel(&request);
	MPI_Request_free(&request);
	MPI_Recv_init(&x, 1, MPI_INT, 0, 1, world, &request);
	MPI_Request_free(&request);
	MPI_Ibarrier(comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Buffer_attach(attached, sizeof(attached));
	memset(large, 'a' + rank, LARGE);
	MPI_Bsend(large, LARGE, MPI_CHAR, rank ^ 1, 2, world);
	MPI_Isend(large, LARGE, MPI_CHAR, rank ^ 1, 3, comm, &request);
	MPI_Request_free(&request);
	MPI_Irecv(&x, 1, MPI_INT, rank, 4, world, &request);
	MPI_Request_free(&request);
	MPI_Send(&rank, 1, MPI_INT, rank, 4, world);
	if (rank % 2) {
		static char in[LARGE];

		usleep(100000);
		MPI_Recv(in, LARGE, MPI_CHAR, rank ^ 1, 2, world,
			 MPI_STATUS_IGNORE);
		if (in[LARGE - 1] != 'a' + (rank ^ 1))
			MPI_Abort(world, 3);
		MPI_Recv(in, LARGE, MPI_CHAR, rank ^ 1, 3, comm,
			 MPI_STATUS_IGNORE);
		if (in[LARGE - 1] != 'a' + (rank ^ 1))
			MPI_Abort(world, 3);
	} else {
		static char in[LARGE];

		MPI_Recv(in, LARGE, MPI_CHAR, rank ^ 1, 2, world,
			 MPI_STATUS_IGNORE);
		MPI_Recv(in, LARGE, MPI_CHAR, rank ^ 1, 3, comm,
			 MPI_STATUS_IGNORE);
	}
}

static const struct {
	const char *name;
	void (*body)(void);
} cases[] = {
	{ "receives", receives },	{ "persistent", persistent },
	{ "message", message },		{ "many", many },
	{ "large", large_send },	{ "synchronous", synchronous },
	{ "buffered", buffered },	{ "collectives", collectives },
	{ "all", all_ranks },		{ "right", right },
};

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(world, &rank);
	MPI_Comm_dup(world, &comm);
	MPI_Comm_set_name(comm, "halo");
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc > 1 && !strcmp(argv[1], cases[i].name))
			cases[i].body();
	MPI_Finalize();
	return 0;
}
END
"$VMPI_BUILD/vmpicc" -o program program.c || exit 1

# Unfinished operations are not freed either.
leaks=${ASAN_OPTIONS-}
export ASAN_OPTIONS="${leaks:+$leaks:}detect_leaks=0"

# run WORKERS WHAT OPTION...: its exit code in $code, its stderr in ./err
run() {
	workers=$1 what=$2
	shift 2
	timeout 150 "$VMPI_BUILD/vmpirun" -n 4 --workers "$workers" "$@" \
		./program "$what" >out 2>err
	code=$?
}

# tells WHAT LINES TEXT NAME: the job ends well and says TEXT in one of LINES.
# A message from another process may arrive after it was looked for.
tells() {
	for w in 1 2; do
		for try in 1 ${TAP_ACROSS:+2 3 4 5}; do
			run $w "$1"
			[ "$(wc -l <err)" -eq 0 ] || break
		done
		is "$code" 0 "$4: the job ends well on $w workers"
		like "$(cat err)" "$3" "$4: \"$3\""
		is "$(wc -l <err)" "$2" "$4: lines"
	done
}

tells receives 1 'rank 3: MPI_Finalize with 2 receives not completed \((source 1, tag 7 on MPI_COMM_WORLD; any source, any tag on halo|any.*; source 1.*)\)' \
	'receives that nothing was sent to'
tells persistent 1 'rank 1: MPI_Finalize with 1 receive not completed \(source 0, tag 9 on MPI_COMM_WORLD\)' \
	'an active persistent receive'
tells message 1 'rank 2: MPI_Finalize with 1 message never received \(16 bytes from source 0, tag 3 on MPI_COMM_WORLD\)' \
	'a message'
tells many 1 'rank 1: MPI_Finalize with 20 messages never received \(4 bytes from source 0, tag [0-9]+ on halo; .*; and 17 more\)' \
	'many messages'
tells large 1 'rank 3: MPI_Finalize with 1 message never received \(300000 bytes from source 0, tag 4' \
	'a send that still waits'
tells synchronous 1 'rank 3: MPI_Finalize with 1 message never received \(4 bytes from source 0, tag 5' \
	'a synchronous send'
tells buffered 1 'rank 3: MPI_Finalize with 1 message never received \(300000 bytes from source 0, tag 6' \
	'a buffered send'
tells collectives 3 'rank 0: MPI_Finalize with 2 nonblocking collectives not completed \(MPI_Ibarrier on halo; MPI_Ibcast on halo\)' \
	'collectives that a rank has not started'
tells collectives 3 'rank 3: MPI_Finalize with 1 nonblocking collective not completed \(MPI_Ibarrier on halo\)' \
	'the same on another rank'

export ASAN_OPTIONS="$leaks"
for w in 1 2; do
	run $w right
	is "$code: $(cat err)" "0: " "a right program hears nothing on $w workers"
done
export ASAN_OPTIONS="${leaks:+$leaks:}detect_leaks=0"
# The first to say goodbye does not end the others' reports.
told=0
for i in 1 2 3 4 5 6; do
	run 2 receives --nodes 2
	[ "$code $(grep -c 'rank 3: MPI_Finalize with 2 rec' err)" = "0 1" ] &&
		told=$((told + 1))
done
is $told 6 "receives from ranks of a process that has ended are told"

run 1 collectives --nodes 4
is "$code $(grep -c 'rank 0: MPI_Finalize with 2 nonb' err)" "0 1" \
	"collectives that wait for a process which has ended end with it"

# The limit is that of a process.
run 2 all --nodes 1 --set mpi_finalize_reports=2
is "$code $(grep -c 'not completed (source' err)" "0 2" "two ranks may speak"
like "$(cat err)" 'further ranks have operations that are not completed' \
	"then it is said that there are more"
run 2 all --set mpi_finalize_reports=0
is "$code: $(cat err)" "0: " "or none may"
done_testing
