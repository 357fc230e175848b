/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of hosts, as people and batch systems write them.
 *
 * A name becomes a word of other programs' command lines (ssh, srun, mpirun), so
 * it has only letters that mean nothing there, and does not begin as an option.
 */
#ifndef VMPIRUN_HOST_NAME_H
#define VMPIRUN_HOST_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define HOST_NAME_BYTES 256

/* NULL: this is the name of a host, USER@ before it or not, or an address of
 * IPv4 or IPv6; or what would be right, for the end of a line. */
const char *host_name_why(const char *name);

/* Whether it is an address of IPv6, which not every program takes. */
bool host_name_is_ipv6(const char *name);

/* Takes one host.  0, or -VMPI_E... after one line. */
typedef int (*host_name_take)(void *arg, const char *name);

/*
 * Gives take each name that a text of length bytes stands for: itself, or with
 * [1-3,07] in it one for each number, also several times.  *understood says
 * whether it can be read; if it cannot, nothing is said here.  Result: 0, the
 * first result of take that is not 0, or -VMPI_EINVAL.
 */
int host_name_each(const char *text, size_t length, bool *understood,
		   host_name_take take, void *arg);

#endif
