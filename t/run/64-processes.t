#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One rank per process: programs that cannot be loaded several times or are not
# to be, scripts, and programs that know nothing of MPI.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the programs would need the sanitizer too" ;;
esac
unset MPIEXEC_TIMEOUT
libdir=$VMPI_BUILD/lib
cc="${CC:-cc} -g -Wall -I$VMPI_SRC/include"

$cc -o processes "$programs/processes.c" "-L$libdir" -lmpi_abi \
	"-Wl,-rpath,$libdir" -pthread || exit 1

# Each rank a process, whatever the program is.
before=
job() {
	job_ranks=$1
	shift
	timeout 250 $before "$vmpirun" --processes -n "$job_ranks" "$@" \
		</dev/null 2>err
}

# good RANKS NAME WORD...
good() {
	good_ranks=$1
	good_name=$2
	shift 2
	job "$good_ranks" "$@" >out
	is $? 0 "$good_name: exit code 0"
	is "$(grep -c ": 0 faults\$" out)" "$good_ranks" \
		"$good_name: all ranks are content" || diag "$(cat out err)"
}

for ranks in 1 2 4 7; do
	good $ranks "$ranks ranks" ./processes work
done
good 3 "threads" ./processes threads
good 3 "tests" ./processes tests
for ranks in 2 3 9; do
	good $ranks "$ranks ranks start collectives" ./processes starts
done
cpu=$(taskset -cp $$ 2>/dev/null | sed 's/.*: *//; s/[^0-9].*//')
if [ "$cpu" ]; then
	before="taskset -c $cpu"
	good 3 "sends on one core" ./processes sends
	before=
else
	skip 2 "taskset is not installed"
fi
good 3 "write" --set core_rndv_protocol=write ./processes work
good 3 "pipeline" --set core_rndv_protocol=pipeline ./processes work

# Ends of jobs.
job 3 ./processes abort >out
is $? 42 "MPI_Abort: its code"
like "$(cat err)" '^vmpirun: rank 1 called MPI_Abort\(42\)( \(in .*)?$' "the rank is named"
is "$(wc -l <err)" 1 "in the only line" || diag "$(cat err)"
like "$(cat out)" 'rank 1 has said this' "what was printed is not lost"
job 3 ./processes exit >out
is $? 33 "exit without MPI_Finalize: its code"
like "$(cat err)" '^vmpirun: rank 1 \(pid [0-9]+\) exited with status 33; ending the job$' \
	"the rank is named"
job 3 ./processes leave >out
is $? 1 "to leave without MPI_Finalize is a failure"
like "$(cat err)" '^vmpirun: rank 1 \(pid [0-9]+\) exited with status 0 and without MPI_Finalize; ending the job$' \
	"which is said"
job 3 ./processes work 5 >out
is $? 5 "a code after MPI_Finalize is that of the job"
job 3 ./processes die >out
is $? 137 "kill -9 of a rank ends the job"
like "$(cat err)" '^vmpirun: rank 1 \(pid [0-9]+\) died of SIGKILL' \
	"the rank is named"
job 3 ./processes crash >out
is $? 139 "so does a fault"
like "$(cat err)" '^vmpirun: rank 1 raised SIGSEGV in end, processes.c:[0-9]+, called from main' \
	"the rank is named, and the place"
none "$(still "$scratch/processes|\./processes (die|crash)")" \
	"nobody is left behind"
job 4 --keep-going ./processes bereft >out
is $? 137 "--keep-going: the code is that of the death"
is "$(grep -c ': 0 faults$' out)" 3 "the others get errors, and go on" ||
	diag "$(cat out err)"

# Output and input.
job 4 -l ./processes work | sort >out
is "$(cat out)" "[0] rank 0 of 4: 0 faults
[1] rank 1 of 4: 0 faults
[2] rank 2 of 4: 0 faults
[3] rank 3 of 4: 0 faults" "-l labels the lines"
is "$(job 2 -l printf 'a\n\nb' | sort)" "[0] 
[0] a
[0] b
[1] 
[1] a
[1] b" "also empty ones, and those without an end"
job 2 -l sh -c 'echo complaint >&2' >out
is "$(sort err)" "[0] complaint
[1] complaint" "standard error stays that"
is "$(job 2 -l head -c 3000000 /dev/zero | tr -cd '\0' | wc -c)" 6000000 \
	"what is no line comes in pieces"
is "$(job 3 -l seq 20000 | sed 's/^\[[012]\] //' | sort -n | uniq -c |
	awk '$1 != 3' | wc -l)" 0 "no line is lost or mixed with others"
job 12 --output dir sh -c 'echo out; echo err >&2' >out
is "$(cat dir/rank.07.out dir/rank.07.err)" "out
err" "--output writes files"
is "$(ls dir | wc -l)" 24 "two of each rank"
none "$(cat out err)" "and nothing else"
is "$(echo hello | timeout 100 "$vmpirun" -n 3 -l cat)" "[0] hello" \
	"standard input is that of rank 0"

# Programs without MPI, and scripts.
is "$(job 4 echo hi | sort | uniq -c | tr -s ' ')" " 4 hi" \
	"a program without MPI runs as often"
job 3 sh -c 'exit 9'
is $? 9 "its code is that of the job"
cat >script <<'END'
#!/bin/sh
greeting=$1
shift
"$@"
code=$?
echo "$greeting"
exit $code
END
chmod +x script
good 3 "a script" ./script bye ./processes work
is "$(grep -c '^bye$' out)" 3 "which goes on afterwards"
job 3 ./script bye ./processes abort >out
is $? 42 "MPI_Abort ends scripts too"
job 2 sh -c './processes work; ./processes work' >out
like "$(cat err)" 'has been in the job already' \
	"a process is in the job once" || diag "$(cat out err)"
cat >starts.c <<'END'
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (system(argv[1]))
		return 1;
	return MPI_Finalize();
}
END
$cc -o starts starts.c "-L$libdir" -lmpi_abi "-Wl,-rpath,$libdir"
is "$(job 2 ./starts './processes work')" "rank 0 of 1: 0 faults
rank 0 of 1: 0 faults" "what a rank starts is a job of its own"
"$vmpicc" -o linked "$programs/processes.c" -pthread
good 3 "a script of a program linked by vmpicc" ./script bye ./linked threads

# A library that is loaded at run time, as by Python.
python=$(command -v python3)
if [ -z "$python" ] || ! "$python" -c 'import ctypes' 2>/dev/null; then
	skip 3 "there is no python3 with ctypes"
else
	cat >ranks.py <<'END'
import ctypes
import sys

mpi = ctypes.CDLL(sys.argv[1] + "/libmpi_abi.so.1")
world = ctypes.c_void_p(0x101)
integer = ctypes.c_void_p(0x20A)
total = ctypes.c_void_p(0x21)
ignore = ctypes.c_void_p(0)
rank, size, got = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(-1)
mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Comm_size(world, ctypes.byref(size))
large = (ctypes.c_long * 200000)(*([rank.value] * 200000))
other = (ctypes.c_long * 200000)()
after = (rank.value + 1) % size.value
before = (rank.value - 1) % size.value
mpi.MPI_Sendrecv(large, 200000, integer, after, 7, other, 200000, integer,
                 before, 7, world, ignore)
value = ctypes.c_long(rank.value)
sum = ctypes.c_long()
mpi.MPI_Allreduce(ctypes.byref(value), ctypes.byref(sum), 1, integer, total,
                  world)
mpi.MPI_Finalize()
sys.stdout.write("rank %d of %d sum %d before %d %d\n" % (
    rank.value, size.value, sum.value, other[0], other[199999]))
END
	is "$(job 3 python3 ranks.py "$libdir" | sort)" \
		"rank 0 of 3 sum 3 before 2 2
rank 1 of 3 sum 3 before 0 0
rank 2 of 3 sum 3 before 1 1" "ranks can be Python"
	printf '#!%s\n' "$python" | cat - ranks.py >ranks
	chmod +x ranks
	is "$(job 2 ./ranks "$libdir" | sort | tail -n 1)" \
		"rank 1 of 2 sum 1 before 0 0" "also as scripts"
	is "$(timeout 100 ./ranks "$libdir")" "rank 0 of 1 sum 0 before 0 0" \
		"also alone"
fi

# Mistakes.
mistake() {
	regex=$1
	shift
	job "$@" >out
	is $? 2 "$*: exit code 2"
	like "$(cat err)" "$regex" "$*: the message"
	is "$(cat out err | wc -l)" 1 "$*: one line"
}
mistake '^vmpirun: --nodes 2: each of the 3 ranks of ./processes is a process \(--processes is given\)' \
	3 --nodes 2 ./processes
mistake '--ppn 2 have room for 2 ranks' 3 --ppn 2 ./processes
mistake '^vmpirun: --summary .*each rank of ./processes is a process: --processes' 3 --summary ./processes
mistake '^vmpirun: --display-map ' 3 --display-map ./processes
printf '0-1 0\n2 1\n' >places
mistake '^vmpirun: --map ' 3 --map places ./processes
good 3 "one host after the other is this one" --map cyclic ./processes
mistake '^vmpirun: --balance ' 3 --balance=auto ./processes
good 3 "--nodes with the number of ranks" --nodes 3 ./processes
VMPI_JOB_RANKS=3 ./processes >out 2>err
ok "a process is not several ranks (code $?)" test $? -ne 0
like "$(cat err)" 'assigns 3 ranks to this process' "which is said"

like "$(job 2 --dry-run ./processes)" '^# each rank is a process: --processes is given$' \
	"--dry-run says which way it is"
is "$(job 2 --dry-run ./processes | tail -n 1 |
	sed "s, LD_LIBRARY_PATH=[^ ]*/abi,,")" \
	"env VMPI_JOB_RANKS=2 VMPI_JOB_NODES=2 VMPI_JOB_PROCESSES=1 PMI_RANK=1 PMI_SIZE=2 ./processes" \
	"and shows each process"
is "$(job 5 --dry-run -H a:3,b:2 --agent 'on %h %n' ./processes |
	grep -o 'on [ab] [0-9]' | tr '\n' ' ')" \
	"on a 0 on a 1 on a 2 on b 3 on b 4 " "hosts get as many as they have slots"

# A script with another MPI: each process is alone, and content.
echo 'int nothing;' >other.c
${CC:-cc} -shared -fPIC -o libmpi.so.40 other.c &&
	$cc -o loads "$programs/loads.c" "-L$libdir" -lmpi_abi "-Wl,-rpath,$libdir" ||
	exit 1
printf '#!/bin/sh\ntrue\n./loads "$@"\n' >script
printf '#!/bin/sh\necho "$MPI4PY_MPIABI"\n' >tells
chmod +x script tells
other="^vmpirun: rank [01] \(pid [0-9]+\) has loaded another MPI, .*/libmpi.so.40, and has not joined the job: "
# loads CODE NAME WORDS...
loads() {
	loads_code=$1
	loads_name=$2
	shift 2
	rm -f said
	timeout 250 "$vmpirun" "$@" </dev/null >out 2>said
	is $? "$loads_code" "$loads_name"
	like "$(cat said)" "$other" "and it is named"
	is "$(grep -c another said)" 1 "once"
	none "$(cat out)" "in time"
}
loads 1 "a script with another MPI ends with 1" -n 2 ./script said
loads 1 "labelled, too" -l --nodes 2 ./script said
loads 3 "a code of its own stays" -n 2 --keep-going ./script said a b c
timeout 250 "$vmpirun" -n 2 --processes ./loads join >out 2>&1
is "$?, $(cat out)" "0, " "who has it in memory, and joins, is right"
timeout 250 "$vmpirun" -n 4 hostname >out 2>&1
is "$?, $(sort -u out)" "0, $(hostname)" "who has none need not join"
is "$("$vmpirun" -n 1 ./tells), $(MPI4PY_MPIABI=x "$vmpirun" -n 1 ./tells)" \
	"mpiabi, x" "mpi4py is told which library to take, unless it was"

# Without /proc nothing can be loaded many times.
if unshare -m sh -c 'mount -t tmpfs none /proc' 2>/dev/null; then
	unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' - \
		timeout 250 "$vmpirun" -n 2 ./processes work </dev/null >out 2>err
	is "$?, $(grep -c '^rank [01] of 2: ' out)" "0, 2" \
		"without /proc ranks are processes" || diag "$(cat out err)"
	like "$(cat err)" '^vmpirun: each rank of ./processes is a process, because /proc is not mounted, or' \
		"which is said"
else
	skip 2 "there are no mounts here"
fi

# Other launchers.
direct() {
	direct_name=$1
	shift
	timeout 250 "$@" ./processes work </dev/null >out 2>err
	is $? 0 "$direct_name starts ranks"
	is "$(grep -c ': 0 faults$' out)" 3 "$direct_name: they are content" ||
		diag "$(cat out err)"
	good 3 "--launcher $direct_name" --launcher "$direct_name" ./processes
}
if command -v mpiexec.hydra >/dev/null &&
	timeout 250 mpiexec.hydra -n 1 true >out 2>&1; then
	direct hydra mpiexec.hydra -n 3
else
	skip 4 "mpiexec.hydra of MPICH does not run here"
fi
if grep -q 'VM_HAVE_PMIX=1' "$VMPI_BUILD/build.ninja" &&
	command -v mpirun.openmpi >/dev/null &&
	timeout 250 mpirun.openmpi --oversubscribe --allow-run-as-root -np 1 \
		true >out 2>&1; then
	OMPI_MCA_oob_tcp_if_include=lo
	OMPI_MCA_btl_tcp_if_include=lo
	export OMPI_MCA_oob_tcp_if_include OMPI_MCA_btl_tcp_if_include
	direct mpirun mpirun.openmpi --oversubscribe --allow-run-as-root -np 3
else
	skip 4 "mpirun of Open MPI does not run here"
fi
done_testing
