/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of transfer times: measured on this machine and network.
 */
#ifndef VMPI_INFO_CALIBRATE_H
#define VMPI_INFO_CALIBRATE_H

#include <stdbool.h>

/* Measures and writes the file, and prints it.  The exit status. */
int calibrate(void);

/* Whether this process was started by the one that calibrates, as one of two
 * node processes of a job; then it only calls calibrate_node(). */
bool calibrate_is_node(void);
int calibrate_node(void);

/* Prints the merged report of a job's measures in a directory.  The exit
 * status. */
int overlap_print(const char *directory);

#endif
