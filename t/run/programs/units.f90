! SPDX-License-Identifier: BSD-3-Clause
! Units of Fortran's input and output: each rank has its own, and its own copy of
! what is saved.  What it prints does not depend on other ranks.
module state
  implicit none
  integer :: number = -1
  integer, allocatable :: table(:)
end module state

program units
  use state
  implicit none
  include 'mpif.h'
  integer :: rank, size, ierror, i, found, line
  integer :: width = 3
  real :: height = 1.5
  character(len=40) :: file, text, argument
  namelist /shape/ width, height
  integer :: shared
  common /block/ shared

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  number = rank
  shared = 10 * rank
  allocate (table(rank + 1))
  table = rank
  write (file, '(a,i0)') 'units.', rank
  ! All ranks have unit 10 open at the same time.
  open (unit=10, file=file, status='replace', action='readwrite')
  width = rank
  do line = 1, 3
    write (10, '(a,i0,a,i0)') 'rank ', rank, ' line ', line
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  write (10, nml=shape)
  width = -1
  rewind (10)
  do line = 1, 3
    read (10, '(a)') text
    write (argument, '(a,i0,a,i0)') 'rank ', rank, ' line ', line
    if (text /= argument) print '(a,i0,2a)', 'bad line of ', rank, ': ', text
  end do
  read (10, nml=shape)
  close (10, status='delete')
  if (width /= rank) print '(a,i0)', 'bad namelist of ', rank
  ! Direct access, and an internal unit.
  open (newunit=i, status='scratch', access='direct', recl=4)
  write (i, rec=rank + 1) rank
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  read (i, rec=rank + 1) found
  close (i)
  if (found /= rank) print '(a,i0)', 'bad record of ', rank
  if (number /= rank .or. shared /= 10 * rank .or. any(table /= rank)) &
    print '(a,i0)', 'bad variables of ', rank
  ! A line in pieces, while others do the same.
  write (*, '(a,i0)', advance='no') 'rank ', rank
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call get_command_argument(1, argument)
  write (*, '(a,i0,2a)') ' of ', size, ' ', trim(argument)
  call MPI_Finalize(ierror)
end program units
