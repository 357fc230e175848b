/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The size of a file, its state on the device, and atomic mode.
 *
 * What all members do together one of them does: member 0, or the first one of
 * each process.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/local/req.h"
#include "core/rank/state.h"
#include "core/runtime/helper.h"
#include "mpi/io/agree.h"
#include "mpi/io/disk.h"

int PMPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_get_size);
	struct vm_file *file;
	int error, rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_check_pointer(&call, size, "size");
	if (rc == 0) {
		error = vm_disk_size(file->disk, size);
		rc = error ? vm_disk_fail(&call, error, "fstat") : 0;
	}
	return vm_file_exit(&call, fh, rc);
}

static int truncate_to(const struct vm_disk *disk, MPI_Offset size)
{
	int rc;

	do
		rc = ftruncate(disk->fd, size);
	while (rc != 0 && errno == EINTR);
	return rc ? errno : 0;
}

/* Where the file system cannot do it, the C library writes. */
static int allocate_to(const struct vm_disk *disk, MPI_Offset size)
{
	int rc;

	if (!size)
		return 0;
	do
		rc = posix_fallocate(disk->fd, 0, size);
	while (rc == EINTR);
	return rc;
}

/* MPI_File_set_size and MPI_File_preallocate. */
static int size_change(enum vm_call_id id, MPI_File fh, MPI_Offset size,
		       const char *doing,
		       int (*change)(const struct vm_disk *, MPI_Offset))
{
	struct vm_call call = vm_call_enter(id);
	struct vm_file *file;
	int error, rc = vm_check_file(&call, fh, &file);

	if (rc != 0)
		return vm_file_exit(&call, fh, rc);
	rc = vm_check_file_writes(&call, file);
	if (rc == 0)
		rc = vm_check_file_seeks(&call, file);
	if (rc == 0 && size < 0)
		rc = vm_error(&call, MPI_ERR_ARG, "size %lld is negative",
			      (long long)size);
	rc = vm_io_agree(&call, file, size, "size", rc);
	if (rc != 0)
		return vm_file_exit(&call, fh, rc);
	if (file->comm.rank == 0) {
		error = change(file->disk, size);
		rc = error ? vm_disk_fail(&call, error, doing) : 0;
	}
	rc = vm_io_agree(&call, file, 0, "nothing", rc);
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_set_size(MPI_File fh, MPI_Offset size)
{
	return size_change(VM_CALL_File_set_size, fh, size, "ftruncate",
			   truncate_to);
}

int PMPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
	return size_change(VM_CALL_File_preallocate, fh, size,
			   "posix_fallocate", allocate_to);
}

/* What a helper does while the ranks of the worker go on. */
struct file_flush {
	struct vm_helper_job job; /* first */
	const struct vm_disk *disk;
	struct vm_req *req;
	int error; /* an errno */
};

static void flush_run(struct vm_helper_job *job)
{
	struct file_flush *flush = (struct file_flush *)job;

	/* Files that have no device cannot, nor need to, be synchronised. */
	if (fsync(flush->disk->fd) != 0 && errno != EINVAL && errno != EROFS)
		flush->error = errno;
	vm_req_complete(flush->req);
}

/* Sees to it that what is in the kernel gets to the device. */
static int flush_wait(struct vm_call *call, const struct vm_disk *disk)
{
	struct file_flush flush = { .job = { .run = flush_run },
				    .disk = disk,
				    .req = vm_req_new(VM_REQ_GENERAL) };

	if (!flush.req)
		return MPI_ERR_NO_MEM;
	vm_helper_do(vm_node->helpers, &flush.job);
	vm_req_await(&flush.req, 1, 1);
	vm_req_finish(flush.req, NULL);
	return flush.error ? vm_disk_fail(call, flush.error, "fsync") : 0;
}

/* What all members have written until now is in the kernel. */
int PMPI_File_sync(MPI_File fh)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_sync);
	struct vm_file *file;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_io_agree(&call, file, 0, "nothing", rc);
	if (rc != 0)
		return vm_file_exit(&call, fh, rc);
	if (file->leads)
		rc = flush_wait(&call, file->disk);
	rc = vm_io_agree(&call, file, 0, "nothing", rc);
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_set_atomicity);
	struct vm_file *file;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_io_agree(&call, file, flag != 0, "flag", rc);
	if (rc == 0)
		file->atomic = flag != 0;
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_get_atomicity);
	struct vm_file *file;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc == 0)
		*flag = file->atomic;
	return vm_file_exit(&call, fh, rc);
}
