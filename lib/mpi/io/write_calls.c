/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes, for int and MPI_Count (mpi/call/twin.h).
 */
#include "mpi/call/twin.h"
#include "mpi/io/access.h"

int VM_TWIN(PMPI_File_write)(MPI_File fh, const void *buf, vm_count count,
			     MPI_Datatype datatype, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_write));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_OWN,
				   .write = true,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype };

	return vm_io_now(&call, &args, status);
}

int VM_TWIN(PMPI_File_write_at)(MPI_File fh, MPI_Offset offset, const void *buf,
				vm_count count, MPI_Datatype datatype,
				MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_write_at));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_AT,
				   .write = true,
				   .offset = offset,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype };

	return vm_io_now(&call, &args, status);
}

int VM_TWIN(PMPI_File_write_all)(MPI_File fh, const void *buf, vm_count count,
				 MPI_Datatype datatype, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_write_all));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_OWN,
				   .write = true,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype,
				   .all = VM_TWIN(VM_CALL_File_write_all) -
					  VM_TWIN_AFTER };

	return vm_io_now(&call, &args, status);
}

int VM_TWIN(PMPI_File_write_at_all)(MPI_File fh, MPI_Offset offset,
				    const void *buf, vm_count count,
				    MPI_Datatype datatype, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_write_at_all));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_AT,
				   .write = true,
				   .offset = offset,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype,
				   .all = VM_TWIN(VM_CALL_File_write_at_all) -
					  VM_TWIN_AFTER };

	return vm_io_now(&call, &args, status);
}

int VM_TWIN(PMPI_File_write_shared)(MPI_File fh, const void *buf,
				    vm_count count, MPI_Datatype datatype,
				    MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_write_shared));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_SHARED,
				   .write = true,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype };

	return vm_io_now(&call, &args, status);
}

int VM_TWIN(PMPI_File_write_ordered)(MPI_File fh, const void *buf,
				     vm_count count, MPI_Datatype datatype,
				     MPI_Status *status)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_File_write_ordered));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_SHARED,
				   .write = true,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype,
				   .all = VM_TWIN(VM_CALL_File_write_ordered) -
					  VM_TWIN_AFTER };

	return vm_io_now(&call, &args, status);
}

/* What is only started: with a request, or the first half of a split access. */
int VM_TWIN(PMPI_File_iwrite)(MPI_File fh, const void *buf, vm_count count,
			      MPI_Datatype datatype, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_iwrite));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_OWN,
				   .write = true,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype };

	return vm_io_start(&call, &args, request);
}

int VM_TWIN(PMPI_File_iwrite_at)(MPI_File fh, MPI_Offset offset,
				 const void *buf, vm_count count,
				 MPI_Datatype datatype, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_iwrite_at));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_AT,
				   .write = true,
				   .offset = offset,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype };

	return vm_io_start(&call, &args, request);
}

int VM_TWIN(PMPI_File_iwrite_shared)(MPI_File fh, const void *buf,
				     vm_count count, MPI_Datatype datatype,
				     MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_File_iwrite_shared));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_SHARED,
				   .write = true,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype };

	return vm_io_start(&call, &args, request);
}

int VM_TWIN(PMPI_File_iwrite_all)(MPI_File fh, const void *buf, vm_count count,
				  MPI_Datatype datatype, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_iwrite_all));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_OWN,
				   .write = true,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype,
				   .all = VM_TWIN(VM_CALL_File_iwrite_all) -
					  VM_TWIN_AFTER };

	return vm_io_start(&call, &args, request);
}

int VM_TWIN(PMPI_File_iwrite_at_all)(MPI_File fh, MPI_Offset offset,
				     const void *buf, vm_count count,
				     MPI_Datatype datatype,
				     MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_File_iwrite_at_all));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_AT,
				   .write = true,
				   .offset = offset,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype,
				   .all = VM_TWIN(VM_CALL_File_iwrite_at_all) -
					  VM_TWIN_AFTER };

	return vm_io_start(&call, &args, request);
}

int VM_TWIN(PMPI_File_write_all_begin)(MPI_File fh, const void *buf,
				       vm_count count, MPI_Datatype datatype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_File_write_all_begin));
	struct vm_io_args args = {
		.handle = fh,
		.start = VM_IO_OWN,
		.write = true,
		.buf = buf,
		.count = count,
		.datatype = datatype,
		.all = VM_TWIN(VM_CALL_File_write_all_begin) - VM_TWIN_AFTER
	};

	return vm_io_begin(&call, &args);
}

int VM_TWIN(PMPI_File_write_at_all_begin)(MPI_File fh, MPI_Offset offset,
					  const void *buf, vm_count count,
					  MPI_Datatype datatype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_File_write_at_all_begin));
	struct vm_io_args args = {
		.handle = fh,
		.start = VM_IO_AT,
		.write = true,
		.offset = offset,
		.buf = buf,
		.count = count,
		.datatype = datatype,
		.all = VM_TWIN(VM_CALL_File_write_at_all_begin) - VM_TWIN_AFTER
	};

	return vm_io_begin(&call, &args);
}

int VM_TWIN(PMPI_File_write_ordered_begin)(MPI_File fh, const void *buf,
					   vm_count count,
					   MPI_Datatype datatype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_File_write_ordered_begin));
	struct vm_io_args args = {
		.handle = fh,
		.start = VM_IO_SHARED,
		.write = true,
		.buf = buf,
		.count = count,
		.datatype = datatype,
		.all = VM_TWIN(VM_CALL_File_write_ordered_begin) - VM_TWIN_AFTER
	};

	return vm_io_begin(&call, &args);
}
