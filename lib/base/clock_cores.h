/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Check whether the counters of the processors agree.
 */
#ifndef BASE_CLOCK_CORES_H
#define BASE_CLOCK_CORES_H

#include <stdint.h>

/*
 * Two threads pass readings of the counter to each other, one of them on each
 * processor in turn that this process may run on (16 of them when there are
 * more).  Returns the number of processors on which no reading was before the
 * one it followed; or -1: there was one.  Processors that are too busy to
 * answer within some milliseconds are not counted.
 */
int vm_clock_cores_agree(uint64_t (*read)(void));

#endif
