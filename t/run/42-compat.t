#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The directory that gives vmpi the names of any MPI: with it first in PATH,
# build systems find vmpi, and no other MPI.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the programs would need the sanitizer too" ;;
esac
compat=$VMPI_BUILD/compat
vmpifort=$VMPI_BUILD/vmpifort
path=$PATH
unset MPI_HOME CC CXX CFLAGS CXXFLAGS LDFLAGS MPICC MPICXX PKG_CONFIG_PATH \
	PKG_CONFIG PKG_CONFIG_LIBDIR
PATH=$compat:$path
export PATH

cat >hello.c <<'END'
#include <mpi.h>
#include <stdio.h>
int world_of(MPI_Comm comm);
int main(int argc, char **argv)
{
	int rank, sum, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	size = world_of(MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d %d\n", size, sum);
	MPI_Finalize();
	return 0;
}
END
cat >part.c <<'END'
#include <mpi.h>
int world_of(MPI_Comm comm)
{
	int size;

	MPI_Comm_size(comm, &size);
	return size;
}
END
{
	echo 'extern "C" {'
	cat hello.c part.c
	echo '}'
} >hello.cc

# The names.
for name in mpicc mpicxx mpic++ mpiCC; do
	like "$($name --showme:version)" \
		'^vmpic(c|xx): vmpi [0-9]+\.[0-9]+\.[0-9]+ ' "$name is vmpi's"
done
for name in mpiexec mpirun; do
	like "$($name --version)" '\(vmpi\)' "$name is vmpi's"
done
for name in mpifort mpif90 mpif77; do
	if [ -x "$vmpifort" ]; then
		like "$($name --showme:version)" '^vmpifort: vmpi [0-9.]* ' \
			"$name is vmpi's"
		continue
	fi
	$name -c x.f90 >out 2>err
	is "$? $(cat err)" \
		"2 $name: vmpi was built without gfortran, so it has no Fortran bindings" \
		"$name says that there is no Fortran"
done
ok "mpicc links a program" mpicc hello.c part.c -o hello
is "$(timeout 100 mpiexec -n 4 ./hello)" "4 6" "which mpiexec runs"
for place in bin/mpicc bin/mpiexec include/mpi.h lib/libvmpi.so; do
	ok "MPI_HOME has $place" test -e "$compat/$place"
done

# What -show and its kin print gives a program, in any compiler's hands.
plain=${CC:-cc}
$plain hello.c part.c $(mpicc -showme:compile) $(mpicc -showme:link) -o shown
is "$(timeout 100 mpiexec -n 4 ./shown)" "4 6" "-showme:compile and :link"
$(mpicc -show -Wl,--no-as-needed -fPIE -pie) hello.c part.c -o shown
is "$(timeout 100 mpiexec -n 4 ./shown)" "4 6" "-show, with -pie"

# Programs call what a later MPI has, where the header says that it is there.
cat >newer.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int sum = 1, one = 1;

	MPI_Init(&argc, &argv);
#if MPI_VERSION >= 4
	MPI_Allreduce_c(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#else
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#endif
	printf("%d\n", sum);
	MPI_Finalize();
	return 0;
}
END
ok "a program of several versions of MPI links" mpicc newer.c -o newer
is "$(timeout 100 mpiexec -n 2 ./newer | sort -u)" "2" "and runs"

# pkg-config.
if PATH=$path command -v pkg-config >/dev/null; then
	like "$(pkg-config --libs vmpi)" "-L$VMPI_BUILD/lib .*-lvmpi" \
		"pkg-config knows vmpi"
	for name in ompi-c mpich mpi; do
		like "$(pkg-config --libs $name)" '-lvmpi *$' \
			"and calls it $name"
	done
	for name in ompi-fort mpi-fort; do
		like "$(pkg-config --libs $name 2>&1)" \
			'-lvmpi_fort -lvmpi|Fortran-bindings-of-vmpi' \
			"$name is no other MPI's, or there is none"
	done
	PATH=$compat:$compat/bin:$path
	is "$(pkg-config --libs ompi-c)" \
		"$("$compat/pkg-config" --libs ompi-c)" \
		"it does not call itself for ever"
	PATH=$compat:$path
	is "$(PKG_CONFIG_PATH=/nowhere pkg-config --exists vmpi && echo yes)" \
		yes "PKG_CONFIG_PATH may be set"
	PATH=$compat "$compat/pkg-config" --exists vmpi 2>/dev/null
	is "$?" 127 "without another one it is not there"
else
	skip 9 "pkg-config is not installed"
fi

# CMake, in three ways.  The cache would remember the first.
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.10)
project(hello C)
find_package(MPI REQUIRED)
add_library(part SHARED part.c)
target_link_libraries(part PUBLIC MPI::MPI_C)
add_executable(hello hello.c)
target_link_libraries(hello part MPI::MPI_C)
enable_testing()
add_test(NAME hello COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 4
  ${MPIEXEC_PREFLAGS} $<TARGET_FILE:hello> ${MPIEXEC_POSTFLAGS})
set_tests_properties(hello PROPERTIES PASS_REGULAR_EXPRESSION "^4 6\n$")
if(WITH_CXX)
  enable_language(CXX)
  find_package(MPI REQUIRED COMPONENTS CXX)
  add_executable(hellocc hello.cc)
  target_link_libraries(hellocc MPI::MPI_CXX)
  add_test(NAME hellocc COMMAND ${MPIEXEC_EXECUTABLE} -n 4
    $<TARGET_FILE:hellocc>)
  set_tests_properties(hellocc PROPERTIES PASS_REGULAR_EXPRESSION "^4 6\n$")
endif()
END
# configured NAME ARGUMENT...: builds by CMake, and lets CTest run it.
configured() {
	configured_name=$1
	shift
	rm -rf by-cmake
	ok "CMake, $configured_name" cmake -S . -B by-cmake "$@"
	ok "builds" cmake --build by-cmake
	ok "and its tests run" ctest --test-dir by-cmake --timeout 100
	configured_mpiexec=$(sed -n 's/^MPIEXEC_EXECUTABLE:.*=//p' \
		by-cmake/CMakeCache.txt)
	is "$(readlink -f "$configured_mpiexec")" "$(readlink -f "$vmpirun")" \
		"by our mpiexec"
}
if command -v cmake >/dev/null; then
	configured "the directory in PATH" -DWITH_CXX=1
	configured "MPI_C_COMPILER" -DMPI_C_COMPILER="$vmpicc"
	configured "CC=vmpicc" -DCMAKE_C_COMPILER="$vmpicc"
	PATH=$path
	configured "MPI_HOME" -DMPI_HOME="$compat"
	PATH=$compat:$path

	cp "$programs/units.f90" .
	mkdir fortran
	cat >fortran/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.10)
project(units Fortran)
find_package(MPI REQUIRED)
if(NOT MPI_Fortran_HAVE_F77_HEADER OR NOT MPI_Fortran_HAVE_F90_MODULE OR
    NOT MPI_Fortran_HAVE_F08_MODULE)
  message(FATAL_ERROR "a part is missing")
endif()
add_executable(units ../units.f90)
target_link_libraries(units MPI::MPI_Fortran)
END
	# with_fortran WAY ARGUMENT...
	with_fortran() {
		with_name=$1
		shift
		rm -rf by-fortran
		ok "CMake finds all of Fortran, $with_name" \
			cmake -S fortran -B by-fortran "$@"
		ok "builds" cmake --build by-fortran
		is "$(timeout 100 "$vmpirun" -n 2 by-fortran/units it | sort)" \
			"rank 0 of 2 it
rank 1 of 2 it" "and its program runs"
	}
	if [ -x "$vmpifort" ]; then
		with_fortran "the directory in PATH"
		with_fortran "FC=vmpifort" -DCMAKE_Fortran_COMPILER="$vmpifort"
	else
		skip 6 "gfortran is not installed"
	fi

	mkdir own
	cat >own/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(own C)
find_package(vmpi 0.1 REQUIRED)
if(TARGET vmpi::mpi_fortran)
  enable_language(Fortran)
  add_executable(units ../units.f90)
  target_link_libraries(units vmpi::mpi_fortran)
endif()
add_executable(hello ../hello.c ../part.c)
target_link_libraries(hello vmpi::mpi)
add_executable(native ../native.c)
target_link_libraries(native vmpi::vmpi)
enable_testing()
add_test(NAME hello COMMAND vmpi::vmpirun -n 4 $<TARGET_FILE:hello>)
set_tests_properties(hello PROPERTIES PASS_REGULAR_EXPRESSION "^4 6\n$")
add_test(NAME native COMMAND native)
END
	cat >native.c <<'END'
#include <vmpi.h>
static int body(void *arg)
{
	return vmpi_barrier(vmpi_world());
}
int main(void)
{
	return vmpi_run(&(vmpi_config){ .ranks = 3 }, body, 0) != 0;
}
END
	ok "find_package(vmpi)" cmake -S own -B by-own -Dvmpi_DIR="$VMPI_BUILD"
	ok "builds" cmake --build by-own
	ok "and its tests run" ctest --test-dir by-own --timeout 100
	if [ -x "$vmpifort" ]; then
		is "$(timeout 100 "$vmpirun" -n 2 by-own/units it | sort)" \
			"rank 0 of 2 it
rank 1 of 2 it" "a program of Fortran, too"
	else
		skip 1 "gfortran is not installed"
	fi
	sed -i 's/vmpi 0.1/vmpi 0.2/' own/CMakeLists.txt
	rm -rf by-own
	cmake -S own -B by-own -Dvmpi_DIR="$VMPI_BUILD" >out 2>&1
	ok "another version than the one wanted is refused" test $? -ne 0
else
	skip 27 "cmake is not installed"
fi

# Meson asks pkg-config before it looks for mpicc.
if command -v meson >/dev/null && command -v pkg-config >/dev/null; then
	cat >meson.build <<'END'
project('hello', 'c')
mpi = dependency('mpi', language: 'c')
test('hello', find_program('mpiexec'), timeout: 100, args: ['-n', '4',
  executable('hello', 'hello.c', 'part.c', dependencies: mpi)])
tool = dependency('mpi', language: 'c', method: 'config-tool')
executable('tool', 'hello.c', 'part.c', dependencies: tool)
END
	ok "Meson" meson setup by-meson
	ok "builds" ninja -C by-meson
	ok "and its tests run" meson test -C by-meson
	is "$(timeout 100 mpiexec -n 4 by-meson/hello)" "4 6" \
		"by pkg-config, it is vmpi"
	is "$(timeout 100 mpiexec -n 4 by-meson/tool)" "4 6" "by mpicc, too"
else
	skip 5 "meson or pkg-config is not installed"
fi

# Autotools, with the macro of the autoconf archive.
if command -v autoreconf >/dev/null && command -v automake >/dev/null &&
	test -e "$(aclocal --print-ac-dir)/ax_mpi.m4"; then
	mkdir autotools
	cp hello.c part.c autotools
	cat >autotools/configure.ac <<'END'
AC_INIT([hello], [1])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CC
AX_MPI([CC=$MPICC LIBS="$MPILIBS $LIBS"], [AC_MSG_ERROR([no MPI])])
AC_CHECK_HEADER([mpi.h], [], [AC_MSG_ERROR([no mpi.h])])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
	cat >autotools/Makefile.am <<'END'
check_PROGRAMS = hello
hello_SOURCES = hello.c part.c
TESTS = hello
LOG_COMPILER = timeout 100 mpiexec
AM_LOG_FLAGS = -n 4
END
	ok "autoreconf" autoreconf -i autotools
	mkdir by-autotools
	cd by-autotools || exit 1
	ok "AX_MPI finds it" ../autotools/configure
	ok "make check runs the tests" make check
	is "$(sed 1q hello.log)" "4 6" "on four ranks"
	is "$(sed -n 's/^MPICC = //p' Makefile)" mpicc "by mpicc of PATH"
	cd ..
else
	skip 5 "autoconf, automake or the autoconf archive is not installed"
fi
done_testing
