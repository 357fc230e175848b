#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that define functions of libc's names: of each that we define, too.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
need nm
TZ=UTC
export TZ

# What is in each program, and what the node program puts before libc's.
image=$VMPI_BUILD/bin/image/libvmpi_image.a
nm --defined-only "$image" 2>/dev/null |
	awk '$2 == "T" && $3 !~ /^(vm|_Z)/ { print $3 }' | sort -u >image.names
nm -D --defined-only "$node" | awk '$2 == "T" { print $3 }' |
	grep -E '^_*[a-z][a-z0-9_]*$' | grep -Ev '^(_start$|__kmpc|omp_|vmpi_)' |
	sort -u >node.names
ok "the names of those in programs are known" \
	test "$(wc -l <image.names)" -gt 40
ok "and those of the node program" test "$(wc -l <node.names)" -gt 60
none "$(nm "$image" 2>/dev/null | awk '$1 == "U" { print $2 }' | sort -u |
	grep -Evx 'vm(pi)?_.*|_Z.*|_GLOBAL_OFFSET_TABLE_|main|__cxa_atexit|__dso_handle' |
	grep -Evx '_IO_2_1_stdin_|std(in|out|err)|__environ|opt(arg|err|ind|opt)' |
	grep -Evx '(m|c)alloc|free|mem(cpy|move|set)|str(n?cmp|c?spn|len|chr)')" \
	"what is in programs calls nothing by a name that a program may have"

# own NAME...: the source of a file that defines these.
own() {
	echo "extern const char own_names[]; extern int own_calls;"
	echo "const char own_names[] = \" $* \"; int own_calls;"
	for own_name; do
		echo "long $own_name(void) { own_calls++; return 42; }"
	done
}

# call NAME...: the source of a program that prints which of them is not that.
call() {
	echo "#include <mpi.h>"
	printf 'extern long %s(void);\n' "$@"
	echo "int printf(const char *, ...);"
	echo "int main(int argc, char **argv) { MPI_Init(&argc, &argv);"
	printf 'if (%s() != 42) printf("%s is not the own\\n");\n' \
		$(printf '%s %s ' $(printf '%s\n' "$@" "$@" | sort))
	echo "return MPI_Finalize(); }"
}

flags="-g -w -fno-builtin -D_GNU_SOURCE"
while read -r name; do
	own "$name" >"own-$name.c"
done <image.names
split -l 10 node.names node.part.
for part in node.part.*; do
	own $(cat "$part") >"own-$part.c"
	echo "$part"
done >node.parts
odd=$(sed -n 'p; n' image.names)
even=$(sed -n 'n; p' image.names)
own $odd >own-odd.c
own $even >own-even.c
printf '%s\n' odd even >halves
"$vmpicc" $flags -c own-*.c || bail "own functions cannot be compiled"
"$vmpicc" $flags -c "$programs/siblings.c" || bail "siblings.c: no object"

# each LIST COMMAND...: builds with each name of a list and runs it.
each() {
	list=$1
	shift
	while read -r name; do
		"$@" siblings.o "own-$name.o" -o own >said 2>&1 &&
			timeout 100 "$vmpirun" -n 2 ./own </dev/null >said 2>&1
		echo "status $?" >>said
		[ "$(cat said)" = "ok
status 0" ] || sed "s/^/$name: /" said
	done <"$list"
}

none "$(each image.names "$vmpicc")" \
	"a function of the program leaves its siblings as they are"
none "$(each node.parts "$vmpicc")" "also those that the node program has"
for name in odd even; do
	"$vmpicc" -shared "own-$name.o" -o "libown-$name.so"
done
ld_path=$LD_LIBRARY_PATH
LD_LIBRARY_PATH=$scratch
export LD_LIBRARY_PATH
none "$(each halves sh -c 'exec "$0" "$1" -L. -l"${2%.o}" "$3" "$4"' "$vmpicc")" \
	"also those that a library of the program has"
call $even >call.c
"$vmpicc" $flags call.c -L. -lown-even -o call
for ranks in 1 2; do
	is "$(run $ranks ./call 2>&1)" "" \
		"which the program gets, $ranks ranks"
done

cat >stream.cc <<'END'
#include <iostream>
static struct early {
	early() { std::cout << std::hex << std::flush; }
} early;
END
if "$vmpicxx" -c stream.cc 2>/dev/null; then
	none "$(each halves "$vmpicxx" -static-libstdc++ -static-libgcc stream.o)" \
		"also in C++"
else
	skip 1 "there is no C++"
fi

case $(uname -m)-${VMPI_SANITIZE:-none} in
x86_64-none)
	cc="${CC:-cc} $flags -fPIE -I$VMPI_SRC/include"
	libs="-Wl,--no-as-needed -L$VMPI_BUILD/lib -lmpi_abi -Wl,-rpath,$VMPI_BUILD/lib"
	$cc -c "$programs/siblings.c" || bail "siblings.c: no object"
	while read -r name; do
		own "$name" >"own-$name.c"
	done <image.names
	none "$(each image.names $cc -pie -rdynamic $libs)" \
		"also in an ordinary executable"
	none "$(each node.parts $cc -pie -rdynamic $libs)" \
		"and those of the node program"
	none "$(each halves sh -c 'exec $0 "$1" -L. -l"${2%.o}" "$3" "$4"' \
		"$cc -pie $libs")" "and those of a library"
	$cc -pie call.c -L. -lown-even $libs -o call
	is "$(run 2 ./call 2>&1)" "" "which the executable gets"
	;;
*) skip 4 "ordinary executables are processes here" ;;
esac
LD_LIBRARY_PATH=$ld_path

# Variables are shared with libc, which is ours here.
cat >variables.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
char *optarg = "own";
int optind = 1, opterr = 1, optopt;
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int c = getopt(argc, argv, "x:");
	printf("%c %s %d\n", c, optarg, optind);
	return MPI_Finalize();
}
END
"$vmpicc" variables.c -o variables
is "$(run 2 ./variables -x word | sort -u)" "x word 3" \
	"variables that a program has itself are those of getopt()"
cat >environ.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
char *own[] = { "HOME=own", NULL }, **environ = own;
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	puts(!getenv("HOME") || getenv("HOME") == own[0] + 5 ? "own" : "libc's");
	return MPI_Finalize();
}
END
"$vmpicc" environ.c -o environ
is "$(run 2 ./environ | sort -u)" "libc's" \
	"but its environ is not libc's, as in every process"
done_testing
