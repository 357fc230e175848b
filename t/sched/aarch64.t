#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The aarch64 context switch and the entries of public functions:
# cross-compiled, and their unit tests run by qemu-user.  On an aarch64 machine
# the ordinary unit tests do this already.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$VMPI_SRC/t/tap.sh"
cross=aarch64-linux-gnu-gcc
need $cross qemu-aarch64
echo 'int main(void) { return 0; }' >"$scratch/empty.c"
$cross -static "$scratch/empty.c" -o "$scratch/empty" 2>/dev/null ||
	skip_all "$cross has no C library (libc6-dev-arm64-cross)"
cd "$VMPI_SRC" || exit 1

flags='-std=gnu17 -D_GNU_SOURCE -Iinclude -Ilib -It -Wall -Wextra
	-Wno-unused-parameter -Werror'

for level in -O0 -O2; do
	ok "the context switch and its test compile for aarch64 with $level" \
		$cross $flags $level -g -static -pthread t/sched/ctx.c t/tap.c \
		lib/sched/ctx_aarch64.S lib/sched/ctx.c lib/base/err.c \
		lib/base/log.c lib/base/last_word.c -lm -o "$scratch/ctx$level"
	timeout 250 qemu-aarch64 "$scratch/ctx$level" >"$scratch/out" 2>&1
	is $? 0 "the test passes under qemu-aarch64"
	sed 's/^/# /' "$scratch/out"
	grep -q '^ok' "$scratch/out" || fail "the test ran its checks"
	ok "the entries and their test compile for aarch64 with $level" \
		$cross $flags $level -g -static -pthread t/core/instrument/entry.c t/tap.c \
		lib/core/instrument/calls.S lib/core/native/entries.S lib/core/instrument/entry.c -lm -o "$scratch/entry$level"
	timeout 250 qemu-aarch64 "$scratch/entry$level" >"$scratch/out" 2>&1
	is $? 0 "the test passes under qemu-aarch64"
	sed 's/^/# /' "$scratch/out"
	grep -q '^ok' "$scratch/out" || fail "the test ran its checks"
done
ok "the entries of mpi.h assemble for aarch64" \
	$cross $flags -c lib/mpi/entries.S -o "$scratch/entries.o"
ok "and those of libmpi_abi.so" \
	$cross $flags -c lib/mpi/abi_entries.S -o "$scratch/abi_entries.o"

# hwloc.h and rdma/ are the same for all machines, so the host's will do to
# compile.
mkdir "$scratch/include"
if [ -e /usr/include/hwloc.h ] && [ -e /usr/include/rdma/fabric.h ]; then
	ln -s /usr/include/hwloc.h /usr/include/hwloc /usr/include/rdma \
		"$scratch/include"
	for arch in /usr/include/*-linux-gnu; do
		[ -e "$arch/hwloc" ] && flags="$flags -idirafter $arch"
	done
	# So will pmix.h.
	pmix=$(pkg-config --cflags-only-I pmix 2>/dev/null)
	none "$(for source in lib/*/*.c; do
		[ "$source" != lib/boot/pmix.c ] || [ -n "$pmix" ] || continue
		$cross $flags -I"$scratch/include" $pmix -DVM_VERSION='"0"' \
			-DVM_FI_VERSION='"FABRIC_1.3"' \
			-DVM_SYSCONFDIR='"/etc"' -DVM_LIBEXECDIR='"/usr"' \
			-DVM_PMIX_LIBDIR='"/usr/lib"' \
			-fsyntax-only "$source" 2>&1
	done)" "every source of the library compiles for aarch64"
else
	skip 1 "hwloc.h or rdma/fabric.h is not installed"
fi
done_testing
