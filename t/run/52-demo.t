#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make demo, on a small plate: it runs, the answers are right, and it notices
# when they are not.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
for program in vmpirun vmpicc bin/vmpi-node/vmpi-node; do
	[ -x "$VMPI_BUILD/$program" ] || skip_all "$program is not built"
done
unset MPIEXEC_TIMEOUT VMPI_NODE
export VMPI_BUILD
heat=$VMPI_SRC/examples/heat
cd "$scratch" || exit 1

timeout 250 "$heat/demo.sh" 64 20 >demo.out 2>demo.err
is "$?" 0 "the demo ends with 0"
diag "$(cat demo.out demo.err)"
is "$(cat demo.err)" "" "it complains of nothing"
is "$(awk '$1 ~ /^[0-9]+$/ && $NF == "ok" { printf "%s ", $1 }' demo.out)" \
	"1 4 32 " "its table has a line for each V, with a right answer"
none "$(awk '$1 ~ /^[0-9]+$/ {
	if ($9 != $2 || $11 != $2 || $10 != "of" || $7 + 0 < 1 || $3 !~ /^[0-9]+[.][0-9]+$/)
		print
}' demo.out)" "each line has private globals, switches and times"
none "$(awk '$1 ~ /^[0-9]+$/ && $2 <= 64 && !($4 + 0 <= $5 + 0 &&
	$5 + 0 <= $6 + 0)' demo.out)" "min, average and max are in order"
like "$(cat demo.out)" '^The same plate each time: checksum [0-9a-f]{16}$' \
	"the plate does not depend on the number of ranks"

# The program alone: uneven blocks, one rank, bad arguments.
ok "heat compiles without a warning" \
	"$VMPI_BUILD/vmpicc" -O1 -Wall -Wextra -Werror -o heat "$heat/heat.c" -lm
sum() {
	timeout 100 "$@" 2>&1 | sed -n 's/^checksum: //p'
}
one=$(sum "$VMPI_BUILD/vmpirun" -n 1 ./heat 50 30)
[ -n "$one" ]
is "$?" 0 "heat runs as one rank"
case ${VMPI_SANITIZE:-none} in
none) is "$(sum ./heat 50 30)" "$one" "heat runs without vmpirun" ;;
*) skip 1 "a program alone has no sanitizer, but its library has" ;;
esac
for n in 2 7 15; do
	is "$(sum "$VMPI_BUILD/vmpirun" -n $n --workers 2 ./heat 50 30)" "$one" \
		"$n ranks, with blocks of different sizes, cool the same plate"
done
out=$(timeout 100 "$VMPI_BUILD/vmpirun" -n 4 ./heat 7 2>&1)
is "$?" 2 "a plate that is too small is refused with 2"
like "$out" "^heat: not a number in range: '7'\$" "... and a sentence"
timeout 100 "$VMPI_BUILD/vmpirun" -n 100 ./heat 8 >out 2>&1
is "$?" 2 "so are more blocks than points"

# A solver with a wrong step must not pass.
sed 's/0\.25 \*/0.2499999 */' "$heat/heat.c" >wrong.c
"$VMPI_BUILD/vmpicc" -O1 -o wrong wrong.c -lm
timeout 100 "$VMPI_BUILD/vmpirun" -n 4 ./wrong 50 30 >out 2>&1
is "$?" 1 "a wrong answer ends with 1"
like "$(cat out)" '^answer: WRONG' "... and is called so"

# Nor ranks that share a global: the mark of each rank in a mapped file.
{
	echo 'int *shared(void);'
	sed 's/^__thread int \(thread_mark\);/#define \1 (*shared())/' \
		"$heat/heat.c"
} >shared.c
cat >>shared.c <<'END'
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int *shared(void)
{
	static int *place;
	int file;

	if (!place) {
		file = open("shared.int", O_RDWR | O_CREAT, 0600);
		if (ftruncate(file, sizeof(int)))
			return NULL;
		place = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
			     MAP_SHARED, file, 0);
		close(file);
	}
	return place;
}
END
"$VMPI_BUILD/vmpicc" -O1 -o shared shared.c -lm
timeout 100 "$VMPI_BUILD/vmpirun" -n 4 ./shared 50 30 >out 2>&1
is "$?" 1 "a global that is not private ends with 1"
like "$(cat out)" '^globals: 1 of 4 ranks private$' "... and is counted"
done_testing
