! SPDX-License-Identifier: BSD-3-Clause
!
! Files by module mpi_f08: views, collective, nonblocking, split and shared
! accesses, error handlers and representations of data that are Fortran's.
module callbacks
	use mpi_f08
	use, intrinsic :: iso_c_binding
	implicit none
	integer :: raised = 0, extents = 0
contains
	subroutine handler(file, error_code)
		type(MPI_File) :: file
		integer :: error_code
		raised = error_code
	end subroutine

	subroutine extent_of(datatype, extent, extra_state, ierror)
		type(MPI_Datatype) :: datatype
		integer(MPI_ADDRESS_KIND) :: extent, extra_state
		integer :: ierror
		extent = 4
		extents = extents + int(extra_state)
		ierror = MPI_SUCCESS
	end subroutine

	! Every number is written as its opposite.
	subroutine opposite(userbuf, datatype, count, filebuf, position, &
			    extra_state, ierror)
		type(c_ptr), value :: userbuf, filebuf
		type(MPI_Datatype) :: datatype
		integer :: count, ierror
		integer(MPI_OFFSET_KIND) :: position
		integer(MPI_ADDRESS_KIND) :: extra_state
		integer, pointer :: user(:), file(:)
		call c_f_pointer(userbuf, user, [int(position) + count])
		call c_f_pointer(filebuf, file, [count])
		file(1:count) = -user(position + 1:position + count)
		ierror = MPI_SUCCESS
	end subroutine

	subroutine back(userbuf, datatype, count, filebuf, position, &
			extra_state, ierror)
		type(c_ptr), value :: userbuf, filebuf
		type(MPI_Datatype) :: datatype
		integer :: count, ierror
		integer(MPI_OFFSET_KIND) :: position
		integer(MPI_ADDRESS_KIND) :: extra_state
		integer, pointer :: user(:), file(:)
		call c_f_pointer(userbuf, user, [int(position) + count])
		call c_f_pointer(filebuf, file, [count])
		user(position + 1:position + count) = -file(1:count)
		ierror = MPI_SUCCESS
	end subroutine
end module

program files
	use callbacks
	implicit none
	integer, parameter :: n = 12
	type(MPI_File) :: fh, none
	type(MPI_Status) :: status
	type(MPI_Datatype) :: part, e, f
	type(MPI_Request) :: request
	type(MPI_Errhandler) :: errh
	type(MPI_Info) :: info
	integer :: rank, size, i, got, ierror, out(n), in(n)
	integer, asynchronous :: later(n)
	integer(MPI_OFFSET_KIND) :: bytes, disp
	character(len=MPI_MAX_DATAREP_STRING) :: rep
	character(len=64) :: word
	logical :: flag

	call MPI_Init()
	call MPI_Comm_rank(MPI_COMM_WORLD, rank)
	call MPI_Comm_size(MPI_COMM_WORLD, size)
	out = [(100 * rank + i, i = 1, n)]

	call MPI_Info_create(info)
	call MPI_Info_set(info, 'cb_buffer_size', '65536')
	call MPI_File_open(MPI_COMM_WORLD, 'files.data', &
			   MPI_MODE_RDWR + MPI_MODE_CREATE + &
			   MPI_MODE_DELETE_ON_CLOSE, info, fh, ierror)
	call check(ierror == MPI_SUCCESS, 'open')
	call MPI_Info_free(info)
	call MPI_File_get_info(fh, info)
	call MPI_Info_get(info, 'cb_buffer_size', 60, word, flag)
	call check(flag .and. word == '65536', 'info')

	! Columns of a matrix, one to a rank in turn.
	call MPI_Type_create_subarray(2, [3, size], [3, 1], [0, rank], &
				      MPI_ORDER_FORTRAN, MPI_INTEGER, part)
	call MPI_Type_commit(part)
	disp = 8
	call MPI_File_set_view(fh, disp, MPI_INTEGER, part, 'native', &
			       MPI_INFO_NULL)
	call MPI_File_write_all(fh, out, n, MPI_INTEGER, status)
	call MPI_Get_count(status, MPI_INTEGER, got)
	call check(got == n, 'write_all')
	call MPI_File_get_view(fh, disp, e, f, rep)
	call check(disp == 8 .and. e == MPI_INTEGER .and. rep == 'native', &
		   'view')
	disp = 0
	later = 0
	call MPI_File_iread_at(fh, disp, later, n, MPI_INTEGER, request)
	call MPI_Wait(request, status)
	call check(all(later == out), 'iread_at')
	call MPI_File_read_at_all_begin(fh, disp, later, n, MPI_INTEGER)
	call MPI_File_read_at_all_end(fh, later, status)
	call check(all(later == out), 'split')
	call MPI_File_get_size(fh, bytes)
	call check(bytes == 8 + 4 * n * size, 'size')

	! A section of an array, and the shared pointer.
	disp = 0
	call MPI_File_set_view(fh, disp, MPI_INTEGER, MPI_INTEGER, 'native', &
			       MPI_INFO_NULL)
	call MPI_File_write_ordered(fh, out(1:n:2), n / 2, MPI_INTEGER, status)
	call MPI_File_get_position_shared(fh, disp)
	call check(disp == size * n / 2, 'shared pointer')
	disp = rank * n / 2
	call MPI_File_read_at(fh, disp, in, n / 2, MPI_INTEGER, status)
	call check(all(in(1:n / 2) == out(1:n:2)), 'section')

	call MPI_File_create_errhandler(handler, errh)
	call MPI_File_set_errhandler(fh, errh)
	disp = -1
	call MPI_File_seek(fh, disp, MPI_SEEK_SET, ierror)
	call check(raised == MPI_ERR_ARG, 'error handler')
	call MPI_Errhandler_free(errh)
	call MPI_File_open(MPI_COMM_SELF, 'not/there', MPI_MODE_RDONLY, &
			   MPI_INFO_NULL, none, ierror)
	call check(ierror == MPI_ERR_NO_SUCH_FILE, 'no such file')

	call MPI_Register_datarep('opposite', back, opposite, extent_of, &
				  1_MPI_ADDRESS_KIND)
	disp = rank * 4 * n
	call MPI_File_set_view(fh, disp, MPI_INTEGER, MPI_INTEGER, 'opposite', &
			       MPI_INFO_NULL)
	disp = 0
	call MPI_File_write_at(fh, disp, out, n, MPI_INTEGER, status)
	call MPI_File_read_at(fh, disp, in, n, MPI_INTEGER, status)
	call check(all(in == out) .and. extents > 0, 'representation')
	disp = rank * 4 * n
	call MPI_File_set_view(fh, disp, MPI_INTEGER, MPI_INTEGER, 'native', &
			       MPI_INFO_NULL)
	disp = 0
	call MPI_File_read_at(fh, disp, in, n, MPI_INTEGER, status)
	call check(all(in == -out), 'what is in the file')

	call MPI_File_close(fh)
	call MPI_Type_free(part)
	call MPI_Finalize()
	print '(a, i0)', 'done ', rank
contains
	subroutine check(held, what)
		logical, intent(in) :: held
		character(len=*), intent(in) :: what
		if (.not. held) then
			print '(a, i0, 2a)', 'rank ', rank, ': ', what
			call MPI_Abort(MPI_COMM_WORLD, 1)
		end if
	end subroutine
end program
