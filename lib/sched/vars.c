/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of sched's variables.
 */
#include "sched/vars.h"

VM_CVARS_DEFINE(sched, SCHED_CVARS)
VM_PVARS_DEFINE(sched_worker, SCHED_WORKER_PVARS)
