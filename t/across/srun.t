#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI programs of the suite in processes that srun --mpi=pmix starts.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/across/launched.sh"
. "$VMPI_SRC/t/run/slurm.sh"
grep -q 'VM_HAVE_PMIX=1' "$VMPI_BUILD/build.ninja" ||
	skip_all "this vmpi was built without PMIx"
slurm_start 2 16
launched srun 2 net
launched srun 2 'tcp;ofi_rxm' '*co*'
done_testing
