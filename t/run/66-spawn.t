#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI_Comm_spawn where the ranks cannot be in the process of who starts them:
# they are started by vmpirun, as a job that is connected to its parent.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT

build spawns spawns.c
libdir=$VMPI_BUILD/lib
# shellcheck disable=SC2086
${CC:-cc} $sanitize -o ordinary "$programs/spawns.c" -I"$VMPI_SRC/include" "-L$libdir" \
	-lmpi_abi "-Wl,-rpath,$libdir" || exit 1
mkdir folder
for program in spawns ordinary; do
	printf '#!/bin/sh\nexec "$@"\n' >"$program.sh"
	chmod +x "$program.sh"
done

# PARENTS SENTENCE COMMAND...
starts() {
	parents=$1 sentence=$2
	shift 2
	out=$(timeout 200 "$@" "$scratch/folder" "$scratch/ordinary.sh" \
		</dev/null 2>&1)
	is "$? $(echo "$out" | grep -c '^right$')" "0 $parents" \
		"$sentence" || diag "$out"
}

starts 2 "ranks that are processes start others" \
	"$vmpirun" -n 2 --processes ./ordinary
starts 2 "of images, too" "$vmpirun" -n 2 --processes ./spawns
starts 1 "so does an ordinary program that was started alone" ./ordinary
starts 1 "and one of vmpicc" ./spawns
starts 2 "ranks of one process start other programs, or elsewhere" \
	"$vmpirun" -n 2 ./spawns
starts 3 "also in a job of several processes" \
	"$vmpirun" -n 3 --nodes 2 ./spawns
like "$out" 'nowhere-program' "what is not there is named"
done_testing
