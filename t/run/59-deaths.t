#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A node process dies while messages fly: the others get errors where they need
# it and go on where they do not; or the job ends, with a report.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT

build bereft bereft.c

job() {
	timeout 20 "$vmpirun" -n 6 --nodes 3 --workers 1 "$@" </dev/null 2>&1
}

for protocol in read write pipeline; do
	out=$(job --keep-going --set core_rndv_protocol=$protocol ./bereft)
	is $? 137 "$protocol: the code is that of the death"
	is "$(echo "$out" | grep -c ': 0 faults$')" 4 \
		"the others get errors for it and go on without it" ||
		diag "$out"
done
out=$(job ./bereft default)
is $? 137 "with the default error handler the job ends"
like "$out" '^vmpirun: node 1 \(ranks 2-3, pid [0-9]+\) died of SIGKILL' \
	"and says which node and ranks have died" || diag "$out"
none "$(pgrep -f "$scratch/bereft\|\./bereft default")" "nobody is left behind"
done_testing
