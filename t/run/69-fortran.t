#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs of Fortran: vmpifort, the bindings, and a rank's own variables, units
# and end.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
vmpifort=$VMPI_BUILD/vmpifort
[ -x "$vmpifort" ] || skip_all "gfortran is not installed, so there is no vmpifort"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "gfortran has no sanitizer of the library's kind" ;;
esac
unset VMPI_FC MPICH_FC OMPI_FC

# fortran OUTPUT SOURCE... [FLAG...]
fortran() {
	fortran_output=$1
	fortran_source=$2
	shift
	ok "$fortran_source is built as $fortran_output" "$vmpifort" -g -w "$@" \
		-o "$fortran_output"
}

# ranks N: a line of each.
ranks() {
	i=0
	while [ $i -lt "$1" ]; do
		echo "$2$i$3"
		i=$((i + 1))
	done
}

cp "$programs"/*.f90 "$programs"/*.F90 .
"$vmpicc" -c "$programs/languages.c" -o languages.o
fortran bindings bindings.F90 languages.o
is "$(run 3 ./bindings | sort)" "$(ranks 3 'done ')" \
	"mpif.h: arguments of all kinds, callbacks, attributes, and C"
fortran module bindings.F90 -DMODULE languages.o
is "$(run 3 ./module | sort)" "$(ranks 3 'done ')" "the same of module mpi"
is "$(timeout 100 ./module)" "done 0" "and of a program started alone"

fortran f08 f08.f90
is "$(run 3 ./f08 | sort)" "$(ranks 3 'done ')" \
	"module mpi_f08: sections, large counts, callbacks"

python3 "$VMPI_SRC/t/run/sections.py" "$VMPI_SRC/bin/fortran" >sections.f90
fortran sections sections.f90 -O0
calls=$(sed -n 's/.*last = \([0-9]*\)$/\1/p' sections.f90)
# Two checks for each of eight shapes, of two datatypes.
for nodes in 1 2; do
	is "$(run 4 --nodes $nodes ./sections | sort)" \
		"$(ranks 4 'done ' " calls $((calls * 32))")" \
		"every procedure takes sections of all shapes, in $nodes processes"
done
cat >iallreduce.f90 <<'END'
program p
  use mpi_f08
  integer :: a(6) = 1
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Iallreduce(MPI_IN_PLACE, a(::2), 4, MPI_INTEGER, MPI_SUM, &
    MPI_COMM_WORLD, request)
  call MPI_Finalize()
end program p
END
fortran iallreduce iallreduce.f90
like "$(run 1 ./iallreduce 2>&1)" \
	'MPI_Iallreduce on MPI_COMM_WORLD failed: MPI_ERR_COUNT.* fewer elements' \
	"an error that the bindings find has the name of the call"

fortran files files.f90
is "$(run 3 ./files | sort)" "$(ranks 3 'done ')" \
	"files: views, started and shared accesses, callbacks"
is "$(run 4 --nodes 2 ./files | sort)" "$(ranks 4 'done ')" \
	"files of two processes"

fortran units units.f90
is "$(run 5 ./units word | sort)" "$(ranks 5 'rank ' ' of 5 word')" \
	"units, modules and COMMON belong to a rank; so do lines"
is "$(timeout 100 ./units alone)" "rank 0 of 1 alone" "alone, too"
is "$(run 3 --label ./units x 2>&1 | sort)" \
	"$(for i in 0 1 2; do echo "[$i] rank $i of 3 x"; done)" \
	"output is labelled"
none "$(ls units.[0-9]* fort.* 2>/dev/null)" "no file is left"

# How it ends: the status, and what a rank has written before.
fortran ends ends.f90
# ended WAY STATUS RANKS WHAT: the files of these ranks are complete.
ended() {
	rm -f ends.[0-9]
	run 3 ./ends "$1" >out 2>err
	is "$?" "$2" "$4: the status of the job is $2"
	for i in $3; do
		is "$(cat ends.$i)" "rank $i" "$4: rank $i has written its file"
		like "$(cat out)" "rank $i $1" "$4: and its line"
	done
}
ended end 0 "0 1 2" "the end of the program"
ended stop 0 "0 1 2" "STOP"
ended code 3 1 "STOP with a code"
like "$(cat err)" 'rank 1 exited with status 3' "STOP with a code: which is said"
ended error 1 1 "ERROR STOP"
like "$(cat err)" 'ERROR STOP no more' "ERROR STOP: with its text"
ended exit 4 1 "call exit"
ended runtime 2 1 "an error of input"
like "$(cat err)" 'Fortran runtime error: End of file' "which is named"
ended early 5 1 "STOP before MPI_Finalize"
ended abort 134 "" "call abort"
like "$(cat err)" 'rank 1 called abort' "call abort: which is said"
like "$(cat out)" "rank 1 abort" "call abort: what it has written is there"
run 3 ./ends mpi >out 2>err
is "$(sort out)" "$(ranks 3 'rank ' ' mpi')" \
	"MPI_Abort: what all ranks have written to a file is there"
run 2 --processes ./ends mpi >out 2>err
is "$(sort out)" "$(ranks 2 'rank ' ' mpi')" "of ranks that are processes, too"

# A library of the program, and an ordinary executable.
cat >part.f90 <<'END'
subroutine world_of(comm, n)
  implicit none
  include 'mpif.h'
  integer :: comm, n, ierror, status(MPI_STATUS_SIZE), byte
  call MPI_Comm_size(comm, n, ierror)
  call MPI_Sendrecv(n, 1, MPI_INTEGER, 0, 1, byte, 1, MPI_INTEGER, 0, 1, &
    MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
end subroutine world_of
END
cat >main.f90 <<'END'
program main
  use mpi
  implicit none
  integer :: n, rank, ierror
  integer, save :: number
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  number = rank
  call world_of(MPI_COMM_WORLD, n)
  if (number == rank) print '(a,i0,a,i0)', 'rank ', rank, ' of ', n
  call MPI_Finalize(ierror)
end program main
END
fortran libpart.so part.f90 -shared
fortran library main.f90 -L. -lpart -Wl,-rpath,"$scratch"
is "$(run 3 ./library | sort)" "$(ranks 3 'rank ' ' of 3')" \
	"a library in Fortran has the sentinels of the program"
"$vmpifort" -c part.f90
compiler=$("$vmpifort" -showme:command)
ok "gfortran builds an ordinary executable with what -showme says" $compiler \
	main.f90 part.f90 $("$vmpifort" -showme:compile) \
	$("$vmpifort" -showme:link) -o plain
is "$(run 3 ./plain | sort)" "$(ranks 3 'rank ' ' of 3')" \
	"it has private variables, too"
is "$(timeout 100 ./plain)" "rank 0 of 1" "and runs alone"

# Tools: one of C sees the calls of Fortran, one of Fortran replaces them.
cat >tool.c <<'END'
#include <mpi.h>
#include <stdio.h>
int MPI_Finalize(void)
{
	printf("C sees it\n");
	return PMPI_Finalize();
}
END
cat >tool.f90 <<'END'
subroutine MPI_Comm_size(comm, n, ierror)
  integer :: comm, n, ierror
  call PMPI_Comm_size(comm, n, ierror)
  n = n + 100
end subroutine MPI_Comm_size
END
"$vmpicc" -shared -fPIC tool.c -o libtool.so
fortran seen main.f90 part.f90 tool.f90 -Wl,--no-as-needed -L. -ltool \
	-Wl,-rpath,"$scratch"
is "$(run 2 ./seen | sort)" "C sees it
C sees it
rank 0 of 102
rank 1 of 102" "tools in C and in Fortran see the calls"
done_testing
