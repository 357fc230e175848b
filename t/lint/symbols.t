#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The exports of libvmpi.so: the two public interfaces, and no more.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
need nm
library=$VMPI_BUILD/lib/libvmpi.so
[ -f "$library" ] || skip_all "$library is not built"
cc=${CC:-cc}

nm -D --defined-only "$library" | awk '$2 != "A" { print $NF }' |
	sort >"$scratch/versioned"
sed 's/@.*//' "$scratch/versioned" | sort >"$scratch/exported"

none "$(grep -Ev '^(vmpi|MPI|PMPI|MPIX|PMPIX)_' "$scratch/exported")" \
	"only vmpi_*, MPI_*, PMPI_*, MPIX_* and PMPIX_* are exported"
none "$(grep '^vmpi' "$scratch/versioned" | grep -v '@@VMPI_[0-9.]*$')" \
	"every function of vmpi.h has a version"
none "$(grep '^P\?MPI.*@' "$scratch/versioned")" \
	"those of MPI have none, as in other MPIs"

# Prints the functions that header $1 declares with prefix $2.
declared() {
	$cc -E -P "$VMPI_SRC/include/$1" -I"$VMPI_SRC/include" | tr '\n' ' ' |
		tr ';{}' '\n\n\n' | grep -v '^ *typedef' |
		grep -Eo "\\b$2[A-Za-z0-9_]+ *\\(" | tr -d ' (' | sort -u
}

declared vmpi.h vmpi_ >"$scratch/declared"
# Not for users: where the entry of an image begins (bin/image/entry.S); what
# libmpi_abi.so.1 jumps through (lib/mpi/abi.h); what the Fortran bindings use
# (lib/mpi/call/fortran.h); errno (vmpi/libc/errno.h); libc's functions
# (bin/image/image.h); what debuggers read (lib/core/runtime/debug.h).
own='vmpi_image_main\|vmpi_abi\|vmpi_fortran\|vmpi_errno_location'
own=$own'\|vmpi_libc\|vmpi_debug'
none "$(comm -23 "$scratch/declared" "$scratch/exported")" \
	"every function of vmpi.h is exported"
none "$(grep ^vmpi_ "$scratch/exported" | grep -vx "$own" |
	comm -13 "$scratch/declared" -)" \
	"every exported vmpi_* is declared in vmpi.h"

if [ -f "$VMPI_SRC/include/mpi.h" ]; then
	declared mpi.h 'P?MPIX?_' >"$scratch/declared"
	grep -o '\bX([A-Za-z0-9_]*)' "$VMPI_SRC/lib/mpi/call/unsupported.h" |
		sed 's/X(/MPI_/; s/)//' |
		sed 'p; s/^/P/' | sort -u >"$scratch/missing"
	none "$(sort -u "$scratch/exported" "$scratch/missing" |
		comm -23 "$scratch/declared" -)" \
		"every function of mpi.h is exported or missing by name"
	none "$(comm -12 "$scratch/missing" "$scratch/exported")" \
		"no function that only fails is exported"
	none "$(grep -E '^P?MPIX?_' "$scratch/exported" |
		comm -13 "$scratch/declared" -)" \
		"every exported MPI function is declared in mpi.h"
	none "$(sed -n 's/^MPI/PMPI/p' "$scratch/exported" | sort |
		comm -23 - "$scratch/exported")" \
		"every MPI function has its PMPI twin"
fi
done_testing
