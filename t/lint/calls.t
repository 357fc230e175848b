#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The table of MPI calls (lib/mpi/call/calls.h) and mpi.h name the same functions.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$VMPI_SRC/t/tap.sh"
cd "$VMPI_SRC" || exit 1
cc=${CC:-cc}

cat >"$scratch/rows.c" <<'END'
#include "mpi/call/calls.h"
#define ROW(name, ...) row MPI_##name end
MPI_CALLS(ROW)
END
cat >"$scratch/lookups.c" <<'END'
#include "mpi/call/calls.h"
#define ROW(name, ...) row MPI_##name end
MPI_LOOKUPS(ROW)
END
$cc -E -P -Ilib -Iinclude "$scratch/lookups.c" |
	grep -Eo 'row MPI_[A-Za-z0-9_]+' | sed 's/^row //' |
	sort >"$scratch/lookups"
$cc -E -P -Ilib -Iinclude "$scratch/rows.c" | grep -Eo 'row MPI_[A-Za-z0-9_]+' |
	sed 's/^row //' | sort >"$scratch/rows"
$cc -E -P -Iinclude include/mpi.h | tr '\n' ' ' | tr ';{}' '\n\n\n' |
	grep -v '^ *typedef' | grep -Eo '\bMPI_[A-Za-z0-9_]+ *\(' |
	tr -d ' (' | sort -u >"$scratch/declared"

ok "there are rows" test -s "$scratch/rows"
none "$(uniq -d "$scratch/rows")" "no call has two rows"
ok "there are lookups" test -s "$scratch/lookups"
none "$(comm -23 "$scratch/lookups" "$scratch/rows")" \
	"every lookup has a row"
none "$(comm -13 "$scratch/rows" "$scratch/declared")" \
	"every function of mpi.h has a row"
none "$(comm -23 "$scratch/rows" "$scratch/declared")" \
	"every row is a function of mpi.h"
done_testing
