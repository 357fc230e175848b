#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Real jobs: what vmpirun's options do to a program, and how jobs end.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
vmpirun=$VMPI_BUILD/vmpirun
for program in vmpirun vmpicc bin/vmpi-node/vmpi-node; do
	[ -x "$VMPI_BUILD/$program" ] || skip_all "$program is not built"
done
unset MPIEXEC_TIMEOUT VMPI_NODE
cd "$scratch" || exit 1

cat >program.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int recurse(int depth)
{
	volatile char page[4096];

	memset((void *)page, depth, sizeof(page));
	return recurse(depth + 1) + page[depth % 4096];
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "hello";
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!strcmp(what, "hello")) {
		printf("hello ");
		MPI_Barrier(MPI_COMM_WORLD);
		printf("from %d of %d\n", rank, size);
	} else if (!strcmp(what, "stdin")) {
		char line[80];

		if (rank == 0 && fgets(line, sizeof(line), stdin))
			printf("rank 0 read %s", line);
	} else if (!strcmp(what, "env")) {
		if (rank == size - 1)
			printf("%s %s\n", getenv("GREETING"),
			       getenv("VMPI_JOB_RANKS") ? "job" : "no job");
	} else if (!strcmp(what, "both")) {
		printf("out %d\n", rank);
		fprintf(stderr, "err %d\n", rank);
	} else {
		int value = 0;

		/* The last rank does it, all others wait for it. */
		if (rank < size - 1)
			MPI_Recv(&value, 1, MPI_INT, size - 1, 0,
				 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else if (!strcmp(what, "exit"))
			exit(5);
		else if (!strcmp(what, "_exit"))
			_exit(6);
		else if (!strcmp(what, "return"))
			return 9;
		else if (!strcmp(what, "null"))
			*(volatile int *)(long)(argc - 2) = 1;
		else if (!strcmp(what, "abort"))
			abort();
		else if (!strcmp(what, "overflow"))
			return recurse(0);
		else if (!strcmp(what, "MPI_Abort"))
			MPI_Abort(MPI_COMM_WORLD, 7);
		else if (!strcmp(what, "deadlock"))
			MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
END
"$VMPI_BUILD/vmpicc" -g -o program program.c -Wno-infinite-recursion \
	>err 2>&1 || {
	plan 1
	fail "the program can be built"
	diag "$(cat err)"
	exit 1
}

now() {
	date +%s%N | cut -c 1-13
}

run() {
	timeout 150 "$vmpirun" "$@" </dev/null
}

hello() {
	seq 0 $(($1 - 1)) | sed "s/.*/hello from & of $1/" | sort
}

for ranks in 1 2 8 64; do
	is "$(run -n $ranks ./program | sort)" "$(hello $ranks)" \
		"$ranks ranks say hello in whole lines"
done
is "$(run -n 8 --workers 1 ./program | sort)" "$(hello 8)" \
	"one worker is enough"
is "$(run -n 8 --workers 3 --stack 64K ./program | sort)" "$(hello 8)" \
	"so are small stacks"
is "$(run -n 3 -l ./program | sed 's/hello.*//' | tr -d '[]: ' | sort |
	tr '\n' ' ')" "0 1 2 " "-l labels each line with its rank"

run -n 3 --output files ./program both >out 2>err
is $? 0 "a job may write to files"
is "$(cat out err)" "" "then nothing comes out elsewhere"
is "$(cat files/rank.1.out)" "out 1" "standard output is in rank.N.out"
is "$(cat files/rank.1.err)" "err 1" "standard error in rank.N.err"

is "$(echo hello | timeout 150 "$vmpirun" -n 3 ./program stdin)" \
	"rank 0 read hello" "rank 0 reads standard input"
is "$(run -n 3 -x GREETING=hi ./program env)" "hi no job" \
	"ranks see -x variables and no job"
mkdir -p elsewhere
is "$(run -n 2 -wdir elsewhere ../program | sort)" "$(hello 2)" \
	"-wdir may be another directory"

# Several programs, each in surroundings of its own.
mkdir -p one two
for part in one two; do
	printf '#!/bin/sh\necho "%s $GREETING $COMMON $(basename "$(pwd)") $1"\n' \
		$part >$part/say
	chmod +x $part/say
done
here=$(basename "$scratch")
is "$(run -genv COMMON=all -n 1 -x GREETING=hi -wdir one ./say a : \
	-n 2 -env GREETING ho --wdir=two ./say b : -x COMMON=own one/say c |
	sort)" "one  own $here c
one hi all one a
two ho all two b
two ho all two b" "programs have variables and directories of their own"
cat >lines <<'END'
-n 1 -x GREETING=hi -wdir one ./say a
-env GREETING "h o" two/say b
END
is "$(run -x GREETING=none -x COMMON=all -configfile lines | sort)" \
	"one hi all one a
two h o all $here b" "on the lines of a file, too"
is "$(run -n 1 -x COMMON=1 -wdir one ../program env : \
	-x GREETING=hi -wdir two ../program env)" "hi no job" \
	"ranks that are user-level threads see theirs"
command=$(run --dry-run -n 1 -wdir one ./say : -x GREETING="it's" two/say)
like "$command" "^cd $(pwd -P)/one && env " "--dry-run shows the directory"
like "$command" "^env .GREETING=it" "and the variables of each"

run -n 3 --workers 2 --report-bindings --display-map --summary ./program \
	>out 2>&1
is $? 0 "bindings, map and summary can be asked for"
diag "$(cat out)"
is "$(grep -c '^hello from' out)" 3 "and the program still says hello"

# ends CODE REGEX WHAT: the job ends within a second with a line about rank 2.
ends() {
	start=$(now)
	run -n 3 ./program "$3" >out 2>err
	code=$?
	took=$(($(now) - start))
	is $code "$1" "$3: the exit code is $1"
	like "$(cat err)" "^vmpirun: rank 2.*$2" "$3: the rank is named"
	ok "$3: the job ends at once ($took ms), not by its watchdog" \
		test $took -lt 20000
}
ends 5 'status 5' exit
ends 6 'status 6' _exit
ends 9 'status 9' return
ends 139 'SIGSEGV' null
ends 134 'SIGABRT|abort' abort
ends 139 'stack.*--stack' overflow
ends 7 'MPI_Abort\(7\)|MPI_Abort.*7' MPI_Abort

run --timeout 1 --deadlock=off -n 3 ./program deadlock >out 2>err
is $? 124 "a deadlocked job ends at its time limit"
done_testing
