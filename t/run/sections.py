#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""sections.py BIN_FORTRAN: prints a program that calls every procedure of mpi_f08
with a buffer of which a section of an array may be passed.

Each is called with contiguous arrays and then with sections of many shapes: those
must end with the same elements, and nothing beside them may have changed.  A
procedure of the table of signatures for which there is no call here is an error.
"""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from table import read_table  # noqa: E402

COPIED = ('choice', 'blocks', 'operand', 'bytes', 'parts')
# What stands for an argument: with int, with MPI_Count.
COUNT = ('k', 'kc')
VALUE = {
    'op': 'op', 'root': '1', 'info': 'MPI_INFO_NULL', 'tag': '9',
    'sendtag': '9', 'recvtag': '9', 'dest': 'right', 'source': 'left',
    'status': 'MPI_STATUS_IGNORE', 'request': 'q', 'message': 'm', 'fh': 'fh',
    'offset': '0_MPI_OFFSET_KIND', 'win': 'win', 'target_rank': 'right',
    'target_disp': '2_MPI_ADDRESS_KIND', 'datarep': "'external32'",
    'partitions': '2',
}
SHAPES = [
    # declaration, section: 60 elements of each
    ('', '(120)', '(1:60)'),
    ('', '(3,60)', '(2,:)'),
    ('', '(60,3)', '(:,2)'),
    ('', '(121)', '(2:120:2)'),
    ('', '(120)', '(120:1:-2)'),
    ('', '(60)', '(60:1:-1)'),
    ('', '(5,40)', '(2:4,1:40:2)'),
    ('', '(5,12,6)', '(1:4:2,9:1:-2,6:1:-1)'),
]
HEAD = '''! Made by sections.py from the table of signatures.
module operation
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
contains
  ! The sum of a type with a gap: the first and the third of three integers.
  subroutine add(in, inout, n, type)
    type(c_ptr), value :: in, inout
    integer :: n
    type(MPI_Datatype) :: type
    integer, pointer :: a(:, :), b(:, :)

    call c_f_pointer(in, a, [3, n])
    call c_f_pointer(inout, b, [3, n])
    b(1::2, :) = a(1::2, :) + b(1::2, :)
  end subroutine add
end module operation

program sections
  use operation
  implicit none
  integer, parameter :: k = 3
  integer(MPI_COUNT_KIND), parameter :: kc = k
  integer :: rank, size, left, right, i, variant, which, calls = 0
  integer :: cnt(4), dsp(4), dspw(4)
  integer(MPI_COUNT_KIND) :: cntc(4)
  integer(MPI_ADDRESS_KIND) :: dspa(4), dspwa(4)
  integer, asynchronous :: w(100), z(60)
  type(MPI_Datatype) :: t, gaps, ts(4)
  type(MPI_Op) :: op, sum
  type(MPI_Comm) :: grid, comm
  type(MPI_Win) :: win
  type(MPI_File) :: fh
  character :: attached(100000)
  character(len=20) :: name

  call MPI_Init()
  comm = MPI_COMM_WORLD
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, size)
  if (size /= 4) error stop 'sections: for 4 ranks'
  right = modulo(rank + 1, size)
  left = modulo(rank - 1, size)
  call MPI_Cart_create(comm, 1, [size], [.true.], .false., grid)
  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, gaps)
  call MPI_Type_commit(gaps)
  call MPI_Op_create(add, .true., sum)
  call MPI_Buffer_attach(attached, 100000)
  call MPI_Win_create(w, 400_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, win)
  write (name, '(a,i0)') 'sections.', rank
  call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR + MPI_MODE_CREATE + &
    MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, fh)
  z = [(7000 + 100 * rank + i, i=1, 60)]
  cnt = k
  cntc = k
  dsp = [((k + 1) * (4 - i), i=1, 4)]
  dspa = dsp
  do variant = 1, 2
    t = MPI_INTEGER
    op = MPI_SUM
    if (variant == 2) t = gaps
    if (variant == 2) op = sum
    ts = t
    dspw = dsp * merge(4, 12, variant == 1)
    dspwa = dspw
    do which = 1, last
      call shapes
    end do
  end do
  call MPI_File_close(fh)
  call MPI_Win_free(win)
  call MPI_Buffer_detach(at, i)
  print '(a,i0,a,i0)', 'done ', rank, ' calls ', calls
  call MPI_Finalize()
contains
'''


def arguments(function, large, buffers):
    for a in function.arguments(large):
        w = function.name.lower().endswith(('alltoallw', 'alltoallw_init'))
        if a.name in buffers:
            yield buffers[a.name]
        elif a.kind in COPIED:
            yield 'b' if a.written else 'a'
        elif a.kind == 'place':
            yield 'b' if 'read' in function.name else 'a'
        elif a.kind == 'comm':
            yield 'grid' if 'eighbor' in function.name else 'comm'
        elif a.name in ('outsize', 'insize', 'position'):
            size = 'pos' if a.name == 'position' else 'room'
            yield size + {'count': ('', 'c'), 'adisp': ('a', 'c')}[a.kind][
                large]
        elif a.kind == 'bigcount':
            yield 'kc'
        elif a.is_array and a.kind == 'count':
            yield ('cnt', 'cntc')[large]
        elif a.is_array and a.kind == 'aint':
            yield 'dspwa'
        elif a.is_array and a.kind == 'disp':
            yield ('dspw', 'dspwa')[large] if w else ('dsp', 'dspa')[large]
        elif a.kind == 'count':
            yield COUNT[large]
        elif a.kind == 'type':
            yield 'ts' if a.is_array else 't'
        elif a.name == 'op' and 'target_rank' in {
                x.name for x in function.all}:
            yield 'MPI_SUM'
        else:
            yield VALUE[a.name]


SELF = 'call MPI_Sendrecv(%s, %s, MPI_INTEGER, 0, 1, %s, %s, MPI_INTEGER, ' \
    '0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)'
WAIT = 'call MPI_Wait(q, MPI_STATUS_IGNORE)'
WAIT_R = 'call MPI_Wait(r, MPI_STATUS_IGNORE)'
IRECV = 'call MPI_Irecv(b, k, t, left, 9, comm, r)'
ISEND = 'call MPI_Isend(a, k, t, right, 9, comm, r)'
BARRIER = 'call MPI_Barrier(comm)'
SEEK = ['call MPI_File_seek(fh, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)',
        'call MPI_File_seek_shared(fh, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)']


def around(function, call, chapter):
    """The lines of a case: what is before and after the call."""
    name = function.name
    wait = [WAIT] if function.request else []
    if chapter in ('part',):
        return ['call MPI_Psend_init(a, 2, kc, t, right, 9, comm, '
                'MPI_INFO_NULL, q)',
                'call MPI_Precv_init(b, 2, kc, t, left, 9, comm, '
                'MPI_INFO_NULL, r)',
                'do i = 1, 2', 'call MPI_Start(q)', 'call MPI_Start(r)',
                'call MPI_Pready_range(0, 1, q)', WAIT, WAIT_R,
                SELF % ('z', 60, 'a', 60), 'end do',
                'call MPI_Request_free(q)', 'call MPI_Request_free(r)']
    if 'recv' in name.lower() and 'send' in name.lower():
        return [call] + wait
    if chapter in ('p2p', 'probe'):
        send = 'send' in name.lower()
        if name.endswith('_init'):
            first = [IRECV, BARRIER] if send else [ISEND]
            return [call, 'do i = 1, 2'] + first + [
                'call MPI_Start(q)', WAIT, WAIT_R, SELF % ('z', 60, 'a', 60),
                'end do', 'call MPI_Request_free(q)']
        probe = ['call MPI_Mprobe(left, 9, comm, m, MPI_STATUS_IGNORE)']
        return ([IRECV, BARRIER] if send else [ISEND]) + (
            probe if 'mrecv' in name.lower() else []) + [call] + wait + [
                WAIT_R]
    if chapter == 'win':
        into = [] if 'et' in name else [SELF % ('w', 60, 'b', 60)]
        return ['w = [(i + 1000 * rank, i=1, 100)]', BARRIER,
                'call MPI_Win_lock_all(0, win)', call] + wait + [
                    'call MPI_Win_unlock_all(win)', BARRIER] + into
    if chapter == 'file':
        first, last = [], []
        if 'write' in name:
            last = ['call MPI_File_read_at(fh, 0_MPI_OFFSET_KIND, b, k, t, '
                    'MPI_STATUS_IGNORE)']
        else:
            first = ['call MPI_File_write_at(fh, 0_MPI_OFFSET_KIND, a, k, t, '
                     'MPI_STATUS_IGNORE)']
        if name.endswith('_begin'):
            wait = ['call MPI_%s(fh, %s, MPI_STATUS_IGNORE)' % (
                name.replace('_begin', '_end'), 'a' if 'write' in name else
                'b')]
        return first + SEEK + [call] + wait + last
    if name.endswith('_init'):
        return [call, 'do i = 1, 2', 'call MPI_Start(q)', WAIT,
                SELF % ('z', 60, 'a', 60), 'end do',
                'call MPI_Request_free(q)']
    if chapter == 'type':
        return ['pos = 0', 'posa = 0', 'posc = 0', call]
    return [call] + wait


def in_place(function):
    """The buffer for which MPI_IN_PLACE may stand, and whether at the root
    only."""
    name = function.name.lower()
    if 'neighbor' in name or 'sendbuf' not in {a.name for a in function.all}:
        return None
    if 'scatter' in name and 'reduce' not in name:
        return 'recvbuf', True
    return 'sendbuf', ('gather' in name and 'all' not in name or re.match(
        'i?reduce(_init)?$', name) is not None)


def cases(table, chapters):
    for chapter, functions in table.items():
        for function in functions:
            if not any(a.kind in COPIED for a in function.all):
                continue
            for large in (False, True)[:1 + function.has_large]:
                yield from forms(function, large, chapter)


def forms(function, large, chapter):
    def call(buffers):
        return 'call MPI_%s(%s)' % (
            function.name, ', '.join(arguments(function, large, buffers)))

    name = function.name + ('_c' if large else '')
    yield name, around(function, call({}), chapter)
    place = in_place(function) if chapter in ('coll', 'icoll', 'pcoll') else \
        None
    if place:
        buffer, root = place
        other = call({buffer: 'MPI_IN_PLACE'})
        lines = around(function, other, chapter)
        if root:
            at = lines.index(other)
            lines[at:at + 1] = ['if (rank == 1) then', other, 'else',
                                call({}), 'end if']
        yield name + ' in place', lines


def broken(line):
    while len(line) > 120:
        at = line.rindex(' ', 0, 120)
        print('    ' + line[:at] + ' &')
        line = '  ' + line[at + 1:]
    print('    ' + line)


def main():
    table = read_table(os.path.join(sys.argv[1], 'signatures'))
    all_ = list(cases(table, table))
    head = HEAD.replace('  character(len=20) :: name\n', '''  character(len=20) :: name
  type(c_ptr) :: at
  integer, parameter :: last = %d
''' % len(all_))
    print(head)
    print('  subroutine one(which, a, b)')
    print('    integer, intent(in) :: which')
    print('    integer, asynchronous :: a(..), b(..)')
    print('    integer :: pos, room, i')
    print('    integer(MPI_ADDRESS_KIND) :: posa, rooma')
    print('    integer(MPI_COUNT_KIND) :: posc, roomc')
    print('    type(MPI_Request) :: q, r')
    print('    type(MPI_Message) :: m')
    print('    room = 240\n    rooma = room\n    roomc = room')
    print('    select case (which)')
    for i, (name, lines) in enumerate(all_, 1):
        print('    case (%d)' % i)
        for line in lines:
            broken(line)
    print('    end select\n  end subroutine one')
    print('''  function name_of(which) result(name)
    integer, intent(in) :: which
    character(len=40) :: name
    select case (which)''')
    for i, (name, lines) in enumerate(all_, 1):
        print("    case (%d)\n    name = '%s'" % (i, name))
    print('    end select\n  end function name_of')
    print('''  subroutine shapes
    integer :: first(60), second(60), want_a(60), want_b(60)''')
    for i, (_, size, _) in enumerate(SHAPES, 1):
        print('    integer, asynchronous :: a%d%s, b%d%s' % (i, size, i, size))
    print('''    first = [(1000 * rank + i, i=1, 60)]
    second = [(-1000 * rank - i, i=1, 60)]
    want_a = first
    want_b = second
    call one(which, want_a, want_b)''')
    for i, (_, size, part) in enumerate(SHAPES, 1):
        shape = 'shape(a%d%s)' % (i, part)
        put = '    {0}%d%s = reshape({1}, %s)' % (i, part, shape)
        print('    a%d = -7\n    b%d = -7' % (i, i))
        broken(put.format('a', 'first').strip())
        broken(put.format('b', 'second').strip())
        broken('call one(which, a%d%s, b%d%s)' % (i, part, i, part))
        broken('call check(all(reshape(a%d%s, [60]) == want_a) .and. '
               'all(reshape(b%d%s, [60]) == want_b), %d)' % (
                   i, part, i, part, i))
        broken('a%d%s = -7' % (i, part))
        broken('b%d%s = -7' % (i, part))
        broken('call check(all(a%d == -7) .and. all(b%d == -7), %d)' % (
            i, i, -i))
    print('''  end subroutine shapes
  subroutine check(good, shape)
    logical, intent(in) :: good
    integer, intent(in) :: shape

    calls = calls + 1
    if (.not. good) print '(3a,i0,a,i0,a,i0)', 'wrong: ', &
      trim(name_of(which)), ', shape ', shape, ', variant ', variant, &
      ', rank ', rank
  end subroutine check
end program sections''')


main()
