#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Standard descriptors that are closed, descriptors that are used up, and those of
# vmpi that a program closes or replaces.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

# Prints much, and tells by its exit code and by a file whether it is sound.
cat >prints.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static int numbers[5000] = { 1, 2, 3 };
int main(int argc, char **argv)
{
	const char *null = "/dev/null";
	int rank, sum = 0, wrong = 0;
	FILE *file;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 1000; i++) {
		printf("much is printed by rank %d in line %d\n", rank, i);
		fprintf(stderr, "and by rank %d in line %d\n", rank, i);
	}
	fflush(stdout);
	for (int fd = 0; fd < 3; fd++) {
		struct stat one, other;

		wrong += fstat(fd, &one) || stat(null, &other) ||
			 one.st_rdev != other.st_rdev;
	}
	for (int i = 0; i < 5000; i++)
		sum += numbers[i];
	wrong += sum != 6 || getchar() != EOF;
	MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM,
		      MPI_COMM_WORLD);
	if (rank == 0 && argc > 1 && (file = fopen(argv[1], "w"))) {
		fprintf(file, "%d wrong\n", wrong);
		fclose(file);
	}
	MPI_Finalize();
	return wrong != 0;
}
END
"$vmpicc" -g prints.c -o prints
cc -I"$VMPI_SRC/include" prints.c -o ordinary -L"$VMPI_BUILD/lib" -lvmpi \
	-Wl,-rpath,"$VMPI_BUILD/lib"
# The thread sanitizer must be in the program itself.
[ "${VMPI_SANITIZE:-none}" != thread ] || cp prints ordinary

for how in "$vmpirun -n 2 ./prints" "$vmpirun -n 2 --nodes 2 ./prints" \
	"$vmpirun -n 2 ./ordinary" "$vmpirun -n 2 --processes ./ordinary" \
	./prints ./ordinary; do
	rm -f sound
	timeout 200 $how sound <&- >&- 2>&-
	is "$? $(cat sound)" "0 0 wrong" \
		"$(echo "$how" | sed "s|$VMPI_BUILD/||"): without standard descriptors"
done
for tool in vmpi_info vmpistat "vmpirun --help" "vmpitop --help"; do
	timeout 200 "$VMPI_BUILD"/$tool <&- >&- 2>&-
	ok "$tool without standard descriptors ends" test $? -lt 3
done

# Descriptors that are used up: by a limit, or by the program at one moment.
cat >uses.c <<'END'
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
static void use_all(void)
{
	struct rlimit limit = { 128, 128 };

	setrlimit(RLIMIT_NOFILE, &limit);
	while (open("/dev/null", O_RDONLY) >= 0)
		;
}
int main(int argc, char **argv)
{
	int when = atoi(argv[1]), rank, size, from = 0;

	if (when == 0)
		use_all();
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (when == 1)
		use_all();
	MPI_Barrier(MPI_COMM_WORLD);
	if (when == 2)
		use_all();
	for (int i = 0; i < size; i++)
		MPI_Sendrecv(&rank, 1, MPI_INT, (rank + i) % size, 0, &from, 1,
			     MPI_INT, (rank + size - i) % size, 0,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("right\n");
	MPI_Finalize();
	return 0;
}
END
"$vmpicc" uses.c -o uses
cc -I"$VMPI_SRC/include" uses.c -o uses-ordinary -L"$VMPI_BUILD/lib" -lvmpi \
	-Wl,-rpath,"$VMPI_BUILD/lib"
[ "${VMPI_SANITIZE:-none}" != thread ] || cp uses uses-ordinary

# said ARGUMENT...: the job is right, or says that descriptors are missing.
said() {
	run 4 "$@" >out 2>err
	code=$?
	if [ $code = 0 ]; then
		is "$(cat out)" right "$*: right"
	else
		like "$(cat err)" \
			'descriptors?.* in use|Too many open files' \
			"$*: descriptors are named"
	fi
}
for when in 0 1 2; do
	said ./uses $when
	said --nodes 2 ./uses $when
	said --nodes 4 ./uses $when
	said --processes ./uses-ordinary $when
done
for most in 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
	for how in "./uses 3" "--nodes 2 ./uses 3" \
		"--processes ./uses-ordinary 3"; do
		# The shell itself needs descriptors to redirect.
		(
			exec </dev/null >out 2>err
			ulimit -n $most
			exec timeout 200 "$vmpirun" -n 2 $how
		)
		code=$?
		[ "$code $(cat out)" = "0 right" ] || grep -Eq \
			'descriptors?.* in use|Too many open files' err ||
			echo "$most $how: $code $(cat err)"
	done
done >silent
none "$(cat silent)" "whatever the limit, a job is right or names what is missing"

# A program that closes all that it does not know, or chooses the numbers of its
# own; and one that opens and closes its own beside the network, whose connections
# begin late.  One worker: ranks of a process share descriptors, and would take
# each other's.
cat >takes.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int refused;
static void take(const char *how)
{
	if (!strcmp(how, "close"))
		for (int fd = 3; fd < 1100; fd++)
			close(fd);
	else if (!strcmp(how, "closefrom"))
		closefrom(3);
	else if (!strcmp(how, "close_range"))
		close_range(3, ~0u, 0);
	else if (!strcmp(how, "dup2"))
		for (int fd = 3; fd < 1000; fd++)
			if (dup2(1, fd) != fd)
				refused += errno == EBUSY ? 1 : 1000000;
}
/* Descriptors of the program are its own as ever. */
static int own(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), other, wrong, status;

	wrong = fd < 0 || (other = fcntl(fd, F_DUPFD, 0)) < 0;
	/* What is closed the network may have the next moment. */
	wrong += close(fd) != 0;
	wrong += dup2(other, 50) != 50 || close(50) || close(other);
	wrong += close(1 << 19) != -1 || errno != EBADF;
	/* A child has no more than its own. */
	if (fork() == 0) {
		closefrom(3);
		for (fd = 3; fd < 1100; fd++)
			if (fcntl(fd, F_GETFD) != -1)
				_exit(1);
		_exit(0);
	}
	wait(&status);
	return wrong + (status != 0);
}
int main(int argc, char **argv)
{
	int rank, size, wrong;
	static char data[100000];

	if (atoi(argv[2]) == 0)
		take(argv[1]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 1; i < size; i++)
		MPI_Sendrecv_replace(data, sizeof(data), MPI_CHAR,
				     (rank + i) % size, 0,
				     (rank + size - i) % size, 0,
				     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (atoi(argv[2]) == 2)
		take(argv[1]);
	wrong = own() + (refused > 1000);
	MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM,
		      MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d wrong\n", wrong);
	MPI_Finalize();
	return 0;
}
END
"$vmpicc" -g takes.c -o takes
for how in close closefrom close_range dup2; do
	for when in 0 2; do
		for more in "" "--nodes 2" "--nodes 4 --set fabric_shm=off" \
			--processes; do
			is "$(run 4 --workers 1 $more ./takes $how $when 2>err)" "0 wrong" \
				"$more takes $how $when: goes on"
			[ $how = dup2 ] || none "$(cat err)" "and nothing is said"
		done
	done
done
like "$(cat err)" 'descriptor [0-9]* cannot be replaced: vmpi uses it' \
	"dup2() onto one of vmpi is refused with a sentence"
done_testing
