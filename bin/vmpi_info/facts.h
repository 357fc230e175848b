/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts about the build and the machine.
 */
#ifndef VMPI_INFO_FACTS_H
#define VMPI_INFO_FACTS_H

#include "text.h"

/* Prints all facts, one per line. */
void facts_print(enum form form);

#endif
