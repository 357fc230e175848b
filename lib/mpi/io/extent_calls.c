/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The extent of a datatype in a file, for int and MPI_Count (mpi/call/twin.h).
 */
#include "mpi/call/twin.h"
#include "mpi/io/datarep.h"
#include "mpi/io/file.h"

#ifdef VM_LARGE
typedef MPI_Count extent;
#else
typedef MPI_Aint extent;
#endif

int VM_TWIN(PMPI_File_get_type_extent)(MPI_File fh, MPI_Datatype datatype,
				       extent *out)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_File_get_type_extent));
	struct vm_file *file;
	struct vm_type *type, *in_file;
	int rc = vm_check_file(&call, fh, &file);

	if (rc == 0)
		rc = vm_check_type(&call, datatype, &type);
	if (rc == 0)
		rc = vm_check_pointer(&call, out, "extent");
	if (rc == 0)
		rc = vm_datarep_type(&call, file->view.rep, type, &in_file);
	if (rc == 0) {
		*out = in_file->extent;
		vm_type_drop(in_file);
	}
	return vm_file_exit(&call, fh, rc);
}
