/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Views and individual file pointers: the calls.
 */
#include <stdio.h>
#include <string.h>

#include "mpi/io/access.h"
#include "mpi/io/agree.h"
#include "mpi/io/datarep.h"
#include "mpi/io/disk.h"
#include "mpi/io/move.h"
#include "mpi/io/pointer.h"

static int check_disp(struct vm_call *call, const struct vm_file *file,
		      MPI_Offset disp)
{
	bool sequential = file->amode & MPI_MODE_SEQUENTIAL;

	if (sequential && disp != MPI_DISPLACEMENT_CURRENT)
		return vm_error(call, MPI_ERR_DISP,
				"disp must be MPI_DISPLACEMENT_CURRENT: the "
				"file was opened with MPI_MODE_SEQUENTIAL");
	if (disp < 0 && !sequential)
		return vm_error(call, MPI_ERR_DISP, "disp %lld is %s",
				(long long)disp,
				disp == MPI_DISPLACEMENT_CURRENT ?
					"only for MPI_MODE_SEQUENTIAL" :
					"negative");
	return 0;
}

/* Both file pointers go to the begin of the new view, while all members are
 * here; which is where the shared one was, if that is asked for.  *plain: no
 * member writes gaps back. */
static int pointers_reset(struct vm_call *call, struct vm_file *file,
			  struct vm_view *view, bool gaps, bool *plain)
{
	MPI_Offset unit = (MPI_Offset)file->view.unit, current = 0;
	int rc = 0;

	if (view->disp == MPI_DISPLACEMENT_CURRENT) {
		rc = vm_pointer_move(call, file, 0, &current);
		current = vm_view_place(&file->view, current * unit);
		vm_view_shift(view, current);
		rc = vm_io_agree(call, file, 0, "nothing", rc);
	}
	if (rc == 0 && file->comm.rank == 0)
		rc = vm_pointer_set(call, file, 0);
	if (rc == 0)
		atomic_store_explicit(&file->position, 0, memory_order_relaxed);
	return vm_io_agree_all(call, file, !gaps, plain, rc);
}

/* Whether what lies behind `bytes` of data is written back: the next ones are
 * `step` bytes behind these. */
static bool gap_fills(ptrdiff_t step, size_t bytes)
{
	return step > (ptrdiff_t)bytes && vm_move_fills((size_t)step, bytes, 1);
}

/* Whether some of what lies between the pieces is. */
static bool gaps_fill(const struct vm_layout *layout)
{
	for (size_t r = 0; r < layout->run_count; r++) {
		const struct vm_run *run = &layout->runs[r];
		ptrdiff_t last =
			run->offset + (ptrdiff_t)(run->count - 1) * run->stride;
		ptrdiff_t next =
			r + 1 < layout->run_count ?
				run[1].offset :
				layout->runs[0].offset + layout->extent;

		if (gap_fills(next - last, run->bytes) ||
		    (run->count > 1 && gap_fills(run->stride, run->bytes)))
			return true;
	}
	return false;
}

/* Whether writes in a view may write back what lies between their bytes. */
static bool writes_gaps(const struct vm_file *file, const struct vm_view *view,
			const struct vm_io_hints *hints)
{
	return view->layout && (file->amode & MPI_MODE_RDWR) &&
	       hints->ds_write != VM_IO_DISABLE && gaps_fill(view->layout);
}

int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype,
		       MPI_Datatype filetype, const char *datarep,
		       MPI_Info info)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_set_view);
	struct vm_file *file;
	struct vm_view view = { 0 };
	struct vm_io_hints hints;
	const struct vm_datarep *rep;
	struct vm_type *e, *f;
	int rc = vm_check_file(&call, fh, &file);
	bool plain = true;

	if (rc != 0)
		return vm_file_exit(&call, fh, rc);
	hints = file->hints;
	rc = check_disp(&call, file, disp);
	if (rc == 0)
		rc = vm_check_committed(&call, etype, &e);
	if (rc == 0)
		rc = vm_check_committed(&call, filetype, &f);
	if (rc == 0)
		rc = vm_check_pointer(&call, datarep, "datarep");
	if (rc == 0)
		rc = vm_datarep_find(&call, datarep, &rep);
	if (rc == 0)
		rc = vm_io_hints_take(&call, &hints, info);
	if (rc == 0)
		rc = vm_check_file_rests(&call, file);
	if (rc == 0)
		rc = vm_view_init(&call, &view, disp, e, f, rep,
				  !(file->amode & MPI_MODE_RDONLY));
	rc = vm_io_agree(&call, file, rc ? 0 : (int64_t)e->size,
			 "bytes in its etype", rc);
	if (rc == 0)
		rc = pointers_reset(&call, file, &view,
				    writes_gaps(file, &view, &hints), &plain);
	if (rc != 0) {
		vm_view_fini(&view);
		return vm_file_exit(&call, fh, rc);
	}
	vm_view_fini(&file->view);
	file->view = view;
	file->hints = hints;
	if (!plain)
		atomic_store_explicit(&file->disk->sieves, true,
				      memory_order_relaxed);
	snprintf(file->datarep, sizeof(file->datarep), "%s", datarep);
	return MPI_SUCCESS;
}

int PMPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype,
		       MPI_Datatype *filetype, char *datarep)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_get_view);
	struct vm_file *file;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_check_pointer(&call, disp, "disp");
	if (rc == 0)
		rc = vm_check_pointer(&call, etype, "etype");
	if (rc == 0)
		rc = vm_check_pointer(&call, filetype, "filetype");
	if (rc == 0)
		rc = vm_check_pointer(&call, datarep, "datarep");
	if (rc == 0) {
		*disp = file->view.disp;
		*etype = vm_type_give(file->view.etype);
		*filetype = vm_type_give(file->view.filetype);
		memcpy(datarep, file->datarep, strlen(file->datarep) + 1);
	}
	return vm_file_exit(&call, fh, rc);
}

/* Where an offset counts from. */
static int whence_base(struct vm_call *call, const struct vm_file *file,
		       MPI_Offset current, int whence, MPI_Offset *base)
{
	MPI_Offset size;
	int error;

	switch (whence) {
	case MPI_SEEK_SET:
		*base = 0;
		return 0;
	case MPI_SEEK_CUR:
		*base = current;
		return 0;
	case MPI_SEEK_END:
		error = vm_disk_size(file->disk, &size);
		if (error)
			return vm_disk_fail(call, error, "fstat");
		*base = vm_view_behind(&file->view, size);
		return 0;
	default:
		return vm_error(call, MPI_ERR_ARG,
				"whence %d is none of MPI_SEEK_SET, _CUR and "
				"_END",
				whence);
	}
}

int vm_file_seek(struct vm_call *call, const struct vm_file *file,
		 MPI_Offset current, MPI_Offset offset, int whence,
		 MPI_Offset *to)
{
	MPI_Offset base = 0;
	int rc = whence_base(call, file, current, whence, &base);

	if (rc == 0 && (__builtin_add_overflow(base, offset, to) || *to < 0))
		rc = vm_error(call, MPI_ERR_ARG,
			      "offset %lld leads out of the file",
			      (long long)offset);
	return rc;
}

int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_seek);
	struct vm_file *file;
	MPI_Offset current, to;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_check_file_seeks(&call, file);
	if (rc != 0)
		return vm_file_exit(&call, fh, rc);
	current = atomic_load_explicit(&file->position, memory_order_relaxed);
	rc = vm_file_seek(&call, file, current, offset, whence, &to);
	if (rc == 0)
		atomic_store_explicit(&file->position, to,
				      memory_order_relaxed);
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_get_position);
	struct vm_file *file;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_check_file_seeks(&call, file);
	if (rc == 0)
		rc = vm_check_pointer(&call, offset, "offset");
	if (rc == 0)
		*offset = atomic_load_explicit(&file->position,
					       memory_order_relaxed);
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
	struct vm_call call = vm_call_enter(VM_CALL_File_get_byte_offset);
	struct vm_file *file;
	MPI_Offset byte = 0;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_check_file_seeks(&call, file);
	if (rc == 0)
		rc = vm_check_pointer(&call, disp, "disp");
	if (rc == 0)
		rc = vm_check_offset(&call, file, offset, 1, &byte);
	if (rc == 0)
		*disp = vm_view_place(&file->view, byte);
	return vm_file_exit(&call, fh, rc);
}

static int type_extent(enum vm_call_id id, MPI_File fh, MPI_Datatype datatype,
		       MPI_Count *extent)
{
	struct vm_call call = vm_call_enter(id);
	struct vm_file *file;
	struct vm_type *type, *in_file;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_check_type(&call, datatype, &type);
	if (rc == 0)
		rc = vm_check_pointer(&call, extent, "extent");
	if (rc == 0)
		rc = vm_datarep_type(&call, file->view.rep, type, &in_file);
	if (rc == 0) {
		*extent = in_file->extent;
		vm_type_drop(in_file);
	}
	return vm_file_exit(&call, fh, rc);
}

int PMPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype,
			      MPI_Aint *extent)
{
	MPI_Count wide = 0;
	int rc = type_extent(VM_CALL_File_get_type_extent, fh, datatype,
			     extent ? &wide : NULL);

	if (rc == MPI_SUCCESS)
		*extent = wide;
	return rc;
}

int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype,
				MPI_Count *extent)
{
	return type_extent(VM_CALL_File_get_type_extent_c, fh, datatype,
			   extent);
}
