/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads, for int and MPI_Count (mpi/call/twin.h).
 */
#include "mpi/call/twin.h"
#include "mpi/io/access.h"

int VM_TWIN(PMPI_File_read)(MPI_File fh, void *buf, vm_count count,
			    MPI_Datatype datatype, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_read));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_OWN,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype };

	return vm_io_now(&call, &args, status);
}

int VM_TWIN(PMPI_File_read_at)(MPI_File fh, MPI_Offset offset, void *buf,
			       vm_count count, MPI_Datatype datatype,
			       MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_read_at));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_AT,
				   .offset = offset,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype };

	return vm_io_now(&call, &args, status);
}

int VM_TWIN(PMPI_File_read_all)(MPI_File fh, void *buf, vm_count count,
				MPI_Datatype datatype, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_read_all));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_OWN,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype,
				   .all = VM_TWIN(VM_CALL_File_read_all) -
					  VM_TWIN_AFTER };

	return vm_io_now(&call, &args, status);
}

int VM_TWIN(PMPI_File_read_at_all)(MPI_File fh, MPI_Offset offset, void *buf,
				   vm_count count, MPI_Datatype datatype,
				   MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_read_at_all));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_AT,
				   .offset = offset,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype,
				   .all = VM_TWIN(VM_CALL_File_read_at_all) -
					  VM_TWIN_AFTER };

	return vm_io_now(&call, &args, status);
}

int VM_TWIN(PMPI_File_read_shared)(MPI_File fh, void *buf, vm_count count,
				   MPI_Datatype datatype, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_read_shared));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_SHARED,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype };

	return vm_io_now(&call, &args, status);
}

int VM_TWIN(PMPI_File_read_ordered)(MPI_File fh, void *buf, vm_count count,
				    MPI_Datatype datatype, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_read_ordered));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_SHARED,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype,
				   .all = VM_TWIN(VM_CALL_File_read_ordered) -
					  VM_TWIN_AFTER };

	return vm_io_now(&call, &args, status);
}

/* What is only started: with a request, or the first half of a split access. */
int VM_TWIN(PMPI_File_iread)(MPI_File fh, void *buf, vm_count count,
			     MPI_Datatype datatype, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_iread));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_OWN,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype };

	return vm_io_start(&call, &args, request);
}

int VM_TWIN(PMPI_File_iread_at)(MPI_File fh, MPI_Offset offset, void *buf,
				vm_count count, MPI_Datatype datatype,
				MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_iread_at));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_AT,
				   .offset = offset,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype };

	return vm_io_start(&call, &args, request);
}

int VM_TWIN(PMPI_File_iread_shared)(MPI_File fh, void *buf, vm_count count,
				    MPI_Datatype datatype, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_iread_shared));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_SHARED,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype };

	return vm_io_start(&call, &args, request);
}

int VM_TWIN(PMPI_File_iread_all)(MPI_File fh, void *buf, vm_count count,
				 MPI_Datatype datatype, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_iread_all));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_OWN,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype,
				   .all = VM_TWIN(VM_CALL_File_iread_all) -
					  VM_TWIN_AFTER };

	return vm_io_start(&call, &args, request);
}

int VM_TWIN(PMPI_File_iread_at_all)(MPI_File fh, MPI_Offset offset, void *buf,
				    vm_count count, MPI_Datatype datatype,
				    MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_File_iread_at_all));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_AT,
				   .offset = offset,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype,
				   .all = VM_TWIN(VM_CALL_File_iread_at_all) -
					  VM_TWIN_AFTER };

	return vm_io_start(&call, &args, request);
}

int VM_TWIN(PMPI_File_read_all_begin)(MPI_File fh, void *buf, vm_count count,
				      MPI_Datatype datatype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_File_read_all_begin));
	struct vm_io_args args = { .handle = fh,
				   .start = VM_IO_OWN,
				   .buf = buf,
				   .count = count,
				   .datatype = datatype,
				   .all = VM_TWIN(VM_CALL_File_read_all_begin) -
					  VM_TWIN_AFTER };

	return vm_io_begin(&call, &args);
}

int VM_TWIN(PMPI_File_read_at_all_begin)(MPI_File fh, MPI_Offset offset,
					 void *buf, vm_count count,
					 MPI_Datatype datatype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_File_read_at_all_begin));
	struct vm_io_args args = {
		.handle = fh,
		.start = VM_IO_AT,
		.offset = offset,
		.buf = buf,
		.count = count,
		.datatype = datatype,
		.all = VM_TWIN(VM_CALL_File_read_at_all_begin) - VM_TWIN_AFTER
	};

	return vm_io_begin(&call, &args);
}

int VM_TWIN(PMPI_File_read_ordered_begin)(MPI_File fh, void *buf,
					  vm_count count, MPI_Datatype datatype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_File_read_ordered_begin));
	struct vm_io_args args = {
		.handle = fh,
		.start = VM_IO_SHARED,
		.buf = buf,
		.count = count,
		.datatype = datatype,
		.all = VM_TWIN(VM_CALL_File_read_ordered_begin) - VM_TWIN_AFTER
	};

	return vm_io_begin(&call, &args);
}
