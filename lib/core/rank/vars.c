/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of core's variables, and all below it.
 */
#include "core/rank/vars.h"

#include "fabric/packet/vars.h"
#include "introspect/policy/vars.h"
#include "introspect/measure/vars.h"
#include "sched/vars.h"

VM_CVARS_DEFINE(core, CORE_CVARS)
VM_PVARS_DEFINE(core_rank, CORE_RANK_PVARS)
VM_PVARS_DEFINE(core_time, CORE_TIME_PVARS)
VM_PVARS_DEFINE(core_match, CORE_MATCH_PVARS)
VM_PVARS_DEFINE(core_chan, CORE_CHAN_PVARS)
VM_PVARS_DEFINE(core_node, CORE_NODE_PVARS)
VM_PVARS_DEFINE(core_worker, CORE_WORKER_PVARS)

void vm_core_vars_add(void)
{
	vm_vars_add(&sched_cvar_table);
	vm_pvars_add(&sched_worker_pvar_table);
	vm_vars_add(&core_cvar_table);
	vm_pvars_add(&core_rank_pvar_table);
	vm_pvars_add(&core_time_pvar_table);
	vm_pvars_add(&core_match_pvar_table);
	vm_pvars_add(&core_node_pvar_table);
	vm_pvars_add(&core_worker_pvar_table);
	vm_fabric_vars_add();
	vm_vars_add(&overlap_cvar_table);
	vm_vars_add(&trace_cvar_table);
	vm_pvars_add(&overlap_rank_pvar_table);
	vm_vars_add(&tune_cvar_table);
	vm_pvars_add(&tune_node_pvar_table);
	vm_pvars_add(&core_chan_pvar_table);
}
