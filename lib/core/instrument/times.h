/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clocks of sched/clocks.h for any caller, also threads that vmpi does not
 * know: these never wait in vmpi, and rank time is wall-clock time.
 */
#ifndef CORE_INSTRUMENT_TIMES_H
#define CORE_INSTRUMENT_TIMES_H

#include <stdint.h>

#include "sched/ult.h"

/* Ticks (base/clock.h) since some moment; without a ULT core time is 0. */
uint64_t vm_times_rank(void);
uint64_t vm_times_core(void);

#endif
