#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Some rows of the matrix of faults: a call of libfabric fails, and the job goes on
# with every byte right, or ends and says why.  `make matrix` runs all rows.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT
[ -x "$VMPI_BUILD/t/run/vmpi-node-faults" ] ||
	skip_all "the node program with faults is not built"

set --
for provider in net "tcp;ofi_rxm"; do
	for row in sendv/again/1/short inject/error/1/short \
		mr_reg/nomem/1/read readmsg/late/1/read writemsg/failed/1/write \
		writemsg/lost/30/write \
		cq_open/error/1/short ep_bind/error/1/short \
		readmsg/twice/1/read recv/again/1/read sendv/die/1/pipeline \
		getinfo/few/1/pipeline; do
		set -- "$@" "$provider/$row"
	done
done
out=$(HANG_S=200 "$VMPI_SRC/t/run/matrix" "$scratch/matrix" "$@" 2>&1)
is $? 0 "every job survives with the right bytes, or says why it ends"
diag "$out"
is "$(grep -c . "$scratch/matrix/results")" $# "all rows were run"
ok "faults did happen" grep -q '^survived' "$scratch/matrix/results"
ok "some of which end a job" grep -q '^ended' "$scratch/matrix/results"
done_testing
