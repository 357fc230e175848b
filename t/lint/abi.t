#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every function that a program of the MPI ABI may call (abi.names) is declared
# in mpi.h, and libmpi_abi.so has it and its twin PMPI_, whether it works or not.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
need nm
library=$VMPI_BUILD/lib/libmpi_abi.so
[ -f "$library" ] || skip_all "$library is not built"
cc=${CC:-cc}

grep -v '^#' "$VMPI_SRC/t/lint/abi.names" | sort >"$scratch/names"
none "$(uniq -d "$scratch/names")" "no name is listed twice"

$cc -E -P "$VMPI_SRC/include/mpi.h" | tr '\n' ' ' | tr ';{}' '\n\n\n' |
	grep -v '^ *typedef' | grep -Eo '\bP?MPI_[A-Za-z0-9_]+ *\(' |
	tr -d ' (' | sort -u >"$scratch/declared"
sed 's/^/P/' "$scratch/names" | sort - "$scratch/names" >"$scratch/both"
none "$(comm -23 "$scratch/both" "$scratch/declared")" \
	"mpi.h declares every function"

nm -D --defined-only "$library" | sed 's/.* //; s/@.*//' | sort -u \
	>"$scratch/exported"
none "$(comm -23 "$scratch/both" "$scratch/exported")" \
	"the library has every function"
none "$(nm -D --defined-only "$library" "$VMPI_BUILD/lib/libvmpi.so" | sed -n 's/@.*//; s/.* T \(MPI_\)/\1/p')" \
	"those without P are weak, so that a tool can put itself in front"
done_testing
