/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Status and its private words.
 *
 * MPI_internal[0..1] hold the number of bytes (64 bits), [2] whether the
 * operation was cancelled.  MPI_ERROR is only written by calls that complete
 * several operations and return MPI_ERR_IN_STATUS (MPI 4.1, 3.2.5), and in an
 * empty status (3.7.3).
 */
#ifndef MPI_CALL_STATUS_H
#define MPI_CALL_STATUS_H

#include <stdbool.h>
#include <string.h>

#include "mpi.h"
#include "vmpi.h"

static inline void vm_status_set_bytes(MPI_Status *status, uint64_t bytes)
{
	memcpy(status->MPI_internal, &bytes, sizeof(bytes));
}

static inline uint64_t vm_status_bytes(const MPI_Status *status)
{
	uint64_t bytes;

	memcpy(&bytes, status->MPI_internal, sizeof(bytes));
	return bytes;
}

static inline void vm_status_set_cancelled(MPI_Status *status, bool cancelled)
{
	status->MPI_internal[2] = cancelled;
}

static inline bool vm_status_cancelled(const MPI_Status *status)
{
	return status->MPI_internal[2] != 0;
}

/* Sets a status from core's result; status may be MPI_STATUS_IGNORE. */
static inline void vm_status_set(MPI_Status *status, const vmpi_status *from)
{
	if (status == MPI_STATUS_IGNORE)
		return;
	status->MPI_SOURCE = from->source;
	status->MPI_TAG = from->tag;
	vm_status_set_bytes(status, from->bytes);
	vm_status_set_cancelled(status, from->error == -VMPI_ECANCELED);
}

/* Results of a null or inactive request, and of a receive from
 * MPI_PROC_NULL. */
extern const vmpi_status vm_status_empty, vm_status_proc_null;

/* Sets the status of a null or inactive request. */
static inline void vm_status_set_empty(MPI_Status *status)
{
	vm_status_set(status, &vm_status_empty);
	if (status != MPI_STATUS_IGNORE)
		status->MPI_ERROR = MPI_SUCCESS;
}

#endif
