#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A row of C for each system call of the machine that a compiler makes programs
# for: syscalls.sh COMPILER [OPTION...]
echo '#include <sys/syscall.h>' | "$@" -dM -E - |
	sed -n 's/^#define SYS_\([a-z0-9_]*\) .*/{ "\1", SYS_\1 },/p' | sort
