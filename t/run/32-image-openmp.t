#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP inside ranks.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
case ${VMPI_SANITIZE:-none} in
*thread*) skip_all "libgomp is not built for the thread sanitizer" ;;
esac

wanted() {
	seq 0 $(($1 - 1)) |
		sed 's/.*/rank &: sum 6 wrong 0 level 1 threads 3 ranks 3/' |
		sort
}

build openmp openmp.c -fopenmp
for ranks in 1 2 6; do
	is "$(run $ranks ./openmp | sort)" "$(wanted $ranks)" \
		"teams belong to their ranks, $ranks ranks"
done
is "$(run 6 --workers 1 ./openmp | sort)" "$(wanted 6)" \
	"also when all ranks share a worker"
is "$(./openmp)" "$(wanted 1)" "also when started alone"
done_testing
