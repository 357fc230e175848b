/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writers to the files of programs that run: they wait until ranks do not need
 * the files any more (core/image/keep.h).
 */
#ifndef LEASES_H
#define LEASES_H

/* While the runtime runs. */
void leases_start(void);

#endif
