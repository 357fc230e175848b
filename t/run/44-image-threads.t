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

# The first worker is not on the last processor.
build binds binds.c -pthread
if [ "$(nproc)" -ge 2 ]; then
	is "$(timeout 60 "$vmpirun" -n 4 --workers 2 ./binds | sort -u)" \
		"0 0 refused stays" \
		"ranks that share workers do not bind them"
	is "$(timeout 60 "$vmpirun" -n 2 --workers 2 ./binds | sort -u |
		grep -c '^0 0 refused moved$')" 1 \
		"a rank with a worker of its own does"
else
	skip 2 'there is one processor'
fi

wanted() {
	seq 0 $(($1 - 1)) | sed 's/.*/rank &: done/' | sort
}

case ${VMPI_SANITIZE:-none} in
*thread*) skip 4 "the thread sanitizer does not know all of these functions" ;;
*)
	build waits thread-waits.c -pthread
	build waits-cxx thread-waits.cc -pthread -std=c++20
	for ranks in 2 8; do
		is "$(run $ranks --workers 2 ./waits | sort)" \
			"$(wanted $ranks)" \
			"a rank that waits for its thread keeps none of $ranks waiting"
		is "$(run $ranks --workers 2 ./waits-cxx | sort)" \
			"$(wanted $ranks)" "nor does it in C++, $ranks ranks"
	done
	;;
esac
done_testing
