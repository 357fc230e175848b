#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Errors under MPI_ERRORS_ARE_FATAL, and MPI in the wrong phase: the job ends
# with one line that says who, where and what.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
cd "$scratch" || exit 1

cat >program.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	const char *what = argv[1];
	int rank, value[4] = {0}, small;
	MPI_Comm comm;
	MPI_Win win;

	if (!strcmp(what, "before"))
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!strcmp(what, "after")) {
		MPI_Finalize();
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	}
	if (!strcmp(what, "twice"))
		MPI_Init(&argc, &argv);
	if (!strcmp(what, "abort") && rank == 2)
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (!strcmp(what, "rank") && rank == 1)
		MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
	if (!strcmp(what, "named") && rank == 0) {
		MPI_Comm_dup(MPI_COMM_SELF, &comm);
		MPI_Comm_set_name(comm, "halo");
		MPI_Recv(value, 1, MPI_INT, 0, -3, comm, MPI_STATUS_IGNORE);
	}
	if (!strcmp(what, "truncate") && rank == 0) {
		MPI_Send(value, 4, MPI_INT, 0, 0, MPI_COMM_WORLD);
		MPI_Recv(&small, 1, MPI_INT, 0, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	}
	if (!strcmp(what, "window") && rank == 0) {
		MPI_Win_create(value, 16, 1, MPI_INFO_NULL, MPI_COMM_SELF,
			       &win);
		MPI_Win_set_name(win, "halo");
		MPI_Put(value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
	}
	if (!strcmp(what, "sendrecv") && rank == 0)
		MPI_Sendrecv(value, 1, MPI_INT, 1, 0, value + 1, 1,
			     (MPI_Datatype)0x4444, 1, 0, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
	if (!strcmp(what, "alltoall") && rank == 0)
		MPI_Alltoall(value, 1, (MPI_Datatype)0x4444, value + 1, 1,
			     MPI_INT, MPI_COMM_SELF);
	if (!strcmp(what, "freed") && rank == 0) {
		MPI_Comm copy;

		MPI_Comm_dup(MPI_COMM_SELF, &comm);
		copy = comm;
		MPI_Comm_free(&comm);
		MPI_Send(value, 1, MPI_INT, 0, 0, copy);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
END
"$VMPI_BUILD/vmpicc" -o program program.c || exit 1

# dies WHAT CODE TEXT NAME: the job exits with CODE and says TEXT.
dies() {
	timeout 150 "$VMPI_BUILD/vmpirun" -n 4 --workers 2 ./program "$1" \
		>out 2>err
	is "$?" "$2" "$4: exit code $2"
	if grep -q -- "$3" err; then
		pass "$4: \"$3\""
	else
		fail "$4: \"$3\""
		diag "$(cat err)"
	fi
	is "$(wc -l <err)" 1 "$4: one line"
}

dies before 16 'called MPI_Comm_rank before MPI_Init' 'before MPI_Init'
dies after 16 'called MPI_Comm_rank after MPI_Finalize' 'after MPI_Finalize'
dies twice 16 'MPI_Init failed: MPI_ERR_OTHER.*initialised already' \
	'MPI_Init twice'
dies abort 7 'rank 2 called MPI_Abort(7)' 'MPI_Abort'
dies rank 6 'rank 1: MPI_Send on MPI_COMM_WORLD failed: MPI_ERR_RANK.*destination 99, but ranks are 0 to 3' \
	'a wrong rank'
dies named 4 'rank 0: MPI_Recv on halo failed: MPI_ERR_TAG.*tag -3' \
	'a wrong tag on a communicator with a name'
dies truncate 15 'MPI_Recv on MPI_COMM_WORLD failed: MPI_ERR_TRUNCATE.*rank 0 sent 16 bytes with tag 0, the receive buffer has room for 4' \
	'truncation'
dies window 50 'rank 0: MPI_Put on halo failed: MPI_ERR_RMA_SYNC.*no epoch is open' \
	'an access without an epoch'
dies sendrecv 3 'the data to receive: 0x4444 is not a datatype' \
	'a wild datatype of two'
dies alltoall 3 'the data to send: 0x4444 is not a datatype' \
	'a wild datatype of two in a collective'
dies freed 5 'MPI_Send failed: MPI_ERR_COMM.*not a communicator, or it was freed' \
	'a freed communicator'
done_testing
