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
cat >"$scratch/kinds.c" <<'END'
#include "mpi/call/calls.h"
#define ROW(name, ...) row MPI_##name kind:__VA_ARGS__ end
MPI_CALLS(ROW)
END
$cc -E -P -Ilib -Iinclude "$scratch/kinds.c" |
	grep -Eo 'kind:[^ ]+' | sort -u >"$scratch/kinds"
printf 'kind:%s\n' IMMEDIATE LOOKUP >"$scratch/known"
$cc -E -P -Ilib -Iinclude "$scratch/rows.c" | grep -Eo 'row MPI_[A-Za-z0-9_]+' |
	sed 's/^row //' | sort >"$scratch/rows"
$cc -E -P -Iinclude include/mpi.h | tr '\n' ' ' | tr ';{}' '\n\n\n' |
	grep -v '^ *typedef' | grep -Eo '\bMPI_[A-Za-z0-9_]+ *\(' |
	tr -d ' (' | sort -u >"$scratch/declared"

ok "there are rows" test -s "$scratch/rows"
none "$(uniq -d "$scratch/rows")" "no call has two rows"
ok "there are lookups" grep -q kind:LOOKUP "$scratch/kinds"
none "$(comm -23 "$scratch/kinds" "$scratch/known")" "every kind is known"
none "$(comm -13 "$scratch/rows" "$scratch/declared")" \
	"every function of mpi.h has a row"
none "$(comm -23 "$scratch/rows" "$scratch/declared")" \
	"every row is a function of mpi.h"
done_testing
