#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An installation, moved to where it was not configured for, still compiles and
# runs programs, and pkg-config leads a program with its own main to the library.
# Each file is in one Debian package.  Nothing is left when it is uninstalled.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
need meson pkg-config
[ -f "$VMPI_BUILD/build.ninja" ] || skip_all "$VMPI_BUILD is not built"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the programs would need the sanitizer too" ;;
esac
cc=${CC:-cc}
cd "$scratch" || exit 1

ok "meson installs" \
	meson install -C "$VMPI_BUILD" --no-rebuild --destdir "$scratch/root"
vmpicc=$(find root -path '*/bin/vmpicc')
bin=$scratch/${vmpicc%/vmpicc}
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$VMPI_SRC/README.md" \
	>hello.c
ok "the installed vmpicc compiles" "$bin/vmpicc" -o hello hello.c
is "$(timeout 100 "$bin/vmpirun" -n 4 ./hello | grep -c 'of 4: sum 6')" 4 \
	"the installed vmpirun runs it"
is "$(timeout 100 ./hello)" "rank 0 of 1: sum 0" "so does the program alone"
lib=$(dirname "$(find "$scratch/root" -name libmpi_abi.so)")
ok "programs are offered the installed library" \
	test -f "$(find "$scratch/root" -path "*/abi/libmpi_abi.so.1")"
ok "a plain compiler links it with the installed libmpi_abi" \
	$cc -o plain hello.c -I"$(dirname "$(find root -name mpi.h)")" \
	-L"$lib" -lmpi_abi
is "$(LD_LIBRARY_PATH=$lib timeout 100 ./plain)" "rank 0 of 1: sum 0" \
	"and it runs as one rank"

compat=$(find "$scratch/root" -path '*/lib/vmpi/compat')
ok "the directory with the names of any MPI has mpicc" \
	"$compat/mpicc" -o named hello.c
is "$(PATH=$compat:$PATH timeout 100 mpiexec -n 4 ./named | wc -l)" 4 \
	"and mpiexec, from where it was moved to"
ok "and pkg-config, whose flags are right there" \
	$cc -o plain hello.c $("$compat/pkg-config" --cflags --libs ompi-c)
is "$(timeout 100 ./plain)" "rank 0 of 1: sum 0" "for a program that runs"
for place in bin/mpicc bin/mpiexec include/mpi.h lib/libvmpi.so; do
	ok "it has $place" test -e "$compat/$place"
done
for place in $(sed -n 's/^prepend-path [A-Z_]* //p' \
	"$(find root -path '*/modulefiles/vmpi/*')"); do
	[ "$place" = '$prefix' ] ||
		ok "the modulefile names $place" test -d "root$place"
done
if command -v modulecmd >/dev/null; then
	like "$(MODULEPATH=$(dirname "$(find root -path '*/modulefiles/vmpi')") \
		modulecmd sh load vmpi 2>&1)" \
		'(^|;| )PATH=[^:]*/lib/vmpi/compat:' "the modulefile is loaded"
else
	skip 1 "environment-modules is not installed"
fi
if command -v cmake >/dev/null; then
	cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.10)
project(hello C)
find_package(vmpi REQUIRED)
add_executable(hello hello.c)
target_link_libraries(hello vmpi::mpi)
END
	ok "find_package(vmpi)" cmake -B by-cmake \
		-DCMAKE_PREFIX_PATH="${compat%/lib/vmpi/compat}"
	ok "builds" cmake --build by-cmake
	is "$(timeout 100 by-cmake/hello)" "rank 0 of 1: sum 0" \
		"a program that runs"
else
	skip 3 "cmake is not installed"
fi

cat >own.c <<'END'
#include <stdio.h>
#include <vmpi.h>

static int body(void *arg)
{
	return vmpi_barrier(vmpi_world());
}

int main(void)
{
	int rc = vmpi_run(&(vmpi_config){ .ranks = 3 }, body, NULL);

	printf("%s\n", rc ? vmpi_strerror(rc) : "ran");
	return rc != 0;
}
END
pc=$(dirname "$(find root -name vmpi.pc)")
PKG_CONFIG_PATH=$pc PKG_CONFIG_SYSROOT_DIR=$scratch/root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
ok "a program with its own main is built by pkg-config" \
	$cc -o own own.c $(pkg-config --cflags --libs vmpi)
is "$(LD_LIBRARY_PATH=$(pkg-config --variable=libdir vmpi) timeout 100 ./own)" \
	ran "and runs ranks"
unset PKG_CONFIG_SYSROOT_DIR
PKG_CONFIG_PATH=$VMPI_BUILD/meson-uninstalled
ok "the same from the build directory" \
	$cc -o own own.c $(pkg-config --cflags --libs vmpi)
is "$(LD_LIBRARY_PATH=$VMPI_BUILD/lib timeout 100 ./own)" ran \
	"and it runs ranks"

# debian/rules moves the completion of zsh, and has a folder of libraries for each
# kind of machine.
prefix=${bin%/bin}
mkdir packages
cp -al "$prefix" packages/usr
mv packages/usr/share/zsh/site-functions packages/usr/share/zsh/vendor-completions
case ${lib#"$prefix/"} in
*/*) ;;
*)
	mkdir -p packages/usr/lib/machine
	for place in packages/usr/${lib##*/}/*; do
		[ "${place##*/}" = vmpi ] || mv "$place" packages/usr/lib/machine
	done
	;;
esac
(cd packages && find usr ! -type d | sort) >installed
cat "$VMPI_SRC"/debian/*.install | while read -r pattern; do
	(cd packages && find $pattern ! -type d) || echo "$pattern: no file"
done 2>&1 | sort >packed
none "$(comm -23 installed packed)" \
	"each file is in a Debian package (debian/*.install)"
none "$(uniq -d packed)" "in no more than one"
none "$(comm -13 installed packed)" "and nothing else is"

# As make uninstall does, but without looking whether anything must be built.
ok "meson uninstalls" sh -c 'cd "$0" && meson --internal uninstall' "$VMPI_BUILD"
none "$(find "$scratch/root" 2>/dev/null)" \
	"what it has installed, and the directories that it made"
done_testing
