#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two fake nodes of Slurm: processes that srun starts join by PMIx, and vmpirun
# composes the srun command.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/slurm.sh"
vmpirun=$VMPI_BUILD/vmpirun
node=$VMPI_BUILD/t/boot/boot-node
[ -x "$vmpirun" ] && [ -x "$node" ] || skip_all "vmpirun is not built"
"$vmpirun" --version >/dev/null || skip_all "vmpirun does not run"
grep -q 'VM_HAVE_PMIX=1' "$VMPI_BUILD/build.ninja" ||
	skip_all "this vmpi was built without PMIx"
unset MPIEXEC_TIMEOUT GLIBC_TUNABLES VMPI_NODE
# libpmix leaves a few bytes behind.
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
export ASAN_OPTIONS
slurm_start 2
cd "$scratch" || exit 1

out=$(timeout 200 srun -N 2 --mpi=pmix "$node" who key exchange 2>&1)
is $? 0 "srun --mpi=pmix starts a job of two processes"
like "$out" '^process 0 of 2: ranks 0-0 of 2, hosts 1, .* pmix' \
	"the first is rank 0, on the same machine as the other"
like "$out" '^process 1 of 2: ranks 1-1 of 2' "the second is rank 1"
is "$(echo "$out" | grep -c 'key is the same$')" 2 "they have one key"
is "$(echo "$out" | grep -c 'exchanged$')" 2 "and exchange blobs"

timeout 200 srun -N 2 --mpi=pmix "$node" 1:abort=42 sleep=30000 >out 2>&1
is $? 42 "an abort ends the job with its code"
timeout 200 srun -N 2 --mpi=pmix -K "$node" 1:signal=KILL sleep=30000 \
	>out 2>&1
ok "the death of a process ends the job" test $? -ne 0 -a $? -ne 124

out=$(timeout 200 srun -N 2 "$node" who 2>&1)
is "$(echo "$out" | grep -c '^process 0 of 1: .* alone')" 2 \
	"without --mpi=pmix each is alone"
like "$out" 'vmpi: this is one of 2 tasks of srun, .*--mpi=pmix' \
	"and says so"

# vmpirun in a batch job, as far as it can tell.
VMPI_NODE=$node
export VMPI_NODE
batch() {
	cat >job <<END
#!/bin/sh
exec timeout 200 "$vmpirun" $*
END
	chmod +x job
	timeout 250 salloc -N 2 ./job 2>&1 | grep -v '^salloc:'
}
if command -v salloc >/dev/null; then
	out=$(batch -n 6 true who key exchange)
	like "$out" '^process 0 of 2: ranks 0-2 of 6, .* pmix' \
		"vmpirun in a Slurm job uses its nodes"
	like "$out" '^process 1 of 2: ranks 3-5 of 6' "all of them"
	is "$(echo "$out" | grep -c 'exchanged$')" 2 "which exchange blobs"
	out=$(batch -n 5 --nodes 1 --launcher fork true who)
	like "$out" '^process 0 of 1: ranks 0-4 of 5' "if it is not told to fork"
	out=$(batch -H n2:4,n1:2 true who)
	like "$out" '^process 0 of 2: ranks 0-3 of 6' \
		"hosts with slots get as many ranks"
	like "$out" '^process 1 of 2: ranks 4-5 of 6' "each"
	echo hello >in
	out=$(batch -n 2 true stdin '<in')
	like "$out" "^process 0: stdin 'hello'\$" "rank 0 gets standard input"
	like "$out" "^process 1: stdin ''\$" "the others nothing"
else
	skip 8 "there is no salloc"
fi
done_testing
