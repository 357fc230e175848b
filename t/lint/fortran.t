#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The table of signatures of the Fortran bindings and mpi.h have the same
# functions with the same arguments.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$VMPI_SRC/t/tap.sh"
need python3
cd "$VMPI_SRC" || exit 1
cc=${CC:-cc}
$cc -E -P -Iinclude include/mpi.h >"$scratch/declared"
compare() {
	python3 t/lint/fortran.py "$1" "$scratch/declared"
}

none "$(compare missing)" "every function of mpi.h that Fortran has is in the table"
none "$(compare unknown)" "every function of the table is in mpi.h"
none "$(compare different)" "their arguments are the same, also those of large twins"
done_testing
