#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Several programs in one job, by ':' and by --configfile: their ranks, numbers and
# arguments, as tasks and as processes; what one of them does to the others.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
build one which.c -DWHICH='"one"'
build two which.c -DWHICH='"two"'
build fails known.c

# job: its sorted output, and its code.
job() {
	timeout 100 "$vmpirun" "$@" </dev/null >out 2>err
	code=$?
	sort -n out
	echo $code
}

want="0 one 0 x 6
1 one 0 x 6
2 two 1 a b 6
3 two 1 a b 6
4 two 1 a b 6
5 one 2 - 6
0"
is "$(job -n 2 ./one x : -n 3 ./two 'a b' : ./one)" "$want" \
	"programs are one job, in their order" || diag "$(cat err)"
is "$(job --processes -n 2 ./one x : -n 3 ./two 'a b' : ./one)" "$want" \
	"also if each rank is a process" || diag "$(cat err)"
printf '# programs\n-n 2 ./one x\n  -n 3 ./two "a b"\n\n./one\n' >config
is "$(job --configfile config)" "$want" "or if they are in a file" ||
	diag "$(cat err)"
cat >script <<'END'
#!/bin/sh
exec ./two "$@"
END
chmod +x script
is "$(job -n 2 ./one x : -n 3 ./script 'a b' : ./one)" "$want" \
	"one that must be a process makes all processes" || diag "$(cat err)"
is "$(job -n 1 ./one x : -n 1 ./none; cat err)" \
	"2
vmpirun: ./none: there is no such program" \
	"one that is not there lets none begin"
job -n 1 ./fails : -n 1 ./fails fail >/dev/null
is $code 7 "one that fails ends the job" || diag "$(cat err)"
done_testing
