/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hardware that the calling rank is on (MPI 4.1, 9.1.2).
 */
#include <stdio.h>

#include "mpi/call/check.h"
#include "mpi/call/info.h"
#include "sched/topo.h"

/* An info object that is being filled. */
struct hw_filling {
	MPI_Info info;
	int rc;
};

/* The key is what MPI_Comm_split_type() takes as mpi_hw_resource_type; the value
 * tells whether the rank stays within one such resource. */
static void put_resource(void *arg, const char *type, int number)
{
	struct hw_filling *filling = arg;
	char key[MPI_MAX_INFO_KEY];

	snprintf(key, sizeof(key), VM_RESOURCE_PREFIX "%s", type);
	if (filling->rc == 0)
		filling->rc = vm_info_put(filling->info, key,
					  number >= 0 ? "true" : "false");
}

int PMPI_Get_hw_resource_info(MPI_Info *hw_info)
{
	struct vm_call call = vm_call_enter(VM_CALL_Get_hw_resource_info);
	struct hw_filling filling = { .info = MPI_INFO_NULL };
	int rc = vm_check_pointer(&call, hw_info, "hw_info");

	if (rc == 0)
		rc = vm_info_new(call.mpi, &filling.info);
	if (rc == 0) {
		vm_topo_resources(put_resource, &filling);
		rc = filling.rc;
	}
	if (rc == 0)
		rc = vm_info_put(filling.info, "mpi_shared_memory", "true");
	if (rc == 0)
		*hw_info = filling.info;
	else if (filling.info != MPI_INFO_NULL)
		vm_info_drop(call.mpi, filling.info);
	return vm_call_exit_self(&call, rc);
}
