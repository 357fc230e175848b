#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI programs of the suite in processes that MPICH's mpiexec.hydra starts.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/across/launched.sh"
need mpiexec.hydra
timeout 250 mpiexec.hydra -n 1 true >"$scratch/out" 2>&1 ||
	skip_all "mpiexec.hydra of MPICH does not run here"
launched hydra 2 net
launched hydra 4 'tcp;ofi_rxm' '*co*'
done_testing
