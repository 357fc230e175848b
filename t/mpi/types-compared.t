#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpi_check_types: what is received as another type than it was sent is an error
# at every level that forbids it, on every way, and nothing else is.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
cd "$scratch" || exit 1

cat >program.c <<'END'
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define N 100000 /* ints: a rendezvous */

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, size;
static char out[8 * N], in[8 * N];
static MPI_Datatype mixed, other, nested, vector;

static void say(const char *what, int rc)
{
	int class;

	MPI_Error_class(rc, &class);
	if (rank == size - 1)
		printf("%s=%s ", what, class == MPI_SUCCESS    ? "ok" :
				       class == MPI_ERR_TYPE     ? "type" :
				       class == MPI_ERR_TRUNCATE ? "truncate" :
								   "?");
	fflush(stdout);
	MPI_Barrier(world);
}

/* From the first rank to the last; `early`: before the receive is posted. */
static void message(const char *what, int count, MPI_Datatype type, int room,
		    MPI_Datatype as, int early)
{
	MPI_Request request;
	int rc = 0;

	if (early && rank == 0)
		MPI_Isend(out, count, type, size - 1, 1, world, &request);
	if (early)
		MPI_Barrier(world);
	if (early && rank == 0)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == size - 1) {
		if (early) {
			rc = MPI_Recv(in, room, as, 0, 1, world,
				      MPI_STATUS_IGNORE);
		} else {
			MPI_Irecv(in, room, as, 0, 1, world, &request);
			MPI_Barrier(world);
			rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
	} else if (!early) {
		MPI_Barrier(world);
		if (rank == 0)
			MPI_Send(out, count, type, size - 1, 1, world);
	}
	say(what, rc);
}

static void messages(void)
{
	for (int early = 0; early < 2; early++) {
		message("same", 4, MPI_INT, 4, MPI_INT, early);
		message("room", 4, MPI_INT, 9, MPI_INT, early);
		message("float", 4, MPI_INT, 4, MPI_FLOAT, early);
		message("double", 4, MPI_INT, 2, MPI_DOUBLE, early);
		message("torn", 3, MPI_INT, 2, MPI_DOUBLE, early);
		message("long", N, MPI_INT, N, MPI_FLOAT, early);
		message("longer", N, MPI_INT, N + 1, MPI_INT, early);
		message("unsigned", 4, MPI_INT, 4, MPI_UNSIGNED, early);
		message("bytes", 4, MPI_INT, 16, MPI_BYTE, early);
		message("from-bytes", 16, MPI_BYTE, 4, MPI_INT, early);
		message("packed", 16, MPI_PACKED, 4, MPI_INT, early);
		message("to-packed", 4, MPI_INT, 16, MPI_PACKED, early);
		message("nested", 4, mixed, 2, nested, early);
		message("prefix", 1, mixed, 2, nested, early);
		message("order", 4, mixed, 4, other, early);
		message("pair", 1, MPI_DOUBLE_INT, 1, other, early);
		message("pairs", 2, MPI_2INT, 4, MPI_INT, early);
		message("vector", 1, vector, 6, MPI_INT, early);
		message("vectors", 1, vector, 6, MPI_FLOAT, early);
		message("too-long", 4, MPI_INT, 1, MPI_DOUBLE, early);
		message("nothing", 0, MPI_INT, 1, MPI_DOUBLE, early);
	}
}

static void calls(void)
{
	int last = size - 1, partner = last - rank, rc = 0;
	MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	static char buffer[4096];
	MPI_Message message;

	if (rank != 0 && rank != last)
		partner = MPI_PROC_NULL;
	rc = MPI_Sendrecv(out, 4, MPI_INT, partner, 1, in, 2, MPI_DOUBLE,
			  partner, 1, world, MPI_STATUS_IGNORE);
	say("sendrecv", rc);
	MPI_Isendrecv(out, 4, MPI_INT, partner, 1, in, 2, MPI_DOUBLE, partner,
		      1, world, requests);
	rc = MPI_Wait(requests, MPI_STATUS_IGNORE);
	say("isendrecv", rc);
	rc = MPI_Sendrecv_replace(in, 1, rank ? MPI_DOUBLE : MPI_INT64_T,
				  partner, 1, partner, 1, world,
				  MPI_STATUS_IGNORE);
	say("replace", rc);
	MPI_Send_init(out, 2, MPI_INT, partner, 1, world, &requests[0]);
	MPI_Recv_init(in, 2, MPI_FLOAT, partner, 1, world, &requests[1]);
	for (int i = 0; i < 2; i++) {
		MPI_Status statuses[2];

		MPI_Startall(2, requests);
		rc = MPI_Waitall(2, requests, statuses);
		say("persistent", rc == MPI_ERR_IN_STATUS ?
					  statuses[1].MPI_ERROR :
					  rc);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
	MPI_Buffer_attach(buffer, sizeof(buffer));
	MPI_Bsend(out, 2, MPI_INT, partner, 1, world);
	MPI_Mprobe(partner, 1, world, &message, MPI_STATUS_IGNORE);
	rc = MPI_Mrecv(in, 2, MPI_FLOAT, &message, MPI_STATUS_IGNORE);
	say("bsend", rc);
	MPI_Issend(out, 2, MPI_INT, partner, 1, world, requests);
	MPI_Mprobe(partner, 1, world, &message, MPI_STATUS_IGNORE);
	MPI_Imrecv(in, 2, MPI_FLOAT, &message, &requests[1]);
	rc = MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
	MPI_Wait(requests, MPI_STATUS_IGNORE);
	say("imrecv", rc);
	rc = MPI_Recv(in, 2, MPI_FLOAT, MPI_PROC_NULL, 1, world,
		      MPI_STATUS_IGNORE);
	say("null", rc);
}

static void collectives(int count)
{
	int last = rank == size - 1, counts[64], displs[64], bytes[64], rc;
	MPI_Datatype mine = last ? MPI_FLOAT : MPI_INT, types[64];
	MPI_Request request;
	MPI_Comm ring;
	int n = count, period = 1;

	for (int i = 0; i < size; i++) {
		counts[i] = count;
		displs[i] = i * count;
		bytes[i] = 4 * i * count;
		types[i] = mine;
	}
	say("bcast", MPI_Bcast(in, n, mine, 0, world));
	say("bcast-same", MPI_Bcast(in, n, MPI_INT, 0, world));
	say("gather", MPI_Gather(out, n, MPI_INT, in, n, MPI_FLOAT, size - 1,
				 world));
	say("gather-in-place",
	    MPI_Gather(last ? MPI_IN_PLACE : out, n, MPI_INT, in, n, MPI_INT,
		       size - 1, world));
	say("scatter", MPI_Scatter(out, n, MPI_INT, in, n, mine, 0, world));
	say("allgather",
	    MPI_Allgather(out, n, MPI_INT, in, n, mine, world));
	say("allgatherv", MPI_Allgatherv(out, n, MPI_INT, in, counts, displs,
					 MPI_INT, world));
	say("alltoall", MPI_Alltoall(out, n, MPI_INT, in, n, mine, world));
	say("alltoall-same",
	    MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, world));
	say("alltoall-in-place",
	    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, in, n, mine, world));
	say("alltoallw",
	    MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types,
			  world));
	say("allreduce",
	    MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, world));
	MPI_Ibcast(in, n, mine, 0, world, &request);
	rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
	say("ibcast", rc);
	MPI_Cart_create(world, 1, &size, &period, 0, &ring);
	MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
	say("neighbor",
	    MPI_Neighbor_allgather(out, n, MPI_INT, in, n, mine, ring));
	MPI_Comm_free(&ring);
}

static MPI_Datatype two(MPI_Datatype a, MPI_Datatype b, MPI_Aint offset)
{
	int lengths[2] = { 1, 1 };
	MPI_Aint offsets[2] = { 0, offset };
	MPI_Datatype types[2] = { a, b }, made;

	MPI_Type_create_struct(2, lengths, offsets, types, &made);
	MPI_Type_commit(&made);
	return made;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &size);
	if (argc > 2) /* fatal */
		message("fatal", 4, MPI_INT, 2, MPI_DOUBLE, 0);
	MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
	mixed = two(MPI_INT, MPI_DOUBLE, 8);
	other = two(MPI_DOUBLE, MPI_INT, 8);
	nested = two(mixed, mixed, 16);
	MPI_Type_vector(3, 2, 4, MPI_INT, &vector);
	MPI_Type_commit(&vector);
	if (argv[1][0] == 'm')
		messages();
	else if (argv[1][0] == 'c')
		calls();
	else
		collectives(argv[1][0] == 'l' ? 20000 : 4);
	MPI_Finalize();
	return 0;
}
END
"$VMPI_BUILD/vmpicc" -o program program.c || exit 1

run() {
	timeout 150 "$VMPI_BUILD/vmpirun" "$@" 2>&1 | sed 's/ $//'
}

# Both halves of the messages: posted, and queued.
twice() {
	printf '%s %s' "$1" "$1"
}

none=$(twice "same=ok room=ok float=ok double=ok torn=ok long=ok longer=ok \
unsigned=ok bytes=ok from-bytes=ok packed=ok to-packed=ok nested=ok prefix=ok \
order=ok pair=ok pairs=ok vector=ok vectors=ok too-long=truncate nothing=ok")
kind=$(twice "same=ok room=ok float=type double=type torn=type long=type \
longer=ok unsigned=ok bytes=ok from-bytes=ok packed=ok to-packed=ok nested=ok \
prefix=ok order=type pair=ok pairs=ok vector=ok vectors=type too-long=truncate \
nothing=ok")
exact=$(echo "$kind" |
	sed 's/unsigned=ok bytes=ok from-bytes=ok/unsigned=type bytes=type from-bytes=type/g')
for way in "-n 2 --workers 1" "-n 2 --workers 2" "-n 2 --nodes 2"; do
	# shellcheck disable=SC2086
	is "$(run $way --set mpi_check_types=off ./program messages)" "$none" "$way: off, nothing is seen"
	# shellcheck disable=SC2086
	is "$(run $way --set mpi_check_types=kind ./program messages)" "$kind" \
		"$way: kind reports values that become others"
	# shellcheck disable=SC2086
	is "$(run $way --set mpi_check_types=exact ./program messages)" \
		"$exact" "$way: exact reports what MPI forbids"
	# shellcheck disable=SC2086
	is "$(run $way --set mpi_check_types=kind ./program calls)" \
		"sendrecv=type isendrecv=type replace=type persistent=type persistent=type bsend=type imrecv=type null=ok" \
		"$way: every call that receives compares"
done

all="bcast=type bcast-same=ok gather=type gather-in-place=ok scatter=type \
allgather=type allgatherv=ok alltoall=type alltoall-same=ok \
alltoall-in-place=type alltoallw=type allreduce=ok ibcast=type neighbor=type"
for way in "-n 4 --workers 1" "-n 4 --workers 2" "-n 4 --nodes 2" \
	"-n 6 --nodes 3"; do
	for size in short long; do
		# shellcheck disable=SC2086
		is "$(run $way --set mpi_check_types=kind ./program $size)" \
			"$all" "$way: $size collectives compare"
	done
done
is "$(run -n 4 --nodes 3 --set mpi_check_types=exact \
	--set mpi_coll_bcast_algorithm=binomial ./program long)" "$all" \
	"relayed data too"

output=$(timeout 150 "$VMPI_BUILD/vmpirun" -n 2 --set mpi_check_types=kind \
	./program messages fatal 2>&1)
rc=$?
case $rc,$output in
0,*) fail "the job ends: $output" ;;
*"rank 1"*MPI_Wait*MPI_ERR_TYPE*"rank 0 sent 4 MPI_INT with tag 1, which is received as 2 MPI_DOUBLE"*)
	pass "the message says who sent what, and what it is received as" ;;
*) fail "$rc: $output" ;;
esac
done_testing
