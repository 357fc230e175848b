/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of OS threads by which profilers, top and debuggers tell ranks apart:
 * with core_thread_names a worker has the name of the rank that it runs.
 */
#ifndef CORE_INSTRUMENT_THREAD_NAME_H
#define CORE_INSTRUMENT_THREAD_NAME_H

#include "core/rank/rank.h"

/* Has the workers named, if core_thread_names says so.  They are there and do
 * not run. */
void vm_thread_names_start(void);

/* Names the calling OS thread, which acts for a rank from now on, likewise. */
void vm_thread_name(const struct vm_rank *rank);

#endif
