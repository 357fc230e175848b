/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered memory, from inside.
 */
#ifndef FABRIC_MR_H
#define FABRIC_MR_H

#include "fabric/fabric.h"
#include "fabric/ofi/fi.h"

/* The address of registered memory of our own that another part of the process
 * names by the loop; NULL unless key, bounds and access fit. */
void *vm_mr_find(struct vm_fabric *fabric, struct vm_remote remote,
		 size_t bytes, unsigned access);

/* Registers memory for local use; under the port's lock.  0, -VMPI_EIO. */
int vm_mr_local(struct vm_port *port, struct fid_mr **mr, const void *base,
		size_t bytes, uint64_t access);

#endif
