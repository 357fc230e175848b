/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The efficiencies of --summary: of the job and of its sections (report/pop.h),
 * from what the profiles know of the cores of each process.
 */
#ifndef EFFICIENCY_H
#define EFFICIENCY_H

#include <stdio.h>

struct efficiency;

/* With the variables read: calls are profiled, if only their time.  0,
 * -VMPI_E... */
int efficiency_prepare(void);

/* Of this process, when its ranks have ended; NULL: no memory.  To be freed with
 * free(). */
struct efficiency *efficiency_take(void);

/* Publishes it; adds that of process `p` after the next fence.  0, -VMPI_E...
 * (logged). */
int efficiency_put(const struct efficiency *own);
int efficiency_add(struct efficiency **all, int p);

/* A line for the job and each section, which begins with `begin`. */
void efficiency_print(const struct efficiency *all, const char *begin,
		      FILE *out);

#endif
