#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# State inside libc: options, random numbers, tokens, environment, input.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

wanted() {
	seq 0 $(($1 - 1)) | sed 's/.*/rank &: ok/' | sort
}

SHARED=yes
export SHARED
build libc libc.c
for ranks in 1 2 10; do
	is "$(run $ranks ./libc -a -b3 word --long=x | sort)" \
		"$(wanted $ranks)" "each rank has its own, $ranks ranks"
done
is "$(run 10 --workers 1 ./libc word -a -b 3 --lo x | sort)" "$(wanted 10)" \
	"also when all ranks share a worker"
is "$(./libc -ab3 --long x word)" "$(wanted 1)" "also when started alone"

cat >input.c <<'END'
#include <stdio.h>
#include <vmpi.h>
int main(void)
{
	int number = -1, items = scanf("%d", &number), sum = 0, c;

	while ((c = getchar()) != EOF)
		sum += c == 'x';
	vmpi_barrier(vmpi_world());
	printf("rank %d: %d %d %d\n", vmpi_rank(), items, number, sum);
	return 0;
}
END
"$vmpicc" input.c -o input
is "$(echo '42 xxx' | timeout 200 "$vmpirun" -n 3 ./input | sort)" \
	"rank 0: 1 42 3
rank 1: -1 -1 0
rank 2: -1 -1 0" "standard input belongs to rank 0"
is "$(echo '42 xxx' | ./input)" "rank 0: 1 42 3" "and to a program alone"

cat >name.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	printf("%s %s %d\n", argv[0], program_invocation_short_name, argc);
	return 0;
}
END
"$vmpicc" name.c -o name
is "$(./name x)" "./name name 2" "a program alone has its own name"
is "$(run 1 ./name x)" "./name name 2" "so has a single rank"
is "$(run 2 ./name x | sort -u)" "./name name 2" "and so have several"
is "$(PATH=$PATH:. name)" "name name 1" "a program found in PATH"

# As tools do for the names of their files, and for their options.
cat >place.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void told(const char *path, char *end)
{
	*end = '\0';
	printf(" %s", strrchr(path, '/') + 1);
}
int main(int argc, char **argv)
{
	char path[PATH_MAX], name[64], *words = getenv("WORDS");
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	strtok(words, ",");
	printf("%s %s", words, strtok(NULL, ","));
	told(path, path + n);
	snprintf(name, sizeof(name), "/proc/%d/exe", (int)getpid());
	n = readlinkat(AT_FDCWD, name, path, sizeof(path) - argc);
	told(path, path + n);
	realpath("/proc/self/exe", path);
	told(path, path + strlen(path));
	n = readlink("/proc/self/exe", path, 1);
	printf(" %d%d", n == 1 && path[0] == '/',
	       readlink("/proc/self/stat", path, sizeof(path)) == -1);
	n = readlink("/proc/self/cwd", path, sizeof(path) - 1);
	path[n] = '\0';
	printf(" %d\n", !strcmp(path, realpath(".", NULL)));
	return argv[argc] != NULL;
}
END
for flags in -O0 "-O2 -D_FORTIFY_SOURCE=2"; do
	"$vmpicc" -w $flags place.c -o place
	for ranks in 1 4; do
		is "$(run $ranks --workers 1 -x WORDS=one,two ./place |
			sort | uniq -c | tr -s ' ')" \
			" $ranks one two place place place 11 1" \
			"/proc/self/exe is the program, $ranks ranks, $flags"
	done
done
ln -s name other
is "$(./other)" "./other other 1" "a symbolic link"
done_testing
