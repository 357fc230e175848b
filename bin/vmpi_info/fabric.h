/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The networks between processes: which one is taken, and why not the others.
 */
#ifndef VMPI_INFO_FABRIC_H
#define VMPI_INFO_FABRIC_H

#include "text.h"

/* Prints what there is for a job on one host and for one on several.  0, or the
 * exit status when there is none. */
int fabric_print(enum form form);

#endif
