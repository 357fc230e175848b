/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the processes of a job come to know each other.
 *
 * Processes of one host first try to do without a network: loading libfabric takes
 * far longer than all else.  If one of them shares no memory with another one, or has
 * settings that ask for a network, all open one.
 */
#ifndef CORE_REMOTE_JOIN_H
#define CORE_REMOTE_JOIN_H

struct vm_boot;
struct vm_fabric_config;

/*
 * Opens vm_node->fabric and makes all processes of the job known to it: 0 or a
 * negative VMPI_E..., logged, and there is none.  Collective, with fences.  What they may send must
 * not be looked at before.
 */
int vm_join(struct vm_boot *boot, const struct vm_fabric_config *config);

#endif
