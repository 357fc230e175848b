#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpi_check off: arguments are taken as they are, where that harms no memory;
# what would harm it is still refused.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
cd "$scratch" || exit 1

cat >program.c <<'END'
#include <mpi.h>
#include <stdio.h>

static const MPI_Comm self = MPI_COMM_SELF;

static void say(const char *what, int rc)
{
	printf("%s %d\n", what, rc);
}

int main(int argc, char **argv)
{
	MPI_Datatype pair, freed;
	MPI_Request request;
	MPI_Status status;
	int x[2] = {1, 2}, y[2] = {0, 0}, n = -1;

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
	MPI_Type_contiguous(2, MPI_INT, &pair);
	say("uncommitted", MPI_Isend(x, 1, pair, 0, 1, self, &request));
	if (argc > 1) {
		MPI_Recv(y, 2, MPI_INT, 0, 1, self, &status);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		say("received", y[1]);
	}
	say("tag", MPI_Isend(x, 1, MPI_INT, 0, -5, self, &request));
	if (argc > 1) {
		MPI_Recv(y, 1, MPI_INT, 0, -5, self, &status);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		say("received", status.MPI_TAG);
	}
	say("count", MPI_Isend(x, -3, MPI_INT, 0, 2, self, &request));
	if (argc > 1) {
		MPI_Recv(y, 1, MPI_INT, 0, 2, self, &status);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Get_count(&status, MPI_INT, &n);
		say("received", n);
	}
	say("bcast", MPI_Bcast(x, 1, pair, 0, self));
	/* These are checked always. */
	say("rank", MPI_Send(x, 1, MPI_INT, 7, 0, self));
	say("root", MPI_Bcast(x, 1, MPI_INT, 7, self));
	say("counts", MPI_Bcast(x, -1, MPI_INT, 0, self));
	say("comm", MPI_Send(x, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
	freed = pair;
	MPI_Type_free(&pair);
	say("type", MPI_Send(x, 1, freed, 0, 0, self));
	MPI_Finalize();
	return 0;
}
END
"$VMPI_BUILD/vmpicc" -o program program.c || exit 1

on=$(timeout 150 "$VMPI_BUILD/vmpirun" -n 1 ./program 2>&1 | tr '\n' ';')
is "$on" "uncommitted 3;tag 4;count 2;bcast 3;rank 6;root 8;counts 2;comm 5;type 3;" \
	"with checks every mistake has its class"
off=$(timeout 150 "$VMPI_BUILD/vmpirun" -n 1 --set mpi_check=0 ./program off 2>&1 |
	tr '\n' ';')
is "$off" "uncommitted 0;received 2;tag 0;received -5;count 0;received 0;bcast 0;rank 6;root 8;counts 2;comm 5;type 3;" \
	"without, only those that would harm memory have"
env=$(VMPI_MPI_CHECK=0 timeout 150 "$VMPI_BUILD/vmpirun" -n 1 ./program off 2>&1 |
	tr '\n' ';')
is "$env" "$off" "the environment turns them off as well"
done_testing
