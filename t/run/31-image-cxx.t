#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# C++ programs: what libstdc++ and the linker share in a process is each rank's.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
command -v "${CXX%% *}" >/dev/null 2>&1 || command -v c++ >/dev/null ||
	skip_all "there is no C++ compiler"
. "$VMPI_SRC/t/run/image.sh"

wanted() {
	i=0
	while [ $i -lt "$1" ]; do
		if [ $((i % 2)) = 0 ]; then
			echo "rank $i: ok  255"
		else
			# The number of the rank is printed in hex as well.
			printf 'rank %x: ok **ff\n' $i
		fi
		echo "destroyed constructed$i"
		echo "thread object of $i"
		i=$((i + 1))
	done | sort
}
# The destructors of odd ranks print in hexadecimal too.
normal() {
	sort
}

build cxx cxx.cc -std=c++17
for ranks in 1 2 9; do
	is "$(run $ranks ./cxx | normal)" "$(wanted $ranks)" \
		"objects, exceptions and streams are private, $ranks ranks"
done
is "$(run 9 --workers 1 ./cxx | normal)" "$(wanted 9)" \
	"also when all ranks share a worker"
is "$(./cxx | normal)" "$(wanted 1)" "also when started alone"

ways() {
	while IFS= read -r flags; do
		case $flags in
		*clang*) command -v clang++ >/dev/null || continue ;;
		esac
		# Libraries of libfabric's providers bring a libstdc++ before
		# the image that has a process of its own is there.
		case ${TAP_ACROSS:-1}$flags in
		[3-9]-static*)
			skip 1 "two libstdc++ in a process of one rank"
			continue
			;;
		esac
		build other cxx.cc -std=c++17 $flags
		is "$(run 5 ./other | normal)" "$(wanted 5)" \
			"built with $flags"
	done
}
ways <<'END'
-fgnu-unique
-static-libstdc++ -static-libgcc
-flto
-cxx=clang++
END
done_testing
