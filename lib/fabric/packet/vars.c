/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of fabric's variables.
 */
#include "fabric/packet/vars.h"

VM_CVARS_DEFINE(fabric, FABRIC_CVARS)
VM_PVARS_DEFINE(fabric_port, FABRIC_PORT_PVARS)
VM_PVARS_DEFINE(fabric_node, FABRIC_NODE_PVARS)

void vm_fabric_vars_add(void)
{
	vm_vars_add(&fabric_cvar_table);
	vm_pvars_add(&fabric_port_pvar_table);
	vm_pvars_add(&fabric_node_pvar_table);
}
