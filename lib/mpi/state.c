/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Begin and end of MPI in a rank.
 */
#include "mpi/state.h"

#include <stdlib.h>

#include "core/local/engine.h"
#include "core/rank/state.h"
#include "core/runtime/process.h"
#include "mpi/call/attr.h"
#include "mpi/p2p/bsend.h"
#include "mpi/comm/comm.h"
#include "mpi/call/errcode.h"
#include "mpi/call/errh.h"
#include "mpi/p2p/fint.h"
#include "mpi/comm/group.h"
#include "mpi/call/info.h"
#include "mpi/tool/tool.h"
#include "mpi/type/type.h"

enum vm_mpi_phase vm_mpi_phase(void)
{
	/* A thread that did not call anything yet, of a process that is a
	 * rank. */
	const struct vm_rank *rank = vm_self ? vm_rank_self() :
					       vm_process_rank();
	const struct vm_mpi *mpi = rank ? rank->mpi : NULL;

	return mpi ? mpi->phase : VM_MPI_BEFORE;
}

/* For those below who report on a rank (core/rank/rank.h). */
static int phase_of(struct vm_rank *rank)
{
	const struct vm_mpi *mpi = rank->mpi;

	return mpi ? (int)mpi->phase : VM_MPI_BEFORE;
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
	mpi->universe_size = vm_node->rank_count;
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
	vm_comm_init(&mpi->world, rank->world, vm_errh_default());
	vm_comm_init(&mpi->self, rank->self_chan, vm_errh_default());
	attributes_init(mpi);
	return mpi;
}

struct vm_mpi *vm_mpi_of(struct vm_rank *rank)
{
	/* Threads of a rank may come here at the same time. */
	vm_engine_lock(rank->engine);
	if (!rank->mpi) {
		rank->mpi = state_new(rank);
		rank->mpi_state = phase_of;
		rank->mpi_free = state_free;
	}
	vm_engine_unlock(rank->engine);
	return rank->mpi;
}

void vm_mpi_start(struct vm_mpi *mpi, int thread_level)
{
	mpi->thread_level = thread_level;
	mpi->main_task = vm_self;
	mpi->phase = VM_MPI_RUNNING;
}

/* Frees what an object that its program left behind holds. */
static void clear_object(struct vm_mpi *mpi, int kind, struct vm_object *object)
{
	switch (kind) {
	case VM_OBJECT_COMM:
		vm_comm_clear(mpi, (struct vm_comm *)object);
		break;
	case VM_OBJECT_GROUP:
		vm_mpi_group_clear((struct vm_mpi_group *)object);
		break;
	case VM_OBJECT_INFO:
		vm_info_clear((struct vm_info *)object);
		break;
	case VM_OBJECT_TYPE:
		vm_type_clear((struct vm_type *)object);
		break;
	default:
		break; /* plain memory */
	}
}

static void free_objects(struct vm_list *list)
{
	struct vm_list *link;

	while ((link = vm_list_pop(list)) != NULL)
		free(vm_container_of(link, struct vm_object, link));
}

static bool outlives_finalize(int kind)
{
	return kind == VM_OBJECT_INFO || kind == VM_OBJECT_ERRH;
}

/* Frees the objects of the kinds that do, or do not, outlive MPI_Finalize. */
static void objects_end(struct vm_mpi *mpi, bool outlive)
{
	struct vm_list *link;

	for (int kind = 0; kind < VM_OBJECTS; kind++)
		if (outlives_finalize(kind) == outlive)
			vm_list_each(link, &mpi->alive[kind])
				clear_object(mpi, kind,
					     vm_container_of(link,
							     struct vm_object,
							     link));
	for (int kind = 0; kind < VM_OBJECTS; kind++) {
		if (outlives_finalize(kind) != outlive)
			continue;
		free_objects(&mpi->alive[kind]);
		free_objects(&mpi->spare[kind]);
	}
}

void vm_mpi_stop(struct vm_mpi *mpi)
{
	vm_comm_clear(mpi, &mpi->world);
	vm_comm_clear(mpi, &mpi->self);
	vm_type_extras_free(mpi);
	objects_end(mpi, false);
	/* Errors of the calls that are still allowed. */
	mpi->world.errh = mpi->self.errh = vm_errh_default();
	mpi->phase = VM_MPI_AFTER;
}

/* The rank has ended, and with it all of its threads. */
static void state_free(struct vm_rank *rank)
{
	struct vm_mpi *mpi = rank->mpi;

	if (mpi->phase == VM_MPI_RUNNING)
		vm_mpi_stop(mpi);
	objects_end(mpi, true);
	vm_tool_end(mpi);
	vm_errcodes_free(mpi->errcodes);
	vm_fints_free(mpi->fints);
	free(mpi);
	rank->mpi = NULL;
}
