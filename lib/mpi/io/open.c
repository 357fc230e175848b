/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening, closing and deleting files.
 *
 * Member 0 opens the file first, and makes it if that is asked for; then the
 * first member of each other process.  Each step ends with an agreement, so that
 * no member waits for one that has failed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/meeting/chan_make.h"
#include "core/rank/state.h"
#include "mpi/call/errh.h"
#include "mpi/call/info.h"
#include "mpi/io/agree.h"
#include "mpi/io/disk.h"
#include "mpi/io/pointer.h"

#define WAYS (MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY)
#define MODES                                                                \
	(WAYS | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | \
	 MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND)

/* MPI 4.1, 14.2.1. */
static int check_amode(struct vm_call *call, int amode)
{
	int way = amode & WAYS;

	if (amode & ~MODES)
		return vm_error(call, MPI_ERR_AMODE,
				"amode %#x has unknown bits %#x",
				(unsigned)amode, (unsigned)(amode & ~MODES));
	if (way != MPI_MODE_RDONLY && way != MPI_MODE_RDWR &&
	    way != MPI_MODE_WRONLY)
		return vm_error(call, MPI_ERR_AMODE,
				"amode has none or several of MPI_MODE_RDONLY, "
				"_RDWR and _WRONLY");
	if (way == MPI_MODE_RDONLY &&
	    (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
		return vm_error(call, MPI_ERR_AMODE,
				"MPI_MODE_%s with MPI_MODE_RDONLY",
				amode & MPI_MODE_CREATE ? "CREATE" : "EXCL");
	if (way == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL))
		return vm_error(call, MPI_ERR_AMODE,
				"MPI_MODE_SEQUENTIAL with MPI_MODE_RDWR");
	return 0;
}

/* Whether no member before this one is in this process. */
static bool is_first_here(const struct vm_comm *comm)
{
	for (int i = 0; i < comm->rank; i++)
		if (vm_rank_here(comm->ranks[i]))
			return false;
	return true;
}

/* What a name before a colon says about the file system means nothing here:
 * "ufs:", "nfs:" and the like of ROMIO. */
static const char *without_system(const char *name)
{
	static const char *const systems[] = { "ufs:", "nfs:", "xfs:",
					       "lustre:", "testfs:" };

	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
		if (!strncmp(name, systems[i], strlen(systems[i])))
			return name + strlen(systems[i]);
	return name;
}

static int file_new(struct vm_call *call, struct vm_comm *parent, int amode,
		    struct vm_file **out)
{
	struct vm_chan *chan = NULL;
	struct vm_file *file;
	int rc = vm_comm_chan_split(call, parent, &chan, 0, 0);

	if (rc != 0)
		return rc;
	file = vm_object_new(call->mpi, VM_OBJECT_FILE, sizeof(*file));
	if (!file) {
		vm_chan_free(chan);
		return MPI_ERR_NO_MEM;
	}
	/* It has no handle yet. */
	vm_object_mark(&file->object, 0);
	vm_comm_init(&file->comm, chan);
	vm_lock_init(&file->turns.lock);
	vm_list_init(&file->turns.waiters);
	file->leads = is_first_here(&file->comm);
	file->leaders = MPI_COMM_NULL;
	file->amode = amode;
	file->errh = vm_errh_hold(call->mpi->file_errh);
	vm_io_hints_init(&file->hints);
	memcpy(file->datarep, "native", sizeof("native"));
	*out = file;
	return 0;
}

static int file_discard(struct vm_mpi *mpi, struct vm_file *file)
{
	int error = vm_file_clear(mpi, file);

	vm_object_free(mpi, VM_OBJECT_FILE, file);
	return error;
}

/* Opens the descriptor, in both steps: 0 or an MPI error, which all members
 * get. */
static int disk_open(struct vm_call *call, struct vm_file *file, int rc)
{
	const struct vm_comm *comm = &file->comm;
	int permissions = file->hints.permissions;
	bool sieve = false;

	if (rc == 0 && comm->rank == 0)
		rc = vm_disk_open(call, &file->disk, file->name, file->amode,
				  true, permissions);
	rc = vm_io_agree(call, file, file->amode, "amode", rc);
	if (rc != 0)
		return rc;
	if (comm->rank != 0 && file->leads)
		rc = vm_disk_open(call, &file->disk, file->name, file->amode,
				  false, permissions);
	if (rc == 0 && file->disk)
		file->disk->alone = !comm->chan->meet->leaders;
	rc = vm_io_agree_disk(call, file, rc);
	if (rc == 0)
		rc = vm_io_agree_all(call, file,
				     file->hints.ds_write == VM_IO_ENABLE,
				     &sieve, rc);
	if (rc == 0 && (sieve || file->disk->alone))
		atomic_store_explicit(&file->disk->sieves, true,
				      memory_order_relaxed);
	return rc;
}

/* The leaders of several processes have a communicator of their own. */
static int leaders_join(struct vm_call *call, struct vm_file *file,
			MPI_Comm comm)
{
	int rc;

	if (file->disk->alone)
		return 0;
	rc = PMPI_Comm_split(comm, file->leads ? 0 : MPI_UNDEFINED,
			     file->comm.rank, &file->leaders);
	vm_wait_in(vm_self, VM_CALL_MPI_FIRST + call->id);
	if (rc != MPI_SUCCESS)
		return vm_error(call, vm_error_class(rc),
				"no communicator for the processes");
	if (file->leads)
		PMPI_Comm_set_errhandler(file->leaders, MPI_ERRORS_RETURN);
	return 0;
}

static void leaders_part(struct vm_file *file)
{
	if (file->leaders != MPI_COMM_NULL)
		PMPI_Comm_free(&file->leaders);
}

/* Files that are appended to begin at their end. */
static int pointers_init(struct vm_call *call, struct vm_file *file,
			 MPI_Comm comm)
{
	MPI_Offset size = 0;
	int error = 0, made, rc = 0;

	if ((file->amode & MPI_MODE_APPEND) && !file->disk->stream)
		error = vm_disk_size(file->disk, &size);
	if (error)
		rc = vm_disk_fail(call, error, "fstat");
	atomic_init(&file->position, size);
	made = vm_pointer_init(call, file, comm, size);
	if (made == 0)
		made = leaders_join(call, file, comm);
	rc = vm_io_agree(call, file, 0, "nothing", rc ? rc : made);
	if (rc != 0 && made == 0)
		vm_pointer_fini(call, file);
	return rc;
}

static int file_open(struct vm_call *call, MPI_Comm handle,
		     struct vm_comm *comm, const char *filename, int amode,
		     MPI_Info info, MPI_File *fh)
{
	struct vm_type *byte = vm_type_get(MPI_BYTE);
	struct vm_file *file;
	int checked, rc = file_new(call, comm, amode, &file);

	if (rc != 0)
		return rc;
	/* From here on all members come to the same agreements. */
	checked = vm_check_pointer(call, fh, "fh");
	if (checked == 0)
		checked = vm_check_pointer(call, filename, "filename");
	if (checked == 0 && !*filename)
		checked = vm_error(call, MPI_ERR_BAD_FILE, "an empty name");
	if (checked == 0)
		checked = check_amode(call, amode);
	if (checked == 0)
		checked = vm_io_hints_take(call, &file->hints, info);
	if (checked == 0) {
		file->name = strdup(without_system(filename));
		checked = file->name ? 0 : MPI_ERR_NO_MEM;
	}
	if (checked == 0)
		checked = vm_view_init(call, &file->view, 0, byte, byte, NULL,
				       true);
	rc = disk_open(call, file, checked);
	if (rc == 0)
		rc = pointers_init(call, file, handle);
	if (rc != 0) {
		file_discard(call->mpi, file);
		return rc;
	}
	vm_object_mark(&file->object, VM_MAGIC_FILE);
	*fh = (MPI_File)file;
	return 0;
}

int PMPI_File_open(MPI_Comm comm, const char *filename, int amode,
		   MPI_Info info, MPI_File *fh)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_open);
	struct vm_comm *c;
	int rc = vm_check_together(&call, comm, &c);

	if (rc == 0)
		rc = file_open(&call, comm, c, filename, amode, info, fh);
	if (rc != 0 && fh)
		*fh = MPI_FILE_NULL;
	return vm_file_exit(&call, MPI_FILE_NULL, rc);
}

int PMPI_File_close(MPI_File *fh)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_close);
	struct vm_file *file;
	int error, rc = vm_check_pointer(&call, fh, "fh");

	if (rc != 0)
		return vm_file_exit(&call, MPI_FILE_NULL, rc);
	rc = vm_check_file(&call, *fh, &file);
	if (rc == 0)
		rc = vm_io_agree(&call, file, 0, "nothing",
				 vm_check_file_rests(&call, file));
	if (rc != 0)
		return vm_file_exit(&call, *fh, rc);
	/* All members have done what they do to the file. */
	if (file->amode & MPI_MODE_DELETE_ON_CLOSE) {
		if (file->comm.rank == 0 && unlink(file->name) != 0 &&
		    errno != ENOENT)
			rc = vm_disk_fail(&call, errno, file->name);
		rc = vm_io_agree(&call, file, 0, "nothing", rc);
	}
	vm_pointer_fini(&call, file);
	leaders_part(file);
	error = file_discard(call.mpi, file);
	*fh = MPI_FILE_NULL;
	if (rc == 0 && error)
		rc = vm_disk_fail(&call, error, "close");
	return vm_file_exit(&call, MPI_FILE_NULL, rc);
}

int PMPI_File_delete(const char *filename, MPI_Info info)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_delete);
	int rc = vm_check_pointer(&call, filename, "filename");

	if (rc == 0)
		rc = vm_check_hints(&call, info);
	if (rc == 0 && unlink(without_system(filename)) != 0)
		rc = vm_disk_fail(&call, errno, filename);
	return vm_file_exit(&call, MPI_FILE_NULL, rc);
}
