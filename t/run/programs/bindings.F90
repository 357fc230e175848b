! SPDX-License-Identifier: BSD-3-Clause
! The bindings of mpif.h, or, with -DMODULE, of module mpi: each kind of argument
! that is converted.  Prints what is wrong, and at the end one line per rank.
module checks
  implicit none
  integer :: calls = 0
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (.not. good) print '(2a)', 'wrong: ', what
  end subroutine check
end module checks

program bindings
#ifdef MODULE
  use mpi
#endif
  use checks
  implicit none
#ifndef MODULE
  include 'mpif.h'
#endif
  integer :: rank, size, ierror
  external :: number_of, c_makes, keep_sum

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call completion
  call sentinels
  call strings
  call groups
  call types
  call callbacks
  call attributes
  call languages
  print '(a,i0)', 'done ', rank
  call MPI_Finalize(ierror)
contains
  ! Requests and statuses in arrays, indices that begin with 1.
  subroutine completion
    integer, parameter :: n = 40
    integer :: requests(n), statuses(MPI_STATUS_SIZE, n), indices(n)
    integer :: status(MPI_STATUS_SIZE), from(n), to(n), i, index, count, done
    logical :: flag

    do i = 1, n
      call MPI_Irecv(to(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, &
        requests(i), ierror)
    end do
    from(3) = 33
    call MPI_Send(from(3), 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, ierror)
    call MPI_Waitany(n, requests, index, status, ierror)
    call check(index == 3 .and. to(3) == 33, 'index of Waitany')
    call check(status(MPI_TAG) == 3 .and. status(MPI_SOURCE) == rank, 'status')
    call check(requests(3) == MPI_REQUEST_NULL, 'request that is done')
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call check(count == 1, 'Get_count')
    from(7) = 77
    call MPI_Send(from(7), 1, MPI_INTEGER, rank, 7, MPI_COMM_WORLD, ierror)
    call MPI_Waitsome(n, requests, count, indices, statuses, ierror)
    call check(count == 1 .and. indices(1) == 7, 'indices of Waitsome')
    call check(statuses(MPI_TAG, 1) == 7, 'statuses of Waitsome')
    call MPI_Testany(n, requests, index, flag, status, ierror)
    call check(.not. flag .and. index == MPI_UNDEFINED, 'Testany of none')
    do i = 1, n
      if (i /= 3 .and. i /= 7) call MPI_Send(i, 1, MPI_INTEGER, rank, i, &
        MPI_COMM_WORLD, ierror)
    end do
    done = 0
    do while (done < 3)
      call MPI_Testsome(n, requests, count, indices, statuses, ierror)
      do i = 1, count
        call check(to(indices(i)) == indices(i), 'indices of Testsome')
      end do
      done = done + count
    end do
    ! From an element on: an array.
    call MPI_Get_count(statuses(1, 1), MPI_INTEGER, count, ierror)
    call check(count == 1, 'Get_count of one of several')
    call MPI_Waitall(n, requests(1), statuses(1, 1), ierror)
    call check(all(requests == MPI_REQUEST_NULL) .and. to(n) == n, 'Waitall')
  end subroutine completion

  subroutine sentinels
    integer :: value, status(MPI_STATUS_SIZE), code, type, request
    integer(MPI_ADDRESS_KIND) :: place(1)
    integer :: one(1) = 1

    value = rank
    call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, &
      MPI_COMM_WORLD, ierror)
    call check(value == size * (size - 1) / 2, 'MPI_IN_PLACE')
    call MPI_Get_address(value, place(1), ierror)
    call MPI_Type_create_struct(1, one, place, [MPI_INTEGER], type, ierror)
    call MPI_Type_commit(type, ierror)
    value = 5
    call MPI_F_sync_reg(value)
    call MPI_Isend(MPI_BOTTOM, 1, type, rank, 1, MPI_COMM_WORLD, request, &
      ierror)
    call MPI_Recv(code, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call check(code == 5, 'MPI_BOTTOM')
    call MPI_Type_free(type, ierror)
    call check(type == MPI_DATATYPE_NULL, 'a type that was freed')
    call MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, status, ierror)
    call check(status(MPI_SOURCE) == MPI_PROC_NULL, 'MPI_PROC_NULL')
    call in_place
    call MPI_Sizeof(place, value, ierror)
    call check(value == 8, 'MPI_Sizeof')
  end subroutine sentinels

  ! What describes the send buffer is not looked at.
  subroutine in_place
    integer :: counts(size), places(size), types(size), values(size), i

    counts = 1
    places = [(4 * i, i = 0, size - 1)]
    types = MPI_INTEGER
    values = [(10 * rank + i, i = 0, size - 1)]
    call MPI_Alltoallw(MPI_IN_PLACE, [0], [0], [-1], values, counts, places, &
      types, MPI_COMM_WORLD, ierror)
    call check(all(values == [(10 * i + rank, i = 0, size - 1)]), &
      'MPI_IN_PLACE of Alltoallw')
  end subroutine in_place

  subroutine strings
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=3) :: short
    character(len=20) :: value
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: length, info, comm
    logical :: flag

    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_set_name(comm, ' a name   ', ierror)
    name = repeat('x', len(name))
    call MPI_Comm_get_name(comm, name, length, ierror)
    call check(name == ' a name' .and. length == 7, 'a name')
    call MPI_Comm_get_name(comm, short, length, ierror)
    call check(short == ' a ', 'a name without room')
    call MPI_Comm_free(comm, ierror)
    call check(comm == MPI_COMM_NULL, 'a communicator that was freed')
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, '  key ', '  a value ', ierror)
    value = repeat('x', 20)
    call MPI_Info_get(info, 'key', len(value), value, flag, ierror)
    call check(flag .and. value == 'a value', 'Info_get')
    length = 4
    call MPI_Info_get_string(info, ' key', length, value, flag, ierror)
    call check(flag .and. value == 'a va' .and. length == 7, 'Info_get_string')
    call MPI_Info_get(info, 'nokey', len(value), value, flag, ierror)
    call check(.not. flag, 'a key that is not there')
    call MPI_Info_free(info, ierror)
    call MPI_Error_string(MPI_ERR_RANK, text, length, ierror)
    call check(text(:12) == 'MPI_ERR_RANK' .and. text(length + 1:) == ' ', &
      'Error_string')
  end subroutine strings

  subroutine groups
    integer :: world, pair, ranges(3, 1), comm, n, dims(2), coords(2)
    logical :: periods(2), flag

    call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
    ranges(:, 1) = [0, size - 1, 1]
    call MPI_Group_range_incl(world, 1, ranges, pair, ierror)
    call MPI_Group_size(pair, n, ierror)
    call check(n == size, 'Group_range_incl')
    call MPI_Group_free(pair, ierror)
    call MPI_Group_free(world, ierror)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, [size, 1], [.true., .false.], &
      .false., comm, ierror)
    call MPI_Cart_get(comm, 2, dims, periods, coords, ierror)
    call check(periods(1) .and. .not. periods(2), 'LOGICAL arrays')
    call check(coords(1) == rank .and. dims(1) == size, 'Cart_get')
    call MPI_Comm_free(comm, ierror)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [rank], &
      MPI_UNWEIGHTED, 1, [rank], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., comm, &
      ierror)
    call MPI_Dist_graph_neighbors_count(comm, n, dims(1), flag, ierror)
    call check(n == 1 .and. .not. flag, 'MPI_UNWEIGHTED')
    call MPI_Comm_free(comm, ierror)
  end subroutine groups

  subroutine types
    integer :: type, integers(10), kinds(2), n(3), combiner, other
    integer(MPI_ADDRESS_KIND) :: addresses(10), lb, extent
    integer :: send(size), recv(size), ones(size), displs(size), kind_(size), i

    call MPI_Type_create_struct(2, [1, 2], [0_MPI_ADDRESS_KIND, &
      8_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_DOUBLE_PRECISION], type, ierror)
    call MPI_Type_get_envelope(type, n(1), n(2), n(3), combiner, ierror)
    call check(combiner == MPI_COMBINER_STRUCT .and. all(n == [3, 2, 2]), &
      'Type_get_envelope')
    call MPI_Type_get_contents(type, 10, 10, 2, integers, addresses, kinds, &
      ierror)
    call check(all(kinds == [MPI_INTEGER, MPI_DOUBLE_PRECISION]) .and. &
      addresses(2) == 8, 'Type_get_contents')
    call MPI_Type_get_extent(type, lb, extent, ierror)
    call check(lb == 0 .and. extent == 24, 'Type_get_extent')
    call MPI_Type_dup(type, other, ierror)
    call check(other /= type, 'handles are different')
    call MPI_Type_free(other, ierror)
    call MPI_Type_free(type, ierror)
    ones = 1
    displs = [(4 * i, i=0, size - 1)]
    kind_ = MPI_INTEGER
    send = rank
    call MPI_Alltoallw(send, ones, displs, kind_, recv, ones, displs, &
      kind_, &
      MPI_COMM_WORLD, ierror)
    call check(all(recv == [(i, i=0, size - 1)]), 'Alltoallw')
  end subroutine types

  subroutine callbacks
    integer :: op, value, sum, handler, comm, type
    external :: add, take, query, let_go, count_down, cancel
    integer :: request, status(MPI_STATUS_SIZE)
    integer(MPI_ADDRESS_KIND) :: state
    logical :: flag

    call MPI_Op_create(add, .true., op, ierror)
    value = rank + 1
    call MPI_Allreduce(value, sum, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
    call check(sum == size * (size + 1) / 2, 'an operation of Fortran')
    call MPI_Type_contiguous(2, MPI_INTEGER, type, ierror)
    call MPI_Op_free(op, ierror)
    call check(op == MPI_OP_NULL, 'an operation that was freed')
    call MPI_Type_free(type, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_create_errhandler(take, handler, ierror)
    call MPI_Comm_set_errhandler(comm, handler, ierror)
    calls = 0
    call MPI_Send(value, 1, MPI_INTEGER, size, 0, comm, ierror)
    call check(calls == comm .and. ierror == MPI_ERR_RANK, &
      'an error handler of Fortran')
    call MPI_Errhandler_free(handler, ierror)
    call MPI_Comm_free(comm, ierror)
    calls = 0
    state = 40
    call MPI_Grequest_start(query, let_go, cancel, state, request, ierror)
    call MPI_Test(request, flag, status, ierror)
    call check(.not. flag, 'a generalized request that is not done')
    call MPI_Grequest_complete(request, ierror)
    call MPI_Wait(request, status, ierror)
    call check(status(MPI_TAG) == 40 .and. calls == 40, 'generalized requests')
    call check(state == 40, 'their state stays as it is')
    call MPI_Grequest_start(query, count_down, cancel, state, request, ierror)
    call MPI_Grequest_complete(request, ierror)
    call MPI_Wait(request, status, ierror)
    call check(state == 39, 'or becomes what a function makes of it')
    call MPI_Grequest_start(query, count_down, cancel, state, request, ierror)
    state = 7
    call MPI_Grequest_complete(request, ierror)
    call MPI_Wait(request, status, ierror)
    call check(status(MPI_TAG) == 39 .and. state == 7, &
      'if the variable still has the value')
  end subroutine callbacks

  subroutine attributes
    integer :: key, comm, code
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    external :: copy, remove

    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
    call check(flag .and. value >= 32767, 'MPI_TAG_UB')
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, code, flag, ierror)
    call check(flag .and. code == value, 'MPI_TAG_UB of MPI-1')
    call MPI_Comm_create_keyval(copy, remove, key, 7_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 2_MPI_ADDRESS_KIND**40, ierror)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, ierror)
    call check(flag .and. value == 2_MPI_ADDRESS_KIND**40, 'an attribute')
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_get_attr(comm, key, value, flag, ierror)
    call check(flag .and. value == 2_MPI_ADDRESS_KIND**40 + 7, 'a copy')
    calls = 0
    call MPI_Comm_free(comm, ierror)
    call check(calls == 7, 'a delete function')
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
    call MPI_Comm_free_keyval(key, ierror)
    call check(key == MPI_KEYVAL_INVALID, 'a key that was freed')
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, &
      0_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, -5_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_get_attr(comm, key, value, flag, ierror)
    call check(flag .and. value == -5, 'MPI_COMM_DUP_FN')
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
    call MPI_Comm_free_keyval(key, ierror)
  end subroutine attributes

  ! Handles, statuses and attributes that C has as well.
  subroutine languages
    integer :: comm, key, n, status(MPI_STATUS_SIZE)
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag

    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call number_of(comm, n)
    call check(n == size, 'a communicator in C')
    call c_makes(comm, key, status)
    call MPI_Comm_size(comm, n, ierror)
    call check(n == 1, 'a communicator of C')
    call check(status(MPI_TAG) == 17, 'a status of C')
    call MPI_Comm_get_attr(comm, key, value, flag, ierror)
    call check(flag .and. value == 12345, 'an attribute of C')
    call MPI_Comm_set_attr(comm, key, 99_MPI_ADDRESS_KIND, ierror)
    call keep_sum(comm, key, n)
    call check(n == 99, 'an attribute of Fortran in C')
    call MPI_Comm_free(comm, ierror)
  end subroutine languages
end program bindings

subroutine add(in, inout, n, type)
  implicit none
  integer :: n, type, in(n), inout(n)
  inout = inout + in
end subroutine add

subroutine take(comm, code)
  use checks
  implicit none
  integer :: comm, code
  calls = comm
end subroutine take

subroutine query(state, status, ierror)
  implicit none
  include 'mpif.h'
  integer(MPI_ADDRESS_KIND) :: state
  integer :: status(MPI_STATUS_SIZE), ierror
  call MPI_Status_set_cancelled(status, .false., ierror)
  call MPI_Status_set_elements(status, MPI_BYTE, 0, ierror)
  status(MPI_SOURCE) = MPI_UNDEFINED
  status(MPI_TAG) = int(state)
  ierror = MPI_SUCCESS
end subroutine query

subroutine let_go(state, ierror)
  use checks
  implicit none
  include 'mpif.h'
  integer(MPI_ADDRESS_KIND) :: state
  integer :: ierror
  calls = int(state)
  ierror = MPI_SUCCESS
end subroutine let_go

subroutine count_down(state, ierror)
  implicit none
  include 'mpif.h'
  integer(MPI_ADDRESS_KIND) :: state
  integer :: ierror
  state = state - 1
  ierror = MPI_SUCCESS
end subroutine count_down

subroutine cancel(state, complete, ierror)
  implicit none
  include 'mpif.h'
  integer(MPI_ADDRESS_KIND) :: state
  logical :: complete
  integer :: ierror
  ierror = MPI_SUCCESS
end subroutine cancel

subroutine copy(comm, key, state, in, out, flag, ierror)
  implicit none
  include 'mpif.h'
  integer :: comm, key, ierror
  integer(MPI_ADDRESS_KIND) :: state, in, out
  logical :: flag
  out = in + state
  flag = .true.
  ierror = MPI_SUCCESS
end subroutine copy

subroutine remove(comm, key, value, state, ierror)
  use checks
  implicit none
  include 'mpif.h'
  integer :: comm, key, ierror
  integer(MPI_ADDRESS_KIND) :: value, state
  calls = int(state)
  ierror = MPI_SUCCESS
end subroutine remove
