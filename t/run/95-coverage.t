#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Counts of lines are exact, although all ranks add theirs to one file; the locks
# behind that; and what vmpicc says of -pg.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

build plain cover.c
for ranks in 2 16; do
	rm -f count
	run $ranks --workers 2 ./plain locks
	is "$(cat count)" $((ranks * 10)) \
		"locks of a file exclude ranks ($ranks of them)"
done
rm -f count
run 8 --nodes 2 --workers 1 ./plain locks
is "$(cat count)" 80 "and processes"

"$vmpicc" -pg "$programs/cover.c" -o gprof 2>err
is "$? $(grep -c -- '-pg is left out.*perf' err)" "0 1" \
	"vmpicc says that -pg is left out, and what to use"
run 2 ./gprof
is $? 0 "and the program works"
[ -z "$(nm gprof | grep -w mcount)" ]
is $? 0 "without counting for nobody"

# line COMMENT: how often gcov says that the line was run.
line() {
	grep "/\* $1 \*/" cover.c.gcov | sed 's/^ *//; s/[*:].*//'
}

if ! command -v gcov >/dev/null; then
	skip 7 "there is no gcov"
else
	build covered cover.c --coverage -O0
	data=$(find . -name '*.gcno' | sed 's/gcno$/gcda/')
	for ranks in 1 8 64; do
		rm -f "$data"
		run $ranks --workers 2 ./covered
		gcov "$data" >said 2>&1
		is "$(line adds) $(line half) $(line never)" "$(
			echo $((ranks * (ranks - 1) / 2)) $((ranks / 2)) \
				'#####' | sed 's/^0 0/##### #####/')" \
			"the counts of $ranks ranks are exact"
		is "$(sed -n 's/.*:Runs:\([0-9]*\)$/\1/p' cover.c.gcov)" \
			$ranks "each rank is a run"
	done
	run 64 --nodes 2 --workers 2 ./covered
	gcov "$data" >said 2>&1
	is "$(line adds) $(line half)" "4032 64" \
		"those of several processes are added"
fi

if ! command -v clang >/dev/null || ! command -v llvm-profdata >/dev/null; then
	skip 1 "there is no clang, or no llvm-profdata"
elif ! "$vmpicc" -cc=clang -fprofile-instr-generate "$programs/cover.c" \
	-o clanged >err 2>&1; then
	skip 1 "clang has no profile runtime"
else
	run 64 --workers 2 -x LLVM_PROFILE_FILE=c-%m.profraw ./clanged
	llvm-profdata merge -o all.profdata ./*.profraw
	like "$(llvm-profdata show --all-functions --counts all.profdata)" \
		'Block counts: \[2016\]' "clang's counts, too"
fi
done_testing
