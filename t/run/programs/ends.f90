! SPDX-License-Identifier: BSD-3-Clause
! The ways in which a program of Fortran ends: what was written is there, and a
! rank that ends has not ended the others.
program ends
  implicit none
  include 'mpif.h'
  integer :: rank, ierror
  character(len=10) :: way
  real :: x
  integer, allocatable :: nothing(:)

  call get_command_argument(1, way)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  open (unit=11, file='ends.'//achar(iachar('0') + rank))
  write (11, '(a,i0)') 'rank ', rank
  print '(a,i0,2a)', 'rank ', rank, ' ', trim(way)
  if (way == 'mpi') then
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank == 1) call MPI_Abort(MPI_COMM_WORLD, 6, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end if
  if (way /= 'early') call MPI_Finalize(ierror)
  select case (way)
  case ('stop')
    stop
  case ('code')
    if (rank == 1) stop 3
  case ('error')
    if (rank == 1) error stop 'no more'
  case ('exit')
    if (rank == 1) call exit(4)
    call exit
  case ('runtime')
    if (rank == 1) read (*, *, iostat=ierror) x
    if (rank == 1) read (99, *) x
  case ('abort')
    if (rank == 1) call abort
  case ('early')
    if (rank == 1) stop 5
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  case ('end')
    if (rank == 1) allocate (nothing(10))
  end select
end program ends
