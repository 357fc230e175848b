#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI programs of the suite in processes that Open MPI's mpirun starts.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/across/launched.sh"
need mpirun.openmpi
grep -q 'VM_HAVE_PMIX=1' "$VMPI_BUILD/build.ninja" ||
	skip_all "this vmpi was built without PMIx"
timeout 250 mpirun.openmpi --oversubscribe --allow-run-as-root -np 1 true \
	>"$scratch/out" 2>&1 ||
	skip_all "mpirun of Open MPI does not run here"
launched mpirun 2 net
launched mpirun 4 'tcp;ofi_rxm' '*co*'
done_testing
