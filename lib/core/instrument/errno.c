/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The address of errno, for programs (include/vmpi/libc/errno.h).  Not in
 * bin/image: code linked into a program must not import __errno_location
 * (core/image/tied.h).
 */
#include <errno.h>

#include "vmpi.h"

/* Declared for programs in their <errno.h>. */
VMPI_API int *vmpi_errno_location(void);

int *vmpi_errno_location(void)
{
	return &errno;
}
