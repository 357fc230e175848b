/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of files, their errors, groups, modes, info and error handlers.
 */
#include "mpi/io/file.h"

#include <stdlib.h>

#include "core/meeting/chan_make.h"
#include "core/local/req.h"
#include "mpi/call/errh.h"
#include "mpi/comm/group.h"
#include "mpi/io/agree.h"
#include "mpi/io/disk.h"

int vm_check_file(struct vm_call *call, MPI_File handle, struct vm_file **file)
{
	*file = vm_file_get(handle);
	if (VM_LIKELY(*file != NULL))
		return 0;
	return vm_error(call, MPI_ERR_FILE,
			handle == MPI_FILE_NULL ?
				"MPI_FILE_NULL" :
				"not a file, or it was closed");
}

int vm_check_file_writes(struct vm_call *call, const struct vm_file *file)
{
	if (!(file->amode & MPI_MODE_RDONLY))
		return 0;
	return vm_error(call, MPI_ERR_READ_ONLY,
			"the file was opened with MPI_MODE_RDONLY");
}

int vm_check_file_seeks(struct vm_call *call, const struct vm_file *file)
{
	if (!(file->amode & MPI_MODE_SEQUENTIAL))
		return 0;
	return vm_error(call, MPI_ERR_UNSUPPORTED_OPERATION,
			"the file was opened with MPI_MODE_SEQUENTIAL");
}

int vm_check_file_rests(struct vm_call *call, struct vm_file *file)
{
	if (file->split.call)
		return vm_error(
			call, MPI_ERR_OTHER, "what %s began has not ended",
			vm_call_name((enum vm_call_id)file->split.call));
	vm_file_turns_wait(file);
	/* Pairs with the end of a started operation. */
	while (atomic_load_explicit(&file->pending, memory_order_acquire))
		vm_req_poll();
	return 0;
}

/* A task that waits; on its stack. */
struct turn_waiter {
	struct vm_list link;
	struct vm_ult *ult;
};

uint32_t vm_file_turn_take(struct vm_file *file)
{
	uint32_t turn;

	vm_lock_take(&file->turns.lock);
	turn = file->turns.started++;
	vm_lock_give(&file->turns.lock);
	return turn;
}

void vm_file_turn_wait(struct vm_file *file, uint32_t turn)
{
	struct turn_waiter waiter = { .ult = vm_self };

	for (;;) {
		bool come;

		vm_lock_take(&file->turns.lock);
		come = (int32_t)(file->turns.finished - turn) >= 0;
		if (!come)
			vm_list_append(&file->turns.waiters, &waiter.link);
		vm_lock_give(&file->turns.lock);
		if (come)
			return;
		vm_wait_other(VM_EXPORT_WAIT);
	}
}

void vm_file_turn_end(struct vm_file *file)
{
	struct vm_list *link;

	vm_lock_take(&file->turns.lock);
	file->turns.finished++;
	/* A waiter is gone once its task runs. */
	while ((link = vm_list_pop(&file->turns.waiters)))
		vm_ult_wake(
			vm_container_of(link, struct turn_waiter, link)->ult);
	vm_lock_give(&file->turns.lock);
}

void vm_file_turns_wait(struct vm_file *file)
{
	uint32_t turn;

	vm_lock_take(&file->turns.lock);
	turn = file->turns.started;
	vm_lock_give(&file->turns.lock);
	vm_file_turn_wait(file, turn);
}

int vm_file_fail(struct vm_call *call, MPI_File handle, int rc)
{
	struct vm_file *file = vm_file_get(handle);

	if (file)
		return vm_call_fail_on(call, file->errh, &handle, file->name,
				       rc);
	handle = MPI_FILE_NULL;
	return vm_call_fail_on(call, call->mpi->file_errh, &handle,
			       "MPI_FILE_NULL", rc);
}

int vm_file_clear(struct vm_mpi *mpi, struct vm_file *file)
{
	int error = 0;

	if (file->disk)
		error = vm_disk_drop(file->disk);
	vm_view_fini(&file->view);
	if (file->errh)
		vm_errh_drop(mpi, file->errh);
	vm_chan_free(file->comm.chan);
	free(file->split.op);
	free(file->name);
	return error;
}

int PMPI_File_get_group(MPI_File fh, MPI_Group *group)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_get_group);
	struct vm_file *file;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_check_pointer(&call, group, "group");
	if (rc == 0)
		rc = vm_mpi_group_new(call.mpi, group,
				      vm_group_hold(file->comm.chan->group),
				      file->comm.rank);
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_get_amode(MPI_File fh, int *amode)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_get_amode);
	struct vm_file *file;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_check_pointer(&call, amode, "amode");
	if (rc == 0)
		*amode = file->amode;
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_set_info);
	struct vm_file *file;
	struct vm_io_hints hints;
	bool sieve;
	int rc = vm_check_file(&call, fh, &file);

	if (rc != 0)
		return vm_file_exit(&call, fh, rc);
	hints = file->hints;
	rc = vm_io_hints_take(&call, &hints, info);
	rc = vm_io_agree_all(&call, file, hints.ds_write == VM_IO_ENABLE,
			     &sieve, rc);
	if (rc == 0) {
		file->hints = hints;
		if (sieve)
			atomic_store_explicit(&file->disk->sieves, true,
					      memory_order_relaxed);
	}
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_get_info(MPI_File fh, MPI_Info *info_used)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_get_info);
	struct vm_file *file;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_check_pointer(&call, info_used, "info_used");
	if (rc == 0)
		rc = vm_io_hints_give(&call, &file->hints, file->name,
				      info_used);
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_create_errhandler(MPI_File_errhandler_function *function,
				MPI_Errhandler *errhandler)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_create_errhandler);
	struct vm_errh user = { .of = VM_ERRH_OF_FILE,
				.function.file = function };

	return vm_call_exit_self(&call, vm_errh_make(&call, errhandler, &user));
}

/* The error handler of a file, or that of MPI_FILE_NULL, which files get when
 * they are opened. */
static int errh_of(struct vm_call *call, MPI_File handle,
		   struct vm_errh ***errh)
{
	struct vm_file *file;
	int rc;

	*errh = &call->mpi->file_errh;
	if (handle == MPI_FILE_NULL)
		return 0;
	rc = vm_check_file(call, handle, &file);
	if (rc == 0)
		*errh = &file->errh;
	return rc;
}

int PMPI_File_set_errhandler(MPI_File fh, MPI_Errhandler errhandler)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_set_errhandler);
	struct vm_errh **errh;
	int rc = errh_of(&call, fh, &errh);

	if (rc == 0)
		rc = vm_errh_put(&call, errh, VM_ERRH_OF_FILE, errhandler);
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_get_errhandler(MPI_File fh, MPI_Errhandler *errhandler)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_get_errhandler);
	struct vm_errh **errh;
	int rc = errh_of(&call, fh, &errh);

	if (rc == 0)
		rc = vm_errh_get(&call, *errh, errhandler);
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_call_errhandler(MPI_File fh, int errorcode)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_call_errhandler);
	struct vm_errh **errh;
	int rc = errh_of(&call, fh, &errh);

	if (rc == 0)
		rc = vm_check_raised(&call, errorcode);
	if (rc != 0)
		return vm_file_exit(&call, fh, rc);
	vm_file_exit(&call, fh, errorcode);
	return MPI_SUCCESS;
}
