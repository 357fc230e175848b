#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vmpicc and vmpicxx: queries, compilers, and what is passed on.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

# The compiler may be several words (ccache cc).
like "$("$vmpicc" -show main.c -o main)" \
	'^([^ -][^ ]* )*[^ ]*cc .* -shared .*main.c -o main .*-fPIC .*-lvmpi' "-show prints a link"
is "$("$vmpicc" -showme main.c)" "$("$vmpicc" -show main.c)" \
	"-showme is the same"
like "$("$vmpicc" -show -c main.c)" '-I[^ ]+ .*-c main.c -fPIC$' \
	"-c has nothing of the link"
for option in -E -S -M -fsyntax-only; do
	none "$("$vmpicc" -show $option main.c | grep -e -lvmpi)" \
		"neither has $option"
done
like "$("$vmpicc" -showme:compile)" '^-I[^ ]+$' "-showme:compile"
like "$("$vmpicc" -showme:link)" '^-L[^ ]+ .*-lvmpi$' "-showme:link"
ok "-showme:incdirs is where mpi.h is" \
	test -e "$("$vmpicc" -showme:incdirs)/mpi.h"
ok "-showme:libdirs is where libvmpi.so is" \
	test -e "$("$vmpicc" -showme:libdirs)/libvmpi.so"
is "$("$vmpicc" -showme:libs)" vmpi "-showme:libs"
like "$("$vmpicc" -showme:version)" '^vmpicc: vmpi [0-9]+\.[0-9]+\.[0-9]+ ' \
	"-showme:version"
is "$("$vmpicc" -cc=other -showme:command)" other "-showme:command and -cc="
like "$("$vmpicc" -compile-info)" '^([^ -][^ ]* )*[^ ]*cc -I[^ ]+$' "-compile-info"
like "$("$vmpicc" -link-info)" '^([^ -][^ ]* )*[^ ]*cc .*-lvmpi$' "-link-info"
none "$("$vmpicc" -link-info | grep -e -shared -e vmpi_image)" \
	"they are those of an ordinary executable"
none "$("$vmpicc" -show | grep -e -shared -e vmpi_image)" \
	"so are those of -show without a file"
like "$("$vmpicc" -showme:help)" '-showme:WHAT' "-showme:help"
"$vmpicc" -showme:nonsense >out 2>err
is $? 2 "an unknown query is an error"
like "$(cat err)" "nonsense.* link," "that names the known ones"

for variable in VMPI_CC MPICH_CC OMPI_CC; do
	is "$(env $variable=other "$vmpicc" -showme:command)" other \
		"$variable chooses the compiler"
done
is "$(VMPI_CC="env gcc" "$vmpicc" -show -c x.c | cut -d' ' -f1,2)" "env gcc" \
	"of several words, too"
is "$(MPICH_CC=b VMPI_CC=a "$vmpicc" -showme:command)" a "VMPI_CC comes first"
like "$("$vmpicxx" -show main.cc)" 'fno-gnu-unique' "vmpicxx for C++"
is "$(VMPI_CXX=other "$vmpicxx" -showme:command)" other "VMPI_CXX is for it"
ok "vmpic++ is another name" test -x "$VMPI_BUILD/vmpic++"

echo "-static" >static.rsp
for option in -static -static-pie @static.rsp; do
	"$vmpicc" $option main.c >out 2>err
	is $? 2 "$option is refused"
	like "$(cat err)" "vmpicc: (-static.*): .*leave \\1 out" \
		"with a sentence that says why"
done

# Its output.
cat >main.c <<'END'
#include <stdio.h>
#include <vmpi.h>
int value(void);
int main(void)
{
	printf("%d\n", value() + vmpi_rank());
	return 0;
}
END
echo 'int value(void) { return X; }' >value.c
ok "objects" "$vmpicc" -c -DX=5 main.c value.c
ok "are linked" "$vmpicc" main.o value.o -o a.out
is "$(./a.out)" 5 "into a program"
is "$(VMPI_CC=$vmpicc timeout 20 "$vmpicc" -showme:command)" \
	"$("$vmpicc" -showme:command)" "it does not call itself for ever"
ar cr libvalue.a value.o
ok "or from an archive" "$vmpicc" main.o -L. -lvalue -o a.out
is "$(./a.out)" 5 "into a program as well"
ar cr libmain.a main.o
ok "main itself may lie in an archive" "$vmpicc" value.o libmain.a -o a.out
is "$(./a.out)" 5 "which gives a program, too"
ok "a source with an odd name and definition" \
	"$vmpicc" -include stdio.h "-DX=(int)sizeof(\"a b\")" main.c value.c \
	-o "odd name"
is "$("./odd name")" 4 "is passed on as it is"
"$vmpicc" main.c -o missing >out 2>err
is "$? $(ls missing 2>/dev/null)" "1 " "a missing function is an error"
like "$(cat err)" "undefined reference.*value" "of the linker, as usual"
"$vmpicc" value.c -DX=1 -o nomain >out 2>err
ok "so is a missing main" test $? -ne 0
ok "a shared library" "$vmpicc" -shared value.c -DX=7 -o libvalue.so
none "$(nm -D libvalue.so | grep vmpi_image)" "has nothing of a program"
echo "-shared -DX=7 -o listed.so" >shared.rsp
for words in "--shared -DX=7 -o listed.so" @shared.rsp; do
	rm -f listed.so
	# shellcheck disable=SC2086
	"$vmpicc" value.c $words
	is "$(nm -D listed.so | grep -c -e value -e vmpi_image)" 1 \
		"a shared library by $words"
done
echo "-c main.c" >compile.rsp
none "$("$vmpicc" -show @compile.rsp | grep -e -lvmpi)" \
	"-c in a response file has nothing of the link"

# Precompiled headers.
echo '#include <mpi.h>' >all.h
echo '#include "all.h"
int main(void) { return MPI_SUCCESS; }' >includes.c
for words in "all.h" "-x c-header all.h -o all.h.gch" "-xc-header all.h"; do
	rm -f all.h.gch
	# shellcheck disable=SC2086
	ok "$words: a header is precompiled" "$vmpicc" $words
	like "$("$vmpicc" -H includes.c -o includes 2>&1)" '^! all.h.gch' \
		"and used"
done

# Options of other kinds of programs, and compilers.
# program NAME COMMAND...: builds a.out, which prints 5.
program() {
	program_name=$1
	shift
	rm -f a.out
	ok "$program_name" "$@" -DX=5 -o a.out &&
		is "$(./a.out)" 5 "gives a program"
}
program "-pie and -fPIE" "$vmpicc" -pie -fPIE main.c value.c
program "hardening" "$vmpicc" -O2 -fcf-protection -fstack-protector-strong \
	-D_FORTIFY_SOURCE=2 -Wl,-z,relro,-z,now main.c value.c
program "-x c" "$vmpicc" -x c main.c value.c
echo '-O2 main.c "value.c"' >two.rsp
program "a response file" "$vmpicc" @two.rsp
echo '-pie -fPIE main.c' >pie.rsp
program "-pie in a response file" "$vmpicc" value.c @pie.rsp
echo '@pie.rsp' >nested.rsp
program "a response file in another" "$vmpicc" value.c @nested.rsp
if [ -n "$(command -v c++)" ]; then
	{
		echo 'extern "C" {'
		cat main.c value.c
		echo '}'
	} >both.txt
	program "-x c++" "$vmpicxx" -x c++ both.txt
fi
program "link-time optimization" "$vmpicc" -O2 -flto main.c value.c
for linker in gold lld; do
	if command -v ld.$linker >/dev/null; then
		program "the linker $linker" "$vmpicc" -fuse-ld=$linker main.c \
			value.c
	else
		skip 2 "$linker is not installed"
	fi
done
if command -v clang >/dev/null; then
	program "clang" "$vmpicc" -cc=clang main.c value.c
	echo 'int main(void) { return 0; }' >sane.c
	if clang -fsanitize=undefined sane.c -o sane 2>err; then
		program "clang's sanitizer" "$vmpicc" -cc=clang main.c value.c \
			-fsanitize=undefined
	else
		skip 2 "clang has no sanitizer here"
	fi
else
	skip 4 "clang is not installed"
fi

# A library for executables: its data are at known distances from its code.
cat >count.c <<'END'
#include <stdio.h>
static __thread int calls;
int count(int rank)
{
	return fprintf(stdout, "rank %d: %d\n", rank, ++calls);
}
END
cat >counts.c <<'END'
#include <mpi.h>
int count(int rank);
int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	count(rank);
	MPI_Barrier(MPI_COMM_WORLD);
	count(rank);
	MPI_Finalize();
	return 0;
}
END
plain=$("$vmpicc" -showme:command)
$plain -fPIE -O2 -c count.c
ar cr libcount.a count.o
if $plain -fPIE -pie -x c -O2 - -L. -lcount -o counts 2>/dev/null <<'END'; then
int count(int rank);
int main(void) { return count(0) != 10; }
END
	"$vmpicc" counts.c -L. -lcount -o counts 2>err
	is "$? $(grep -v '[at]san.*warning: the use of' err)" "0 " \
		"a static library for executables is linked without a word"
	is "$(timeout 60 "$vmpirun" -n 3 ./counts | sort | tr '\n' ' ')" \
		"rank 0: 1 rank 0: 2 rank 1: 1 rank 1: 2 rank 2: 1 rank 2: 2 " \
		"and each rank has its variables"
	"$vmpicc" counts.c count.o absent.o -o counts 2>err
	is "$?" 1 "what is wrong otherwise"
	like "$(cat err)" 'absent.o' "is said by the linker"
else
	skip 4 "the compiler makes no position-independent executables"
fi

# The caller of a function that others could replace calls through a table.
echo 'int twice(int a) { return 2 * a; } int four(int a) { return twice(twice(a)); }' \
	>near.c
"$vmpicc" -O2 -S near.c -o near.s
none "$(grep -E '^[[:space:]]+(call|bl|jmp|b)[[:space:]]+twice' near.s)" \
	"functions of a file are inlined"
"$vmpicc" -fsemantic-interposition -O2 -S near.c -o near.s
like "$(cat near.s)" '^[[:space:]]+(call|bl|jmp|b)[[:space:]]+twice' \
	"unless the command line wants them to be replaceable"
printf '#!/bin/sh\ncase " $* " in *" -fno-semantic"*) exit 1 ;; esac\nexec %s "$@"\n' \
	"$("$vmpicc" -showme:command)" >oldcc
chmod +x oldcc
ok "a compiler that does not know the option" "$vmpicc" -cc=./oldcc -c near.c
ok "a relocatable object" "$vmpicc" -r main.o value.o -o both.o
ok "--version needs no source" "$vmpicc" --version
like "$("$vmpicc" -E main.c)" "vmpi_rank" "-E prints to standard output"
ok "-v alone" "$vmpicc" -v

cat >strict.cc <<'END'
#include <mpi.h>
int main()
{
	MPI_Comm comm = MPI_COMM_NULL;
	MPI_Init(nullptr, nullptr);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Bcast(MPI_BOTTOM, 0, MPI_INT, 0, comm);
	MPI_Recv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, comm,
		 MPI_STATUS_IGNORE);
	MPI_Finalize();
}
END
"$(dirname "$vmpicc")/vmpicxx" -std=c++11 -Werror -Wall -Wextra -pedantic \
	-Wold-style-cast -Wzero-as-null-pointer-constant -Wconversion \
	-c strict.cc >err 2>&1
is "$? $(cat err)" "0 " "mpi.h does not trouble those who want no old casts"
is "$(cat "$VMPI_BUILD"/bin/vmpicc/*.installed | grep "^compiler='.*ccache")" "" \
	"the installed wrappers call the compiler itself"
done_testing
