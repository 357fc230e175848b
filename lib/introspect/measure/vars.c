/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of the variables of overlap and of traces.
 */
#include "introspect/measure/vars.h"

VM_CVARS_DEFINE(overlap, OVERLAP_CVARS)
VM_CVARS_DEFINE(trace, TRACE_CVARS)
VM_PVARS_DEFINE(overlap_rank, OVERLAP_RANK_PVARS)
