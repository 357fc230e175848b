#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs on two hosts as they are started by ssh, and in scripts of PBS, LSF and
# Slurm: how many ranks there are, where, and what becomes of their output, input,
# signals and ends.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
. "$VMPI_SRC/t/run/hosts.sh"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the programs would need the sanitizer too" ;;
esac
unset MPIEXEC_TIMEOUT PBS_NODEFILE LSB_MCPU_HOSTS
# Both are one machine: they would share its memory.
export VMPI_FABRIC_SHM=off
hosts_start
hosts_sshd
diag "by $rsh"

abi="-L$VMPI_BUILD/lib -lmpi_abi -Wl,-rpath,$VMPI_BUILD/lib -pthread"
${CC:-cc} -g -I"$VMPI_SRC/include" -o processes "$programs/processes.c" $abi &&
	"$vmpicc" -o image "$programs/processes.c" -pthread &&
	"$vmpicc" -o where "$programs/hosts.c" || exit 1

job() {
	on $a timeout 250 "$vmpirun" -launcher-exec "$rsh" "$@" 2>err
}
ssh_job() {
	job --launcher ssh "$@"
}
# places OPTIONS...: the host of each rank.
places() {
	job "$@" ./where </dev/null | sort -n | sed "s/-$$//; s/.*vmpi-//" |
		tr '\n' ' '
}

RANKS_PER_HOST=2
export RANKS_PER_HOST
ssh_job -x RANKS_PER_HOST -H $a:2,$b:2 ./image work </dev/null >out
is $? 0 "node processes by ssh"
is "$(grep -c ': 0 faults$' out)" 4 "and their ranks are content" ||
	diag "$(cat out err)"
ssh_job -x RANKS_PER_HOST --processes -H $a:2,$b:2 ./processes work </dev/null >out
is "$(grep -c ': 0 faults$' out)" 4 "ranks that are processes are, too" ||
	diag "$(cat out err)"
unset RANKS_PER_HOST
is "$(places --launcher ssh -H $a:2,$b:2)" "a a b b " \
	"ranks are where -H says"
is "$(places --launcher ssh -H $a:2,$b:2 --map-by node)" "a b a b " \
	"and one by one with --map-by node"
is "$(places --launcher ssh -H $b:1,$a:3)" "b a a a " \
	"the first may be elsewhere"
is "$(places -H $a:2,$b:2 --launcher ssh --mca plm_rsh_agent "$rsh")" \
	"a a b b " "Open MPI's variable names another ssh"

# Another MPI there, which each process has for itself.
echo 'int nothing;' >other.c
${CC:-cc} -shared -fPIC -o libmpi.so.40 other.c &&
	${CC:-cc} -I"$VMPI_SRC/include" -o loads "$programs/loads.c" $abi || exit 1
printf '#!/bin/sh\n./loads "$@"\n' >script
chmod +x script
ssh_job -H $b:2 ./script err </dev/null >out
is "$?, $(cat out)" "1, " "processes with another MPI are found on other hosts"
like "$(cat err)" "^vmpirun: a process on $b has loaded another MPI, .*/libmpi.so.40," \
	"which are named"
is "$(grep -c another err)" 1 "once"
ssh_job --processes -H $b:2 ./loads join </dev/null >out
is "$?, $(cat out err)" "0, " "who joins has the right one"
is "$(ssh_job -H $b:2 sh -c 'echo $MPI4PY_MPIABI' </dev/null | tr '\n' ' ')" \
	"mpiabi mpiabi " "which mpi4py is told there, too"

is "$(echo hello | ssh_job -H $b:1,$a:1 sh -c 'cat; hostname' | sort | tr '\n' ' ')" \
	"hello $a $b " "rank 0 gets standard input"
head -c 3000000 /dev/zero | tr '\0' 'x' >much
is "$(ssh_job -H $b:1 sh -c 'cat; exit 7' <much | cksum)" "$(cksum <much)" \
	"much of it, and back"
ssh_job -H $b:1 sh -c 'exit 7' <much
is $? 7 "input that nobody reads does no harm, and the exit code comes"
is "$(GREETING=hi NAME=you ssh_job -x GREETING -H $b:1 sh -c 'echo $GREETING $NAME')" \
	hi "variables are passed on with -x"
is "$(GREETING=hi NAME=you ssh_job -genvall -H $b:1 sh -c 'echo $GREETING $NAME')" \
	"hi you" "all of them with -genvall"
is "$(ssh_job -wdir /usr -H $b:1 pwd)" /usr "the directory is the same"
ssh_job -H $a:1,$b:1 ./image abort </dev/null >out
is $? 42 "MPI_Abort's code comes from there"
ssh_job --processes -H $a,$b:2 ./processes die </dev/null >out
is $? 137 "the death of a rank there ends the job"
like "$(cat err)" "^vmpirun: rank 1 on $b \(pid [0-9]+\) died of SIGKILL" \
	"with its name"
like "$(ssh_job -H $a:1,$b:1 -l ./where </dev/null | sort | tr '\n' ' ')" \
	'^\[0\] 0/2 vmpi-a.* \[1\] 1/2 vmpi-b' "lines have labels"

ssh_job -H $a:1,$b:1 --timeout 2 sleep 1000 </dev/null >out
is $? 124 "a time limit ends it"
none "$(still '^sleep 1000$')" "on both hosts"
ssh_job -H $b:1 sh -c 'trap "echo got TERM; exit 3" TERM; echo up; while :; do sleep 0.1; done' \
	</dev/null >out &
until grep -q up out; do
	sleep 0.1
done
kill -TERM "$(pgrep -f "^$vmpirun -launcher-exec.*-H $b:1 sh" | head -n 1)"
wait $!
is "$?, $(tail -n 1 out)" "143, got TERM" "signals get there"
ssh_job -H $a:1,nowhere-$$:1 ./where </dev/null >out
is $? 2 "a host that is not there"
like "$(cat err)" "to nowhere-$$ has failed" "is named"
printf '#!/bin/sh\necho Welcome.\nshift\nexec sh -c "$*"\n' >chatty
chmod +x chatty
is "$(on $a timeout 100 "$vmpirun" --launcher ssh -launcher-exec ./chatty \
	-n 1 -H elsewhere echo yes 2>err; cat err)" "yes
Welcome." "what a login shell says is no output of the job"

printf '%s\n' $a $a $b $b >nodefile
PBS_NODEFILE=$scratch/nodefile
export PBS_NODEFILE
is "$(places)" "a a b b " "a script of PBS: a line is a rank"
is "$(places -n 2)" "a a " "-n fills one host after the other"
is "$(places -n 2 --launcher fork)" "a a " "unless there are to be none"
is "$(places -n 1 -H $b)" "b " "-H comes first"
unset PBS_NODEFILE
LSB_MCPU_HOSTS="$a 1 $b 2"
export LSB_MCPU_HOSTS
is "$(places)" "a b b " "a script of LSF"
unset LSB_MCPU_HOSTS
done_testing
