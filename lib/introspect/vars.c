/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of the variables of overlap.
 */
#include "introspect/vars.h"

#include <stddef.h>

#include "base/err.h"

VM_CVARS_DEFINE(overlap, OVERLAP_CVARS)
VM_PVARS_DEFINE(overlap_rank, OVERLAP_RANK_PVARS)

VM_STATIC_ASSERT(offsetof(struct overlap_cvars, watch) == 0,
		 "core/entry.h looks for it there");
