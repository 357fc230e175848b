#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The same programs on two hosts with a network between them, started as users do:
# by ssh, in a script of PBS, in a script of Slurm, and by srun alone.  There are
# as many ranks as each of these means, where it means them.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
. "$VMPI_SRC/t/run/hosts.sh"
. "$VMPI_SRC/t/run/slurm.sh"
. "$VMPI_SRC/t/run/pbs.sh"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the programs would need the sanitizer too" ;;
esac
unset MPIEXEC_TIMEOUT
# Both are one machine: they would share its memory.
export VMPI_FABRIC_SHM=off
export RANKS_PER_HOST=2
hosts_start
hosts_sshd
diag "ssh is $rsh"
# What users and scripts call ssh.
mkdir bin
printf '#!/bin/sh\nPATH=%s exec %s "$@"\n' "$PATH" "$rsh" >bin/ssh
chmod +x bin/ssh
PATH=$scratch/bin:$PATH

abi="-L$VMPI_BUILD/lib -lmpi_abi -Wl,-rpath,$VMPI_BUILD/lib -pthread"
${CC:-cc} -g -I"$VMPI_SRC/include" -o processes "$programs/processes.c" $abi &&
	"$vmpicc" -o image "$programs/processes.c" -pthread &&
	"$vmpicc" -o where "$programs/hosts.c" || exit 1

# script COMMENT WORDS...: a job of two nodes that runs vmpirun so.
script() {
	printf '#!/bin/sh\n%s\ncd "%s"\nPATH="%s"\nexec "%s" -x RANKS_PER_HOST' \
		"$1" "$scratch" "$PATH" "$vmpirun" >job
	shift
	printf " '%s'" "$@" >>job
}

by_ssh() {
	on $a timeout 200 "$vmpirun" -H $a:2,$b:2 --launcher ssh \
		-x RANKS_PER_HOST "$@" </dev/null
}

select=2:ncpus=2:mpiprocs=2
by_pbs() {
	script "#PBS -l select=$select -l place=scatter" "$@"
	pbs_job job
}

by_sbatch() {
	script '#SBATCH --nodes=2 --ntasks-per-node=2' "$@"
	batch_run
}

batch_run() {
	on $a timeout 200 sbatch -Q -W -o slurm.out -e slurm.err job >&2
	sbatch_code=$?
	cat slurm.out
	return $sbatch_code
}

# Faster than sbatch, which waits for whole seconds.
tasks=--ntasks-per-node=2
by_slurm() {
	on $a timeout 200 salloc -Q -N 2 $tasks "$vmpirun" "$@" </dev/null
}

# places HOW OPTIONS...: the host of each rank.
places() {
	"$@" ./where 2>err | sort -n | sed "s/-$$//; s/.*vmpi-//" | tr '\n' ' '
}

content() {
	is "$(grep -c ': 0 faults$' out)" 4 "$1" || diag "$(cat out err)"
}

cluster() {
	how=$1
	# What launches there, without a batch system's own words.
	is "$(places by_$how)" "a a b b " "$how: two ranks on each host"
	is "$(places by_$how --map-by node)" "a b a b " \
		"$how: in turn with --map-by node"
	is "$(places by_$how --ppn 1)" "a b " "$how: one each with --ppn 1"
	is "$(places by_$how -n 8)" "a a a a b b b b " \
		"$how: more ranks than slots"
	is "$(places by_$how -n 2 -N 2)" "a b " "$how: --nodes says on how many"
	is "$(places by_$how -n 2)" "$2" "$how: fewer, as they are used to"
	is "$(places by_$how --processes)" "a a b b " \
		"$how: ranks that are processes are there, too"
	is "$(places by_$how --processes --map-by node)" "a b a b " \
		"$how: and in turn"
	RANKS_PER_HOST=4 by_$how --nodes 4 -n 8 ./image work >out 2>err
	is "$(grep -c ': 0 faults$' out)" 8 "$how: two nodes on each host" ||
		diag "$(cat out err)"
	by_$how ./image work >out 2>err
	content "$how: node processes are content"
	by_$how --processes ./processes work >out 2>err
	content "$how: ranks that are processes, too"
	by_$how --processes ./processes threads >out 2>err
	content "$how: and their threads"
	by_$how ./image abort >out 2>&1
	is $? 42 "$how: MPI_Abort's code comes back"
	by_$how --processes ./processes die >out 2>&1
	ok "$how: the death of a rank ends the job" test $? -gt 1
	none "$(still '^\./processes die')" "$how: on both hosts"
	like "$(by_$how -l ./where 2>&1 | sort | tr '\n' ' ')" \
		'^\[0\] 0/4 vmpi-a.* \[1\] 1/4 vmpi-a.* \[2\] 2/4 vmpi-b.* \[3\] 3/4 vmpi-b' \
		"$how: lines have labels"
}

cluster ssh "a a "
is "$(places on $a timeout 200 "$vmpirun" -H $a:1,$b:3 --launcher ssh)" \
	"a b b b " "ssh: unequal slots"
pbs_start
diag "qsub is $pbs_what"
cluster pbs "a a "
select=1:ncpus=3:mpiprocs=3+1:ncpus=1:mpiprocs=1
is "$(places by_pbs)" "a a a b " "pbs: chunks that are unequal"
pbs_stop

if ! slurm_start_hosts 4; then
	skip 29 "$slurm_why"
elif ! grep -q 'VM_HAVE_PMIX=1' "$VMPI_BUILD/build.ninja"; then
	skip 29 "this vmpi was built without PMIx"
else
	cluster slurm "a b "
	tasks=-n3
	is "$(places by_slurm)" "a a b " "slurm: tasks that are unequal"
	is "$(places by_sbatch)" "a a b b " "sbatch: two ranks on each host"
	by_sbatch ./image work >out 2>err
	content "sbatch: node processes are content"
	by_sbatch ./image abort >out 2>&1
	is $? 42 "sbatch: MPI_Abort's code comes back"
	by_srun() {
		on $a timeout 200 srun -Q -K --mpi=pmix "$@" </dev/null
	}
	is "$(places by_srun -N 2 --ntasks-per-node=2)" "a a b b " \
		"srun alone: its tasks are ranks"
	is "$(places by_srun -N 2 --ntasks-per-node=2 -m cyclic)" "a b a b " \
		"srun alone: in its order"
	by_srun -N 2 --ntasks-per-node=2 ./processes work >out 2>err
	content "srun alone: they are content"
	printf '#!/bin/sh\n#SBATCH -N 2 --ntasks-per-node=2\n' >job
	printf 'cd %s\nsrun --mpi=pmix ./processes work\n' "$scratch" >>job
	batch_run >out 2>err
	content "srun in a script of sbatch: they are, too"
	RANKS_PER_HOST=4 VMPI_JOB_RANKS=8 VMPI_JOB_NODES=4 by_srun -N 2 \
		--ntasks-per-node=2 "$VMPI_BUILD/bin/vmpi-node/vmpi-node" \
		./image work >out 2>err
	is "$(grep -c ': 0 faults$' out)" 8 \
		"srun alone: its tasks are nodes" || diag "$(cat out err)"
	by_slurm sh -c 'touch "up-$(hostname)"; exec sleep 1000' >out 2>&1 &
	until [ -f up-$a ] && [ -f up-$b ]; do
		sleep 0.1
	done
	on $a scancel -u "$(id -un)"
	wait $!
	ok "scancel ends a job" test $? -ne 0
	none "$(still '^sleep 1000$')" "slurm: on both hosts"
fi
done_testing
