/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <errno.h> for programs built with vmpicc: libc's, but errno is looked up each
 * time it is used.
 *
 * libc says that the address of errno never changes, so compilers keep it over
 * calls; a rank that vmpirun --balance=auto moves to another OS thread would
 * then use that of the first.
 */
#include_next <errno.h>

#ifndef VMPI_LIBC_ERRNO_H
#define VMPI_LIBC_ERRNO_H

#ifdef __cplusplus
extern "C" {
#endif

int *vmpi_errno_location(void);

#ifdef __cplusplus
}
#endif

#undef errno
#define errno (*vmpi_errno_location())

#endif
