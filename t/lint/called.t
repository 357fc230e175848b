#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each MPI function that the library has is called by a program of t/mpi.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$VMPI_SRC/t/tap.sh"
cd "$VMPI_SRC" || exit 1
cc=${CC:-cc}

# rows LIST: the names in one of the lists of lib/mpi.
rows() {
	printf '#include "mpi/call/calls.h"\n#define ROW(name, ...) row MPI_##name end\n%s(ROW)\n' \
		"$1" >"$scratch/rows.c"
	$cc -E -P -Ilib -Iinclude "$scratch/rows.c" |
		grep -Eo 'row MPI_[A-Za-z0-9_]+' | sed 's/^row //' | sort
}

rows MPI_CALLS >"$scratch/all"
rows MPI_CALLS_UNSUPPORTED >"$scratch/later"
comm -23 "$scratch/all" "$scratch/later" >"$scratch/there"
# The programs in the scripts, too; without comments, strings, redefinitions.
awk '/<<.END/ { inside = 1; next } /^END$/ { inside = 0 } inside' t/mpi/*.t \
	>"$scratch/scripts.c"
# Declarations in headers are no calls; names that macros paste are.
for file in t/mpi/*.c "$scratch/scripts.c"; do
	$cc -E -Ilib -Iinclude -It "$file" 2>/dev/null
done | awk '/^# [0-9]+ "/ { own = $3 !~ /include|"lib/ } own' | sed 's/"\([^"\\]\|\\.\)*"//g; s/^#define MPI_[A-Za-z0-9_]*//' |
	grep -Eo '\bMPI_[A-Za-z0-9_]+' | sort -u >"$scratch/called"

ok "the library has functions" test -s "$scratch/there"
none "$(comm -23 "$scratch/there" "$scratch/called")" \
	"every function that is there is called by a program of t/mpi"
done_testing
