/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files.  Begin here; then read disk.h, view.h, access.h and move.h.
 *
 * Each member of a file has an object of its own, with a view and a file
 * pointer; the members in one process share a descriptor.  A channel of its own
 * is for what all members do together.
 */
#ifndef MPI_IO_FILE_H
#define MPI_IO_FILE_H

#include "mpi/call/check.h"
#include "mpi/io/hints.h"
#include "mpi/io/view.h"

struct vm_disk;
struct vm_errh;
struct vm_io_op;

struct vm_file {
	struct vm_object object;
	/* Constant. */
	struct vm_comm comm; /* of the members, not the user's */
	struct vm_disk *disk;
	bool leads;	  /* it is the first member in its process */
	MPI_Comm leaders; /* those that lead, of several processes */
	int amode;
	char *name;
	/* What the user may change. */
	struct vm_view view;
	char datarep[MPI_MAX_DATAREP_STRING];
	bool atomic;
	struct vm_errh *errh; /* holds a reference */
	struct vm_io_hints hints;
	/* The individual file pointer, in etypes; any thread of the rank. */
	_Atomic MPI_Offset position;
	MPI_Win pointer; /* the shared one, of several processes */
	/* Operations that were started and are not done. */
	_Atomic int pending;
	/* Nonblocking collective ones are done one after the other, each by a
	 * task, since all members have to do them in the same order. */
	struct {
		struct vm_lock lock; /* guards: */
		uint32_t started, finished;
		struct vm_list waiters;
	} turns;
	/* The split collective access that has begun: 0, or the call. */
	struct {
		int call;
		struct vm_io_op *op;
	} split;
};

/* Returns the file of a handle, or NULL. */
static inline struct vm_file *vm_file_get(MPI_File handle)
{
	return vm_object_of(handle, VM_MAGIC_FILE);
}

/* Checks a file's handle; sets *file on success. */
int vm_check_file(struct vm_call *call, MPI_File handle, struct vm_file **file);

/* Checks that the file may be written. */
int vm_check_file_writes(struct vm_call *call, const struct vm_file *file);
/* Checks that the file was not opened with MPI_MODE_SEQUENTIAL. */
int vm_check_file_seeks(struct vm_call *call, const struct vm_file *file);

/* Checks that no split access has begun, and waits until all that was started is
 * done, which programs should have waited for.  May switch. */
int vm_check_file_rests(struct vm_call *call, struct vm_file *file);

/* A nonblocking collective operation takes its turn when it is called, and waits
 * until those before it have ended theirs.  May switch. */
uint32_t vm_file_turn_take(struct vm_file *file);
void vm_file_turn_wait(struct vm_file *file, uint32_t turn);
void vm_file_turn_end(struct vm_file *file);

/* Waits until all of them are done: before anything else that all members do
 * together.  May switch. */
void vm_file_turns_wait(struct vm_file *file);

/* Where a file pointer is after a seek: 0 with *to, or an MPI error. */
int vm_file_seek(struct vm_call *call, const struct vm_file *file,
		 MPI_Offset current, MPI_Offset offset, int whence,
		 MPI_Offset *to);

/* The slow path of vm_file_exit(). */
int vm_file_fail(struct vm_call *call, MPI_File handle, int rc);

/* Returns the result of an entry: as vm_call_exit(), with the error handler of
 * the file, or of MPI_FILE_NULL. */
static inline int vm_file_exit(struct vm_call *call, MPI_File handle, int rc)
{
	if (VM_LIKELY(rc == MPI_SUCCESS))
		return MPI_SUCCESS;
	return vm_file_fail(call, handle, rc);
}

/* Frees what a file holds, except itself: 0 or an errno. */
int vm_file_clear(struct vm_mpi *mpi, struct vm_file *file);

#endif
