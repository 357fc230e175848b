/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI calls there are.
 */
#ifndef VMPI_INFO_CALLS_H
#define VMPI_INFO_CALLS_H

#include "text.h"

/* Prints their names: in columns for people, else one per line, with "full"
 * behind those that work and "refused" behind those that only fail by name. */
void calls_print(enum form form);

#endif
