#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each rank has the global variables of a process of its own.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

wanted() {
	i=0
	while [ $i -lt "$1" ]; do
		letter=$(printf "\\$(printf %o $((65 + i % 26)))")
		echo "rank $i: ok $letter"
		i=$((i + 1))
	done | sort
}

build globals globals.c
for ranks in 1 2 7 64; do
	is "$(run $ranks ./globals | sort)" "$(wanted $ranks)" \
		"globals are private, $ranks ranks"
done
is "$(run 20 --workers 1 ./globals | sort)" "$(wanted 20)" \
	"also when all ranks share a worker"
is "$(./globals)" "rank 0: ok A" "also when the program is started alone"

is "$(run 3 ./globals trace | grep '^2')" "2 constructor
2 second handler
2 first handler
2 destructor 9" "constructors, handlers and destructors run in order"
is "$(./globals trace | grep '^0')" "0 constructor
0 second handler
0 first handler
0 destructor 7" "and once each when started alone"

# Ways of compiling and linking that people use.
ways() {
	while IFS= read -r flags; do
		case $flags in
		*ld=gold*) command -v ld.gold >/dev/null || continue ;;
		*ld=lld*) command -v ld.lld >/dev/null || continue ;;
		*clang*) command -v clang >/dev/null || continue ;;
		esac
		build other globals.c $flags
		is "$(run 3 ./other | sort) $(./other)" \
			"$(wanted 3) rank 0: ok A" "built with $flags"
	done
}
ways <<'END'
-O3
-O0
-fPIE
-fvisibility=hidden
-flto
-ffunction-sections -Wl,--gc-sections
-s
-Wl,-z,relro -Wl,-z,now
-Wl,-z,separate-code
-Wl,--exclude-libs,ALL
-Wl,--hash-style=sysv
-no-pie
-fuse-ld=gold
-fuse-ld=lld
-cc=clang
END
done_testing
