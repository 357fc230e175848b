#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# On a terminal: rank 0 may read from it, and Ctrl-C still goes by vmpirun's
# rules, although the terminal sends it to the node process as well.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
vmpirun=$VMPI_BUILD/vmpirun
[ -x "$vmpirun" ] || skip_all "vmpirun is not built"
need script
unset MPIEXEC_TIMEOUT
cd "$scratch" || exit 1
printf '#!/bin/sh\nshift\neval "$1"\n' >node
printf '#!/bin/sh\n' >program
chmod +x node program
export VMPI_NODE="$scratch/node"

# terminal COMMAND: runs it with a new terminal, whose keys are our input.
terminal() {
	timeout 100 script -qec "$1" /dev/null | tr -d '\r'
}

out=$( (sleep 0.5; echo typed; sleep 0.5) |
	terminal "$vmpirun -n 1 ./program 'read line; echo \"read \$line\"'")
like "$out" '^read typed$' "the node process can read from the terminal"

out=$( (sleep 1; printf '\003'; sleep 1) |
	terminal "trap : INT
		$vmpirun -n 1 ./program 'trap \"echo got TERM; exit 3\" TERM
		while :; do sleep 0.1; done'; echo code \$?")
like "$out" 'the next signal kills it' "Ctrl-C is vmpirun's to take"
like "$out" '^got TERM' "the node process gets SIGTERM"
like "$out" '^code 130' "and the exit code is that of an interrupt"
done_testing
