/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Begin and end of MPI in a rank.
 */
#include "mpi/state.h"

#include <stdlib.h>

#include "core/node.h"
#include "mpi/attr.h"
#include "mpi/bsend.h"
#include "mpi/comm.h"
#include "mpi/errcode.h"
#include "mpi/errh.h"
#include "mpi/group.h"
#include "mpi/info.h"
#include "mpi/type.h"

/* What vm_rank->mpi points at after MPI_Finalize. */
static const struct vm_mpi finalized = { .phase = VM_MPI_AFTER };

enum vm_mpi_phase vm_mpi_phase(void)
{
	const struct vm_mpi *mpi = vm_mpi_self();

	return mpi ? mpi->phase : VM_MPI_BEFORE;
}

/* For those below who report on a rank (core/rank.h). */
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
	mpi->wtime_is_global = 1; /* one clock: one process */
	mpi->appnum = 0;
	mpi->last_code = MPI_ERR_LASTCODE;
	mpi->universe_size = vm_node->rank_count;
	mpi->keyval_next = VM_KEYVAL_FIRST;
}

int vm_mpi_start(struct vm_rank *rank, int thread_level)
{
	struct vm_mpi *mpi = calloc(1, sizeof(*mpi));

	if (!mpi)
		return -VMPI_ENOMEM;
	mpi->rank = rank;
	mpi->thread_level = thread_level;
	mpi->main_task = vm_self;
	vm_lock_init(&mpi->lock);
	for (int kind = 0; kind < VM_OBJECTS; kind++) {
		vm_list_init(&mpi->alive[kind]);
		vm_list_init(&mpi->spare[kind]);
	}
	vm_comm_init(&mpi->world, rank->world, vm_errh_default());
	vm_comm_init(&mpi->self, rank->self_chan, vm_errh_default());
	attributes_init(mpi);
	mpi->phase = VM_MPI_RUNNING;
	rank->mpi_state = phase_of;
	rank->mpi = mpi;
	return 0;
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

void vm_mpi_stop(struct vm_mpi *mpi)
{
	struct vm_rank *rank = mpi->rank;
	struct vm_list *link;

	vm_comm_clear(mpi, &mpi->world);
	vm_comm_clear(mpi, &mpi->self);
	vm_type_extras_free(mpi);
	vm_errcodes_free(mpi->errcodes);
	for (int kind = 0; kind < VM_OBJECTS; kind++)
		vm_list_each(link, &mpi->alive[kind])
			clear_object(mpi, kind,
				     vm_container_of(link, struct vm_object,
						     link));
	for (int kind = 0; kind < VM_OBJECTS; kind++) {
		free_objects(&mpi->alive[kind]);
		free_objects(&mpi->spare[kind]);
	}
	rank->mpi = (void *)(uintptr_t)&finalized;
	free(mpi);
}
