/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Initialisation and finalisation of the tool information interface.
 */
#include "mpi/tool/tool.h"

#include <stdio.h>
#include <string.h>

#include "core/runtime/process.h"
#include "introspect/vars/session.h"

/* Counts of initialisations: of all callers, and of those outside ranks. */
static struct {
	struct vm_lock lock;
	_Atomic int all, process;
} inits;

/* Returns the rank that the caller acts for, or NULL for the process; always
 * NULL if the process itself is a rank, since it may become one at any time. */
static struct vm_rank *rank_of_caller(void)
{
	struct vm_rank *rank = vm_rank_self();

	return rank && rank != vm_process_rank() ? rank : NULL;
}

int vm_tool_check(void)
{
	const struct vm_rank *rank = rank_of_caller();
	const struct vm_mpi *mpi = rank ? rank->mpi : NULL;
	int count;

	if (rank)
		count = mpi ? atomic_load_explicit(&mpi->tools,
						   memory_order_relaxed) :
			      0;
	else
		count = atomic_load_explicit(&inits.all, memory_order_relaxed);
	return count > 0 ? MPI_SUCCESS : MPI_T_ERR_NOT_INITIALIZED;
}

bool vm_tool_is_rank(void)
{
	return rank_of_caller() != NULL;
}

const void *vm_tool_owner(void)
{
	const struct vm_rank *rank = rank_of_caller();

	return rank ? rank->mpi : (const void *)&inits;
}

int vm_tool_view(void)
{
	const struct vm_rank *rank = vm_rank_self();

	if (!rank)
		rank = vm_process_rank();
	return rank ? rank->index : VM_VIEW_PROCESS;
}

/* Frees what a terminating rank has left; mpi->tools is 0 afterwards. */
static void tools_end(struct vm_mpi *mpi)
{
	int count;

	vm_lock_take(&inits.lock);
	count = atomic_exchange_explicit(&mpi->tools, 0, memory_order_relaxed);
	atomic_fetch_sub_explicit(&inits.all, count, memory_order_relaxed);
	vm_lock_give(&inits.lock);
	if (count > 0)
		vm_tool_objects_end(mpi);
}

/* Returns the caller's own count; NULL when out of memory. */
static _Atomic int *count_of_caller(void)
{
	struct vm_rank *rank = rank_of_caller();
	struct vm_mpi *mpi;

	if (!rank)
		return &inits.process;
	mpi = rank->mpi ? rank->mpi : vm_mpi_of(rank);
	if (!mpi)
		return NULL;
	mpi->tools_end = tools_end;
	return &mpi->tools;
}

int PMPI_T_init_thread(int required, int *provided)
{
	_Atomic int *count = count_of_caller();

	if (!count)
		return MPI_T_ERR_MEMORY;
	vm_lock_take(&inits.lock);
	atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&inits.all, 1, memory_order_relaxed);
	vm_lock_give(&inits.lock);
	VM_TOOL_PUT(provided, MPI_THREAD_MULTIPLE);
	return MPI_SUCCESS;
}

int PMPI_T_finalize(void)
{
	_Atomic int *count = count_of_caller();
	const void *owner = vm_tool_owner();
	int left = -1;

	if (!count)
		return MPI_T_ERR_NOT_INITIALIZED;
	vm_lock_take(&inits.lock);
	if (atomic_load_explicit(count, memory_order_relaxed) > 0) {
		left = atomic_fetch_sub_explicit(count, 1,
						 memory_order_relaxed) -
		       1;
		atomic_fetch_sub_explicit(&inits.all, 1, memory_order_relaxed);
	}
	vm_lock_give(&inits.lock);
	if (left == 0)
		vm_tool_objects_end(owner);
	return left < 0 ? MPI_T_ERR_NOT_INITIALIZED : MPI_SUCCESS;
}

void vm_tool_text(char *buffer, int *length, const char *text)
{
	if (!length)
		return;
	if (buffer && *length > 0)
		snprintf(buffer, (size_t)*length, "%s", text);
	*length = (int)strlen(text) + 1;
}

int vm_tool_verbosity(enum vm_level level)
{
	static const int verbosities[] = {
		[VM_LEVEL_UB] = MPI_T_VERBOSITY_USER_BASIC,
		[VM_LEVEL_UD] = MPI_T_VERBOSITY_USER_DETAIL,
		[VM_LEVEL_UA] = MPI_T_VERBOSITY_USER_ALL,
		[VM_LEVEL_TB] = MPI_T_VERBOSITY_TUNER_BASIC,
		[VM_LEVEL_TD] = MPI_T_VERBOSITY_TUNER_DETAIL,
		[VM_LEVEL_TA] = MPI_T_VERBOSITY_TUNER_ALL,
		[VM_LEVEL_DB] = MPI_T_VERBOSITY_MPIDEV_BASIC,
		[VM_LEVEL_DD] = MPI_T_VERBOSITY_MPIDEV_DETAIL,
		[VM_LEVEL_DA] = MPI_T_VERBOSITY_MPIDEV_ALL,
	};

	return verbosities[level];
}
