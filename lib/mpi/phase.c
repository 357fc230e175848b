/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and end of MPI in a rank.
 */
#include "mpi/phase.h"

#include "core/local/req.h"
#include "mpi/call/errh.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/dynamic/port.h"
#include "mpi/io/file.h"
#include "mpi/type/type.h"
#include "mpi/win/make.h"

void vm_mpi_turn_begin(struct vm_mpi *mpi)
{
	while (atomic_exchange_explicit(&mpi->turning, true,
					memory_order_acquire))
		vm_req_poll();
}

void vm_mpi_turn_end(struct vm_mpi *mpi)
{
	atomic_store_explicit(&mpi->turning, false, memory_order_release);
}

void vm_mpi_start(struct vm_mpi *mpi, int thread_level)
{
	mpi->thread_level = thread_level;
	mpi->main_task = vm_ult_origin(vm_self);
	mpi->stop = vm_mpi_stop;
	mpi->phase = VM_MPI_RUNNING;
}

static void clear_comm(struct vm_mpi *mpi, struct vm_object *object)
{
	vm_comm_clear(mpi, (struct vm_comm *)object);
}

static void clear_group(struct vm_mpi *mpi, struct vm_object *object)
{
	vm_mpi_group_clear((struct vm_mpi_group *)object);
}

static void clear_type(struct vm_mpi *mpi, struct vm_object *object)
{
	vm_type_clear((struct vm_type *)object);
}

static void clear_win(struct vm_mpi *mpi, struct vm_object *object)
{
	vm_win_clear(mpi, (struct vm_win *)object);
}

static void clear_file(struct vm_mpi *mpi, struct vm_object *object)
{
	vm_file_clear(mpi, (struct vm_file *)object);
}

/* Objects of the kinds that end with the phase.  All are cleared before any is
 * freed, since they refer to each other. */
static void objects_end(struct vm_mpi *mpi)
{
	static const struct {
		enum vm_object_kind kind;
		vm_object_clear_fn *clear; /* NULL: plain memory */
	} ending[] = {
		{ VM_OBJECT_WIN, clear_win },
		{ VM_OBJECT_FILE, clear_file },
		{ VM_OBJECT_DATAREP, NULL },
		{ VM_OBJECT_COMM, clear_comm },
		{ VM_OBJECT_GROUP, clear_group },
		{ VM_OBJECT_KEYVAL, NULL },
		{ VM_OBJECT_TYPE, clear_type },
		{ VM_OBJECT_OP, NULL },
	};
	size_t count = sizeof(ending) / sizeof(ending[0]);

	for (size_t i = 0; i < count; i++)
		vm_objects_clear(mpi, ending[i].kind, ending[i].clear);
	for (size_t i = 0; i < count; i++)
		vm_objects_free(mpi, ending[i].kind, NULL);
}

/* A predefined communicator as it was at first; its handler gets errors of the
 * calls that are still allowed. */
static void comm_reset(struct vm_mpi *mpi, struct vm_comm *comm)
{
	vm_comm_clear(mpi, comm);
	comm->attrs = NULL;
	comm->topo_ops = NULL;
	comm->name = NULL;
	comm->errh = vm_errh_default();
}

void vm_mpi_stop(struct vm_mpi *mpi)
{
	comm_reset(mpi, &mpi->world);
	comm_reset(mpi, &mpi->self);
	vm_type_extras_free(mpi);
	vm_ports_free(mpi);
	mpi->parent = NULL;
	objects_end(mpi);
	mpi->phase = VM_MPI_AFTER;
}
