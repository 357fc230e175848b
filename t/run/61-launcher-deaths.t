#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A process dies under a launcher that is not ours.  Whether it ends the job
# (mpirun, mpiexec.hydra), or tells nobody (srun): who needs the dead does not
# wait for ever, and nothing is left.  A job that is deadlocked ends, too.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
unset MPIEXEC_TIMEOUT
build doomed doomed.c
build deadlock deadlock.c -fopenmp
${CC:-cc} -fopenmp -g -O1 -I"$VMPI_SRC/include" "$programs/deadlock.c" \
	-o ordinary -L"$VMPI_BUILD/lib" -lvmpi -Wl,-rpath,"$VMPI_BUILD/lib" ||
	exit 1
DIE=300 DEATH_MARK=$scratch
export DIE DEATH_MARK

# Our processes that are still there after a while.
left() {
	for tries in 1 2 3 4 5 6 7 8 9 10; do
		found=$(grep -lsz "^DEATH_MARK=$scratch" /proc/[0-9]*/environ |
			while read -r file; do
				pid=${file#/proc/}
				pid=${pid%/environ}
				grep -sq doomed "/proc/$pid/comm" && echo "$pid"
			done)
		[ -z "$found" ] && return
		sleep 0.5
	done
	echo "$found"
}

# NAME COMMAND...: the job ends whatever its ranks are doing, and not with 0.
# hydra of MPICH 4.2 gives 0 now and then on a busy machine, also where its
# processes speak PMI without us: its code is not looked at.
ends() {
	name=$1
	unlike=0
	[ "$name" = mpiexec.hydra ] && unlike=124
	shift
	for phase in idle eager large allreduce split; do
		out=$(timeout 250 "$@" ./doomed $phase 2 1 0 2>&1 </dev/null)
		rc=$?
		ok "$name: the job ends, $phase (code $rc)" \
			test $rc -ne $unlike -a $rc -ne 124 || diag "$out"
	done
	none "$(left)" "$name: nothing is left of it"
}

# NAME COMMAND...: a job that is deadlocked says so and ends.
stuck() {
	name=$1
	shift
	case ${VMPI_SANITIZE:-none} in
	none) ;;
	*)
		skip 2 "sanitizers have threads of their own"
		return
		;;
	esac
	for program in ./deadlock ./ordinary; do
		timeout 250 "$@" $program ring </dev/null >out 2>&1
		is "$? $(grep -c '^vmpirun: deadlock: all ranks wait' out)" \
			"86 1" "$name: a deadlock of $program is found" ||
			diag "$(cat out)"
	done
}

mpirun=
for name in mpirun.openmpi mpirun; do
	command -v $name >/dev/null && $name --version 2>/dev/null |
		grep -q 'Open MPI' && mpirun=$name && break
done
pmix=$(grep -c 'VM_HAVE_PMIX=1' "$VMPI_BUILD/build.ninja")
OMPI_MCA_oob_tcp_if_include=lo
OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_oob_tcp_if_include OMPI_MCA_btl_tcp_if_include
if [ -z "$mpirun" ] || [ "$pmix" = 0 ] || ! timeout 250 $mpirun \
	--oversubscribe --allow-run-as-root -np 1 true >out 2>&1; then
	skip 8 "mpirun of Open MPI does not run here, or there is no PMIx"
else
	ends mpirun $mpirun --oversubscribe --allow-run-as-root -np 2
	stuck mpirun $mpirun --oversubscribe --allow-run-as-root -np 2
fi
if ! command -v mpiexec.hydra >/dev/null ||
	! timeout 250 mpiexec.hydra -n 1 true >out 2>&1; then
	skip 8 "mpiexec.hydra of MPICH does not run here"
else
	ends mpiexec.hydra mpiexec.hydra -n 2
	stuck mpiexec.hydra mpiexec.hydra -n 2
fi

if [ "$pmix" = 0 ]; then
	skip 10 "this vmpi was built without PMIx"
	done_testing
	exit
fi
# From here on the test may be skipped as a whole: say what there was.
skip_all() {
	skip 10 "$*"
	done_testing
	exit
}
. "$VMPI_SRC/t/run/slurm.sh"
slurm_start 2
ends "srun without -K" srun -N 2 --mpi=pmix
stuck srun srun -N 2 --mpi=pmix
out=$(RETURN=1 timeout 250 srun -N 2 --mpi=pmix ./doomed large 2 1 0 2>&1)
is $? 137 "with errors that are returned the others go on and end" ||
	diag "$out"
none "$(echo "$out" | grep WRONG)" "after MPI_ERR_PROC_ABORTED"
done_testing
