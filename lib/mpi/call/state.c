/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of MPI in a rank: created by its first call, freed when it
 * terminates.
 */
#include "mpi/call/state.h"

#include <limits.h>
#include <stdlib.h>

#include "core/instrument/intercept.h"
#include "core/local/engine.h"
#include "core/rank/state.h"
#include "core/runtime/node.h"
#include "core/runtime/process.h"
#include "mpi/call/attr.h"
#include "mpi/call/errcode.h"
#include "mpi/call/errh.h"
#include "mpi/call/fint.h"
#include "mpi/call/handle.h"
#include "mpi/call/info.h"
#include "mpi/call/vars.h"

enum vm_mpi_phase vm_mpi_phase(void)
{
	/* A thread that did not call anything yet, of a process that is a
	 * rank. */
	const struct vm_rank *rank = vm_self ? vm_rank_self() :
					       vm_process_rank();
	const struct vm_mpi *mpi = rank ? rank->mpi : NULL;

	return mpi ? mpi->world_phase : VM_MPI_BEFORE;
}

/* Returns the phase, for reports of lower layers (core/rank/rank.h). */
static int phase_of(struct vm_rank *rank)
{
	const struct vm_mpi *mpi = rank->mpi;

	if (!mpi)
		return VM_RANK_MPI_BEFORE;
	if (mpi->phase == VM_MPI_RUNNING)
		return mpi->world_phase == VM_MPI_RUNNING ?
			       VM_RANK_MPI_OPEN :
			       VM_RANK_MPI_SESSIONS;
	return mpi->phase == VM_MPI_BEFORE ? VM_RANK_MPI_BEFORE :
					     VM_RANK_MPI_OVER;
}

static void attributes_init(struct vm_mpi *mpi)
{
	mpi->tag_ub = VMPI_TAG_MAX;
	mpi->io = MPI_ANY_SOURCE; /* every rank can do I/O */
	mpi->host = MPI_PROC_NULL;
	/* Each process has a clock of its own. */
	mpi->wtime_is_global = vm_node->process_count == 1;
	mpi->appnum = 0;
	mpi->last_code = MPI_ERR_LASTCODE;
	/* As many as there can be with those that this process can start. */
	mpi->universe_size = vm_node->rank_count;
	mpi->universe_size += vm_node_hooks.spare_load ?
				      vm_node->spare_count :
				      (int)core_cvar.connect_max;
	mpi->keyval_next = VM_KEYVAL_FIRST;
}

static void state_free(struct vm_rank *rank);

static struct vm_mpi *state_new(struct vm_rank *rank)
{
	struct vm_mpi *mpi = calloc(1, sizeof(*mpi));

	if (!mpi)
		return NULL;
	mpi->rank = rank;
	vm_lock_init(&mpi->lock);
	for (int kind = 0; kind < VM_OBJECTS; kind++) {
		vm_list_init(&mpi->alive[kind]);
		vm_list_init(&mpi->spare[kind]);
	}
	vm_comm_init(&mpi->world, rank->world);
	mpi->world.errh = vm_errh_default();
	vm_comm_init(&mpi->self, rank->self_chan);
	mpi->self.errh = vm_errh_default();
	mpi->file_errh = vm_errh_return();
	attributes_init(mpi);
	return mpi;
}

_Atomic int vm_mpi_plain_from;

/* From now on every message carries a signature and takes the ways on which
 * these are compared. */
static void types_check(void)
{
	vm_intercept_set(VM_INTERCEPT_SIGNATURES);
	atomic_store_explicit(&vm_mpi_plain_from, INT_MAX,
			      memory_order_relaxed);
}

/* From now on the communicator of every message is looked at. */
static void revoked(void)
{
	atomic_store_explicit(&vm_mpi_plain_from, INT_MAX,
			      memory_order_relaxed);
}

struct vm_mpi *vm_mpi_of(struct vm_rank *rank)
{
	/* Threads of a rank may come here at the same time. */
	vm_engine_lock(rank->engine);
	if (!rank->mpi) {
		if (mpi_cvar.check_types)
			types_check();
		rank->mpi = state_new(rank);
		atomic_store_explicit(&vm_node->revoked_hook, revoked,
				      memory_order_relaxed);
		rank->mpi_state = phase_of;
		rank->mpi_free = state_free;
	}
	vm_engine_unlock(rank->engine);
	return rank->mpi;
}

static void clear_info(struct vm_mpi *mpi, struct vm_object *object)
{
	vm_info_clear((struct vm_info *)object);
}

/* Frees the state of a rank that has terminated with all of its threads. */
static void state_free(struct vm_rank *rank)
{
	struct vm_mpi *mpi = rank->mpi;

	if (mpi->phase == VM_MPI_RUNNING)
		mpi->stop(mpi);
	vm_objects_free(mpi, VM_OBJECT_INFO, clear_info);
	vm_objects_free(mpi, VM_OBJECT_SESSION, NULL);
	vm_objects_free(mpi, VM_OBJECT_ERRH, NULL);
	if (mpi->tools_end)
		mpi->tools_end(mpi);
	vm_errcodes_free(mpi->errcodes);
	vm_fints_free(mpi->fints);
	free(mpi);
	rank->mpi = NULL;
}
