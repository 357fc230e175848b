/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * _exit() for tests of `make coverage`: keeps what the process has counted.
 */
#include "base/exit.h"

_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

_Noreturn void __wrap__exit(int status)
{
	vm_exit_keep();
	__real__exit(status);
}
