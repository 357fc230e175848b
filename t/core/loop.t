#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tests of messages once more, with messages that go by the fabric's loop:
# by each protocol, with packets, pieces and windows so small that all come up.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
[ -x "$VMPI_BUILD/t/core-order" ] || skip_all "the tests are not built"

VMPI_CORE_LOOPBACK=1 STORM_SECONDS=1 VMPI_CORE_EAGER_LIMIT=500
VMPI_CORE_RNDV_FRAGMENT=300 VMPI_CORE_RNDV_WINDOW=1000
export VMPI_CORE_LOOPBACK STORM_SECONDS VMPI_CORE_EAGER_LIMIT
export VMPI_CORE_RNDV_FRAGMENT VMPI_CORE_RNDV_WINDOW

# by PROTOCOL NAME...: runs tests, by the command $before.
before=
by() {
	protocol=$1
	shift
	for name in "$@"; do
		out=$(VMPI_CORE_RNDV_PROTOCOL=$protocol TAP_TIMEOUT=300 \
			$before "$VMPI_BUILD/t/core-$name" 2>&1)
		is $? 0 "$name by $protocol${before:+ ($before)}" || diag "$out"
	done
}

by read order comm-msg comm-cancel storm
by write order comm-msg comm-cancel storm
by pipeline order comm-msg comm-cancel storm flood local-req threads wakeup
# On one core nobody polls for the receiver while a sender runs.
before="taskset -c $(taskset -pc $$ | sed 's/.*: *//; s/[-,].*//')"
by pipeline flood
before=
VMPI_CORE_COLLABORATIVE_POLLING=0
export VMPI_CORE_COLLABORATIVE_POLLING
by read order storm wakeup
done_testing
