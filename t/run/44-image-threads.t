#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Threads that ranks create.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

build cpus thread-cpus.c -pthread
for ranks in 1 2; do
	is "$(run $ranks ./cpus | sort -u)" "all 1" \
		"a thread is not bound to its rank's core, $ranks ranks"
done
done_testing
