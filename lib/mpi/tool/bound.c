/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables of MPI_T bound to communicators (core/local/chan_stats.h): the
 * control variables that are listed twice, and the communicator of a handle.
 */
#include <stdio.h>

#include "core/runtime/process.h"
#include "core/local/chan_stats.h"
#include "mpi/coll/coll.h"
#include "mpi/tool/tool.h"

#define BYCOMM "_bycomm"

static const struct {
	const char *name;
	unsigned setting;
} bound[] = {
	{ "core_eager_limit", VM_CHAN_STATS_EAGER_LIMIT },
	{ "mpi_coll_bcast_algorithm", VM_COLL_SETTING(VM_FAMILY_BCAST) },
	{ "mpi_coll_allgather_algorithm",
	  VM_COLL_SETTING(VM_FAMILY_ALLGATHER) },
	{ "mpi_coll_alltoall_algorithm", VM_COLL_SETTING(VM_FAMILY_ALLTOALL) },
	{ "mpi_coll_reduce_algorithm", VM_COLL_SETTING(VM_FAMILY_REDUCE) },
	{ "mpi_coll_allreduce_algorithm",
	  VM_COLL_SETTING(VM_FAMILY_ALLREDUCE) },
	{ "mpi_coll_reduce_scatter_algorithm",
	  VM_COLL_SETTING(VM_FAMILY_REDUCE_SCATTER) },
	{ "mpi_coll_scan_algorithm", VM_COLL_SETTING(VM_FAMILY_SCAN) },
};

#define BOUND_COUNT ((int)(sizeof(bound) / sizeof(bound[0])))

int vm_tool_cvar_count(void)
{
	return vm_cvar_count() + BOUND_COUNT;
}

bool vm_tool_cvar_at(struct vm_tool_cvar *cvar, int index)
{
	int i = index - vm_cvar_count();
	struct vm_cvar_view view;

	if (i >= BOUND_COUNT)
		return false;
	cvar->number = i < 0 ? index : vm_cvar_find(bound[i].name);
	cvar->setting = i < 0 ? VM_TOOL_UNBOUND : (int)bound[i].setting;
	if (!vm_cvar_info(cvar->number, &view, cvar->name))
		return false;
	if (i >= 0)
		snprintf(cvar->name, sizeof(cvar->name), "%s" BYCOMM,
			 bound[i].name);
	cvar->row = view.row;
	return true;
}

int vm_tool_bind(struct vm_chan_stats **special, const void *obj_handle)
{
	const struct vm_rank *rank = vm_rank_self();
	struct vm_comm *comm;
	struct vm_mpi *mpi;

	if (!rank)
		rank = vm_process_rank();
	mpi = rank ? rank->mpi : NULL;
	if (!obj_handle || !mpi || mpi->phase != VM_MPI_RUNNING)
		return MPI_T_ERR_INVALID_HANDLE;
	comm = vm_comm_in(mpi, *(const MPI_Comm *)obj_handle);
	if (!comm)
		return MPI_T_ERR_INVALID_HANDLE;
	*special = vm_chan_stats_hold(comm->chan);
	return *special ? MPI_SUCCESS : MPI_T_ERR_MEMORY;
}
