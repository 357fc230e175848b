/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of the variables of policies.
 */
#include "introspect/policy/vars.h"

VM_CVARS_DEFINE(tune, TUNE_CVARS)
VM_PVARS_DEFINE(tune_node, TUNE_NODE_PVARS)
