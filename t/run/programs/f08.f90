! SPDX-License-Identifier: BSD-3-Clause
! Module mpi_f08: sections of arrays, large counts, optional arguments, handles
! with a type, and callbacks.  Prints what is wrong, and a line per rank.
module with_callbacks
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: calls = 0
contains
  subroutine add(in, inout, n, type)
    type(c_ptr), value :: in, inout
    integer :: n
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)

    call c_f_pointer(in, a, [n])
    call c_f_pointer(inout, b, [n])
    b = a + b
    if (type /= MPI_INTEGER) b = -1
  end subroutine add

  subroutine take(comm, code)
    type(MPI_Comm) :: comm
    integer :: code

    calls = code
    if (comm == MPI_COMM_NULL) calls = -1
  end subroutine take

  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what

    if (.not. good) print '(2a)', 'wrong: ', what
  end subroutine check
end module with_callbacks

program f08
  use with_callbacks
  implicit none
  integer :: rank, size, left, right

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  right = modulo(rank + 1, size)
  left = modulo(rank - 1, size)
  call sections
  call assumed(reshape([1, 2, 3, 4], [2, 2]))
  call kept
  call refused
  call others
  call numbers
  call buffers
  call attributes
  print '(a,i0)', 'done ', rank
  call MPI_Finalize()
contains
  ! An attribute that is not there is 0, as programs expect.
  subroutine attributes
    integer :: key
    integer(MPI_ADDRESS_KIND) :: value
    logical :: there

    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &
      MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    value = 7
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, there)
    call check(.not. there .and. value == 0, 'no attribute')
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 7_MPI_ADDRESS_KIND)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, there)
    call check(there .and. value == 7, 'an attribute')
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    call MPI_Comm_free_keyval(key)
  end subroutine attributes

  ! What is not contiguous is sent and received where it is.
  subroutine sections
    integer, asynchronous :: from(6, 5, 4), to(6, 5, 4)
    complex :: z(8), w(8)
    integer :: i, sum(4)
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: statuses(2)
    character(len=3), asynchronous :: words(6), got(6)

    from = reshape([(i, i=1, 120)], [6, 5, 4]) + 1000 * rank
    to = -1
    call MPI_Irecv(to(2:6:2, 5:1:-2, 1:4:3), 18, MPI_INTEGER, left, 1, &
      MPI_COMM_WORLD, requests(1))
    call MPI_Isend(from(2:6:2, 5:1:-2, 1:4:3), 18, MPI_INTEGER, right, 1, &
      MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    call check(all(to(2:6:2, 5:1:-2, 1:4:3) == from(2:6:2, 5:1:-2, 1:4:3) + &
      1000 * (left - rank)), 'a section of three dimensions')
    call check(count(to /= -1) == 18, 'what is beside a section')
    call check(statuses(1)%MPI_SOURCE == left .and. requests(1) == &
      MPI_REQUEST_NULL, 'statuses and requests')
    ! A part of a section: it ends within a row.
    to = -1
    call MPI_Sendrecv(from(1:5:2, 1:2, 1), 4, MPI_INTEGER, right, 2, &
      to(::3, :, 1), 4, MPI_INTEGER, left, 2, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
    call check(all([to(1, 1, 1), to(4, 1, 1), to(1, 2, 1), to(4, 2, 1)] == &
      [1, 3, 5, 7] + 1000 * left) .and. count(to /= -1) == 4, &
      'a part of a section')
    ! Elements of which the type has several, and several bytes.
    z = [(cmplx(i, rank), i=1, 8)]
    w = 0
    call MPI_Sendrecv(z(1:8:2), 8, MPI_REAL, right, 3, w(2:8:2), 4, &
      MPI_COMPLEX, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(w(2:8:2) == [(cmplx(i, left), i=1, 8, 2)]), 'complex')
    words = ['abc', 'def', 'ghi', 'jkl', 'mno', 'pqr']
    got = '-'
    call MPI_Sendrecv(words(6:1:-2), 9, MPI_CHARACTER, right, 4, got(::2), 9, &
      MPI_CHARACTER, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(got == ['pqr', '-  ', 'jkl', '-  ', 'def', '-  ']), &
      'characters')
    ! Operands are copied.
    from(:, 1, 1) = [1, 2, 3, 4, 5, 6]
    to = 0
    call MPI_Allreduce(from(1:6:2, 1, 1), to(1, 1:5:2, 1), 3, MPI_INTEGER, &
      MPI_SUM, MPI_COMM_WORLD)
    call check(all(to(1, 1:5:2, 1) == [1, 3, 5] * size), 'operands')
    call MPI_Bcast(to(2, :, 1), 5, MPI_INTEGER, 0, MPI_COMM_WORLD)
    sum = rank
    call MPI_Allreduce(MPI_IN_PLACE, sum(2:4:2), 2, MPI_INTEGER, MPI_SUM, &
      MPI_COMM_WORLD)
    call check(all(sum(2:4:2) == size * (size - 1) / 2) .and. sum(3) == rank, &
      'MPI_IN_PLACE')
  end subroutine sections

  ! Arrays of assumed size, and elements, are what begins there.
  subroutine assumed(a)
    integer, intent(in) :: a(*)
    integer :: b(4)

    call MPI_Sendrecv(a, 4, MPI_INTEGER, right, 5, b(1), 4, MPI_INTEGER, left, &
      5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(b == [1, 2, 3, 4]), 'an array of assumed size')
  end subroutine assumed

  ! The copies of what goes on after its call: elements that it does not use are
  ! the program's meanwhile, and descriptors may be gone.  Components of a type,
  ! which gfortran copies itself.
  subroutine kept
    type pair
      integer :: x, y
    end type
    type(pair) :: pairs(8)
    integer, asynchronous :: a(2, 8)
    type(MPI_Request) :: request
    integer :: i
    logical :: done

    a = -1
    a(2, 1:2) = [rank, 1]
    call begin(a(2, :), request)
    a(2, 3:8) = 7
    a(1, :) = 8
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(a(2, 1:2) == [size * (size - 1) / 2, size]) .and. &
      all(a(2, 3:8) == 7) .and. all(a(1, :) == 8), 'what is beside operands')
    pairs%x = -1
    pairs%y = -2
    call MPI_Gather(rank, 1, MPI_INTEGER, pairs%y, 1, MPI_INTEGER, 0, &
      MPI_COMM_WORLD)
    call check(all(pairs%x == -1) .and. all(pairs(size + 1:)%y == -2) .and. &
      all(pairs(1:size)%y == merge([(i, i=0, size - 1)], -2, rank == 0)), &
      'a component')
    call MPI_Allreduce_init(MPI_IN_PLACE, a(2, 8:1:-1), 2, MPI_INTEGER, &
      MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    do i = 1, 3
      a(2, :) = 10 * i + rank
      call MPI_Start(request)
      done = .false.
      do while (.not. done)
        call MPI_Request_get_status(request, done, MPI_STATUS_IGNORE)
      end do
      call check(all(a(2, 7:8) == 10 * i + size - 1) .and. &
        all(a(2, 1:6) == 10 * i + rank), 'a persistent reduction')
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    end do
    call MPI_Request_free(request)
  end subroutine kept

  subroutine begin(a, request)
    integer, asynchronous :: a(:)
    type(MPI_Request) :: request

    call MPI_Iallreduce(MPI_IN_PLACE, a, 2, MPI_INTEGER, MPI_SUM, &
      MPI_COMM_WORLD, request)
  end subroutine begin

  ! Memory that must be contiguous, and sections that are too short.
  subroutine refused
    integer :: a(10), code
    type(MPI_Win) :: win
    type(MPI_Request) :: request

    a = 0
    request = MPI_REQUEST_NULL
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Win_create(a(::2), 20_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, &
      MPI_COMM_WORLD, win, code)
    call check(code == MPI_ERR_BUFFER, 'a window of a section')
    call MPI_Buffer_attach(a(::2), 20, code)
    call check(code == MPI_ERR_BUFFER, 'a buffer of a section')
    call MPI_Iallreduce(MPI_IN_PLACE, a(::2), 6, MPI_INTEGER, MPI_SUM, &
      MPI_COMM_WORLD, request, code)
    call check(code == MPI_ERR_COUNT .and. request == MPI_REQUEST_NULL, &
      'more operands than a section has')
    call MPI_Allgather(rank, 1, MPI_INTEGER, a(1:2 * size - 2:2), 1, &
      MPI_INTEGER, MPI_COMM_WORLD, code)
    call check(code == MPI_ERR_COUNT, 'more blocks than a section has')
    call MPI_Send(a(::2), 6, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, code)
    call check(code == MPI_ERR_COUNT, 'more than a section has')
    call MPI_Send(a(::2), 1, MPI_DATATYPE_NULL, rank, 1, MPI_COMM_WORLD, code)
    call check(code == MPI_ERR_TYPE, 'no datatype')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
  end subroutine refused

  ! The count of a partition is an INTEGER(MPI_COUNT_KIND), and nothing else.
  subroutine partitions
    integer, asynchronous :: from(4), to(4)
    integer(MPI_COUNT_KIND) :: each
    type(MPI_Request) :: requests(2)

    from = [1, 2, 3, 4] + 10 * rank
    each = 2
    call MPI_Psend_init(from, 2, each, MPI_INTEGER, right, 8, MPI_COMM_WORLD, &
      MPI_INFO_NULL, requests(1))
    call MPI_Precv_init(to, 1, 2 * each, MPI_INTEGER, left, 8, &
      MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
    call MPI_Startall(2, requests)
    call MPI_Pready_range(0, 1, requests(1))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all(to == from + 10 * (left - rank)), 'partitions')
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine partitions

  subroutine others
    type(MPI_Op) :: op
    type(MPI_Comm) :: comm
    type(MPI_Errhandler) :: handler
    type(MPI_Status) :: status
    integer :: f_status(MPI_STATUS_SIZE), value, code, bytes
    integer(MPI_COUNT_KIND) :: many, found
    real(kind(1d0)) :: x
    type(c_ptr) :: memory
    integer, pointer :: numbers(:)

    call check(MPI_SUBARRAYS_SUPPORTED, 'MPI_SUBARRAYS_SUPPORTED')
    call MPI_Op_create(add, .true., op)
    value = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(value == size * (size + 1) / 2, 'an operation')
    call MPI_Op_free(op)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_create_errhandler(take, handler)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_Send(value, 1, MPI_INTEGER, size, 0, comm, code)
    call check(calls == MPI_ERR_RANK .and. code == MPI_ERR_RANK, 'a handler')
    call MPI_Errhandler_free(handler)
    call MPI_Comm_free(comm)
    call check(comm == MPI_COMM_NULL .and. comm%MPI_VAL == &
      MPI_COMM_NULL%MPI_VAL, 'handles')
    many = 1
    call MPI_Sendrecv(rank, many, MPI_INTEGER, right, 6, value, many, &
      MPI_INTEGER, left, 6, MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, found)
    call check(value == left .and. found == 1, 'large counts')
    call MPI_Status_f082f(status, f_status)
    call check(f_status(MPI_TAG) == 6 .and. status%MPI_TAG == 6, 'a status')
    call partitions
    call PMPI_Comm_size(MPI_COMM_SELF, value)
    call check(value == 1, 'PMPI')
    call MPI_Sizeof(x, bytes)
    call check(bytes == 8, 'MPI_Sizeof')
    call MPI_Alloc_mem(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, memory)
    call c_f_pointer(memory, numbers, [10])
    numbers = rank
    call MPI_Free_mem(numbers)
  end subroutine others

  ! What is detached is what was attached.
  subroutine buffers
    character(len=1000), target :: buffer
    type(c_ptr) :: address
    integer :: bytes

    call MPI_Buffer_attach(buffer, len(buffer))
    call MPI_Buffer_detach(address, bytes)
    call check(c_associated(address, c_loc(buffer)), 'a buffer')
    call MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0)
    call MPI_Buffer_detach(address, bytes)
    call check(c_associated(address, c_loc(MPI_BUFFER_AUTOMATIC)), &
      'the automatic buffer')
  end subroutine buffers

  ! Types by precision and range, and what the library says of LOGICAL.
  subroutine numbers
    integer, parameter :: rk = selected_real_kind(18), &
      ik = selected_int_kind(11)
    real(rk) :: x, y
    complex(rk) :: z(2), w(2)
    integer(ik) :: i, j
    logical :: yes, no, is_set
    integer :: bytes
    type(MPI_Datatype) :: real_type, complex_type, integer_type, same

    call MPI_Type_create_f90_real(18, MPI_UNDEFINED, real_type)
    call MPI_Type_create_f90_complex(18, MPI_UNDEFINED, complex_type)
    call MPI_Type_create_f90_integer(11, integer_type)
    call MPI_Type_create_f90_integer(11, same)
    call check(integer_type == same, 'the same type')
    x = 1 / 3._rk
    y = 0
    call MPI_Allreduce(x, y, 1, real_type, MPI_MIN, MPI_COMM_WORLD)
    call check(y == x, 'the least real')
    z = [(1, -1), (2, -2)]
    call MPI_Sendrecv(z, 2, complex_type, right, 7, w, 2, complex_type, left, &
      7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(w == z), 'complex numbers')
    i = 10_ik**11
    call MPI_Allreduce(i, j, 1, integer_type, MPI_SUM, MPI_COMM_WORLD)
    call check(j == size * i, 'the sum of integers')
    call MPI_Type_get_value_index(MPI_REAL, MPI_REAL, same)
    call check(same == MPI_2REAL, 'a pair')
    bytes = storage_size(yes) / 8
    call MPI_Abi_get_fortran_booleans(bytes, yes, no, is_set)
    call check(yes .and. .not. no .and. is_set, 'the values of LOGICAL')
  end subroutine numbers
end program f08
