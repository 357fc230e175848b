#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The code of all copies is mapped from the program's own file, so that perf knows
# its functions.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

build libbusy.so busy.c -shared -DIS_LIBRARY
build busy busy.c
build uses busy.c -DWITH_LIBRARY -L. -lbusy -Wl,-rpath,"$scratch"
build apart busy.c -Wl,-z,separate-code,-z,relro
cc -O1 -fPIE -pie -I"$VMPI_SRC/include" "$programs/busy.c" -o ordinary \
	-L"$VMPI_BUILD/lib" -lvmpi -Wl,-rpath,"$VMPI_BUILD/lib"
for program in busy uses apart ordinary; do
	run 7 --workers 2 ./$program >out
	is "$(grep -c "^code of $program\$" out) $(grep -c memfd out)" "7 0" \
		"$program: the code of 7 copies is mapped from its file"
done
run 7 --workers 2 ./uses >out
is "$(grep -c '^code of libbusy.so$' out)" 7 "that of its own library too"

if ! command -v perf >/dev/null ||
	! perf record -q -e cpu-clock -o try.data true >try 2>&1; then
	skip 2 "perf does not run here: $(tail -n 1 try 2>/dev/null)"
else
	for program in busy ordinary; do
		perf record -q -e cpu-clock -o perf.data \
			timeout 100 "$vmpirun" -n 4 --workers 2 ./$program x \
			>out 2>&1
		like "$(perf report -i perf.data --stdio 2>/dev/null)" \
			"^ +[0-9.]+% +$program +$program +\\[\\.\\] busy_in_the_program" \
			"$program: perf knows its functions"
	done
fi
done_testing
