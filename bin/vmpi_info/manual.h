/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The manual page vmpi-variables(7), written from the rows of the variables, so
 * that none can be without a description.
 */
#ifndef VMPI_INFO_MANUAL_H
#define VMPI_INFO_MANUAL_H

/* Prints the page in mdoc. */
void manual_print(void);

#endif
