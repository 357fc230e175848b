/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries that are loaded before all others, by LD_PRELOAD.
 *
 * Only a process that is started anew can get them, or be without them; what
 * the ranks start sees the variable as the user has set it.
 */
#ifndef PRELOAD_H
#define PRELOAD_H

/* Sets the variable as the user has set it. */
void preload_restore(void);

/* Decides what this program needs; 1: the process has to be started anew; 0: it
 * need not; -VMPI_ENOTSUP, -VMPI_ENOMEM (logged).  Call when the image is
 * open. */
int preload_choose(void);

/* Sets the variables for a process to be started; 0, or errno is set. */
int preload_apply(void);

#endif
