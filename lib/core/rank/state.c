/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one variable by which the modules find the state of the process.
 */
#include "core/rank/state.h"

struct vm_node *vm_node;
