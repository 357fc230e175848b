#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How long messages come from another process: as is set for all, or for that
# process; and who of the two comes late is counted.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

build late late.c

# come WANT NAME OPTION...: what the receiver's summary says of 5 and 5.
come() {
	want=$1 name=$2
	shift 2
	timeout 60 "$vmpirun" -n 2 --nodes 2 --workers 1 --summary "$@" \
		./late 100000 5 5 </dev/null >out 2>&1
	is $? 0 "$name: the messages are whole" || diag "$(cat out)"
	is "$(sed -n 's/^vmpirun: node 0: long messages: //p' out)" \
		"$want; 5 announced after their receive was posted, 5 before" \
		"$name: so they came, and this one was late"
}

by=core_rndv
come '10 read' 'auto'
come '10 written' 'write' --set ${by}_protocol=write
come '10 written' 'written from process 1' \
	--set ${by}_write_from=2
come '10 pipelined' 'in pieces from process 1' \
	--set ${by}_pipeline_from=2
come '10 read' 'of others, not of process 1' \
	--set ${by}_write_from=1 --set ${by}_pipeline_from=4
come '10 read' 'what is set for all is for all' \
	--set ${by}_write_from=2 --set ${by}_protocol=read
like "$(cat out)" '^vmpirun: node 0: packet memory: [0-9.]+ [KM]?i?B, at most [1-9][0-9.]* [KM]iB$' \
	'the summary says how much memory packets took'
none "$(sed -n '/^vmpirun: node 1: long messages/p' out)" \
	'who only sends says nothing of messages that came'
done_testing
