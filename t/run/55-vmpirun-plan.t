#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which command vmpirun makes of hosts, slots and launchers, and the mistakes in
# them.  The launchers are stand-ins that print their arguments.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
vmpirun=$VMPI_BUILD/vmpirun
[ -x "$vmpirun" ] || skip_all "vmpirun is not built"
for name in $(env | sed -n 's/^\(SLURM_[A-Z_]*\|VMPI_[A-Z_]*\|FI_[A-Z_]*\)=.*/\1/p'); do
	case $name in
	VMPI_SRC | VMPI_BUILD) ;;
	*) unset "$name" ;;
	esac
done
unset MPIEXEC_TIMEOUT GLIBC_TUNABLES VMPI_SRC VMPI_BUILD
cd "$scratch" || exit 1
mkdir all none srun mpirun hydra
for name in srun mpirun mpiexec.hydra; do
	printf '#!/bin/sh\necho "%s: $VMPI_JOB_RANKS $VMPI_JOB_NODES $VMPI_JOB_BLOCKS" "$@"\n' \
		$name >all/$name
	chmod +x all/$name
done
cp all/srun srun
cp all/mpirun mpirun
cp all/mpiexec.hydra hydra
printf '#!/bin/sh\n' >all/node
chmod +x all/node
cp all/node prog
VMPI_NODE=$scratch/all/node
export VMPI_NODE
here=$(pwd -P)
# The tools of this test, and no launcher.
for tool in timeout wc grep sed cat env sh; do
	ln -s "$(command -v $tool)" none/$tool
done

# Paths cut down to names, and what is the same in every line left out.
plain() {
	sed -e "s,[^ ]*/vmpirun @ssh,vmpirun @ssh," -e "s,$here/[a-z]*/,,g" -e 's/ GLIBC_TUNABLES=[^ ]*//' \
		-e "s/--allow-run-as-root //"
}
dry() {
	stand_ins=$scratch/$1:$scratch/none
	shift
	PATH=$stand_ins timeout 100 "$vmpirun" --dry-run "$@" 2>&1 | plain
}

is "$(dry all -n 4 ./prog a 'b c')" \
	"env VMPI_JOB_RANKS=4 node ./prog a 'b c'" \
	"one host, one process: no launcher"
is "$(dry all -n 4 --nodes 2 ./prog)" \
	"# 2 processes; vmpirun adds PMI_FD, a socket to itself, and VMPI_JOB_KEY
env VMPI_JOB_RANKS=4 VMPI_JOB_NODES=2 PMI_RANK=0 PMI_SIZE=2 node ./prog
env VMPI_JOB_RANKS=4 VMPI_JOB_NODES=2 PMI_RANK=1 PMI_SIZE=2 node ./prog" \
	"several processes on this host: a line each"
is "$(dry all -n 2 --agent "taskset -c %n" -H a,b ./prog | tail -n 1)" \
	"env VMPI_JOB_RANKS=2 VMPI_JOB_NODES=2 PMI_RANK=1 PMI_SIZE=2 taskset -c 1 node ./prog" \
	"an agent stands before each"

mpirun_end="--bind-to none -x VMPI_JOB_RANKS -x VMPI_JOB_NODES -x GLIBC_TUNABLES"
is "$(dry mpirun -n 8 -H a,b ./prog x)" \
	"env VMPI_JOB_RANKS=8 VMPI_JOB_NODES=2 mpirun -np 2 --host a:1,b:1 --map-by ppr:1:node $mpirun_end -x VMPI_NODE node ./prog x" \
	"two hosts: mpirun, when it is there and ssh is not"
is "$(dry all -n 8 -H a,b ./prog)" \
	"env VMPI_JOB_RANKS=8 VMPI_JOB_NODES=2 mpirun -np 2 --host a:1,b:1 --map-by ppr:1:node $mpirun_end -x VMPI_NODE node ./prog" \
	"it comes before hydra, and srun without a job is none"
is "$(dry hydra -n 8 -H a,b ./prog)" \
	"env VMPI_JOB_RANKS=8 VMPI_JOB_NODES=2 mpiexec.hydra -n 2 -hosts a,b -ppn 1 -bind-to none node ./prog" \
	"hydra, when there is nothing else"
srun_end="--mpi=pmix --cpu-bind=none --export=ALL --input=0"
is "$(SLURM_JOB_ID=1 dry all -n 8 -H a,b ./prog)" \
	"env VMPI_JOB_RANKS=8 VMPI_JOB_NODES=2 srun --ntasks=2 --nodes=2 --ntasks-per-node=1 --nodelist=a,b $srun_end --kill-on-bad-exit=1 node ./prog" \
	"in a Slurm job srun comes first"
is "$(SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=3 dry all -n 8 ./prog)" \
	"env VMPI_JOB_RANKS=8 VMPI_JOB_NODES=3 srun --ntasks=3 --nodes=3 --ntasks-per-node=1 $srun_end --kill-on-bad-exit=1 node ./prog" \
	"which needs no hosts"
like "$(SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=3 dry all -N 2 -n 8 ./prog)" \
	'srun --ntasks=2 --nodes=2' "--nodes takes some of the nodes"
like "$(SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=3 SLURM_STEP_ID=0 dry all -n 8 ./prog)" \
	'^env VMPI_JOB_RANKS=8 node ./prog$' "a task of srun starts no tasks"
like "$(SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=1 dry all -n 8 ./prog)" \
	'^env VMPI_JOB_RANKS=8 node ./prog$' "one node needs no srun"
like "$(SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=3 dry all -n 8 --launcher fork ./prog)" \
	'^env VMPI_JOB_RANKS=8 node ./prog$' "--launcher fork starts here"
cp all/node all/ssh
like "$(dry all -n 8 -H a,b ./prog | tail -n 1)" \
	' vmpirun @ssh b ssh .* node ./prog$' "ssh comes before both"
like "$(SLURM_JOB_ID=1 dry all -n 8 -H a,b ./prog)" ' srun --ntasks=2 ' \
	"but not before srun in a job"
rm all/ssh
like "$(dry all --launcher hydra -n 8 -H a,b ./prog)" ' mpiexec.hydra -n 2 ' \
	"--launcher hydra asks for it"
is "$(dry all --launcher mpirun --nodes 2 -n 2 ./prog)" \
	"env VMPI_JOB_RANKS=2 VMPI_JOB_NODES=2 mpirun -np 2 --oversubscribe $mpirun_end -x VMPI_NODE node ./prog" \
	"a launcher may start all nodes on this host"
like "$(dry all --launcher srun --nodes 2 -n 2 --keep-going ./prog)" \
	'kill-on-bad-exit=0' "--keep-going is passed on"

is "$(dry all --launcher srun -n 8 -H b:6,a:2 ./prog)" \
	"env VMPI_JOB_RANKS=8 VMPI_JOB_NODES=2 VMPI_JOB_BLOCKS=6,2 srun --ntasks=2 --distribution=arbitrary --nodelist=b,a $srun_end --kill-on-bad-exit=1 node ./prog" \
	"slots make unequal blocks, in the order of the hosts"
like "$(dry hydra -H a:6,b:2 ./prog)" 'RANKS=8 VMPI_JOB_NODES=2 VMPI_JOB_BLOCKS=6,2' \
	"slots are the number of ranks"
like "$(dry hydra -n 16 -H a:6,b:2 ./prog)" 'RANKS=16 .*BLOCKS=12,4' \
	"or give the proportion"
like "$(dry hydra -n 7 -H a:6,b:2 ./prog)" 'RANKS=7 .*BLOCKS=6,1 .* -hosts a,b ' \
	"fewer ranks fill one host after the other"
like "$(dry hydra -n 6 -H a:6,b:2 ./prog)" 'RANKS=6 mpiexec.hydra -n 1 -hosts a ' \
	"and leave those out that they do not need"
like "$(dry hydra -n 4 --nodes 2 -H a:6,b:2 ./prog)" 'BLOCKS=3,1 .* -hosts a,b ' \
	"unless --nodes says how many"
like "$(dry hydra -n 2 --map-by node -H a:6,b:2 ./prog)" ' -hosts a,b ' \
	"or ranks go to the hosts in turn"
like "$(dry hydra -n 7 --map-by node -H a:6,b:2 ./prog)" 'BLOCKS=5,2 ' \
	"as long as they have slots"
like "$(dry hydra -n 4 -H a:2,b:2 ./prog)" 'NODES=2 mpiexec' \
	"equal blocks are not written"
like "$(dry hydra -n 4 -H a,a,a,b ./prog)" 'NODES=2 VMPI_JOB_BLOCKS=3,1' \
	"a host that comes again has a slot more"
like "$(dry hydra -n 2 -H a,b,c ./prog)" 'NODES=2 .* -hosts a,b ' \
	"hosts that no rank needs are left out"
like "$(dry hydra --nodes 2 -n 9 -H a,b,c ./prog)" ' -hosts a,b ' \
	"--nodes takes the first hosts"
like "$(dry hydra -n 8 --nodes 4 -H a,b ./prog)" \
	'RANKS=8 VMPI_JOB_NODES=4 mpiexec.hydra -n 4 -hosts a,b -ppn 2 ' \
	"twice as many nodes as hosts are two on each"
like "$(dry hydra --nodes 4 -H a:6,b:3 ./prog)" \
	'RANKS=9 VMPI_JOB_NODES=4 VMPI_JOB_BLOCKS=3,3,2,1 ' \
	"which divide the ranks of the host"
like "$(dry mpirun -n 8 --nodes 4 -H a,b ./prog)" \
	' -np 4 --host a:2,b:2 --map-by ppr:2:node ' "mpirun is told so"
like "$(dry all --launcher srun -n 8 --nodes 4 -H a,b ./prog)" \
	' --ntasks=4 --nodes=2 --ntasks-per-node=2 --nodelist=a,b ' "and srun"
like "$(dry all --launcher srun --nodes 4 -H b:6,a:2 ./prog)" \
	'BLOCKS=3,3,1,1 .* --distribution=arbitrary --nodelist=b,b,a,a ' \
	"which keeps their order"
like "$(SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2 dry all -n 8 --nodes 4 ./prog)" \
	' --ntasks=4 --nodes=2 --ntasks-per-node=2 ' "also on hosts of its own"
like "$(dry hydra --nodes 4 --map-by node -H a:4,b:4 ./prog)" \
	'mpiexec.hydra -n 4 -hosts a,b,a,b -bind' "in turn they are on each host"
like "$(dry mpirun --nodes 4 --map-by node -H a:4,b:4 ./prog)" \
	' --host a:2,b:2 --map-by node ' "by mpirun's own option"
like "$(dry hydra --nodes 4 --ppn 3 -H a,b ./prog)" 'RANKS=12 .*NODES=4 ' \
	"--ppn counts the ranks of each"
each="--processes --map-by node -n 3 -H a:2,b:1"
# shellcheck disable=SC2086
like "$(dry hydra $each ./prog)" ' -n 3 -hosts a,b,a ' \
	"so are ranks that are processes"
# shellcheck disable=SC2086
like "$(dry all --launcher srun $each ./prog)" \
	' --distribution=arbitrary --nodelist=a,b,a ' "by srun, too"
like "$(SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2 dry all --processes --map-by node \
	-n 4 ./prog)" \
	' --nodes=2 --ntasks-per-node=2 --distribution=cyclic ' "in its order"
like "$(dry hydra --ppn 2 -H a,b,c ./prog)" 'RANKS=6 .*NODES=3' \
	"--ppn times hosts is the number of ranks"
like "$(dry hydra --ppn 3 -n 7 -H a,b,c ./prog)" 'BLOCKS=3,3,1' \
	"--ppn fills one host after the other"

cat >hosts <<'END'
# two hosts
a slots=2 max_slots=4

  b:3	# with a tab
user@c.example.org
END
like "$(dry hydra -f hosts ./prog)" \
	'RANKS=6 .*BLOCKS=2,3,1 .* -hosts a,b,user@c.example.org ' \
	"a host file has names and slots"
like "$(dry hydra -f hosts -H d ./prog)" '-hosts a,b,user@c.example.org,d ' \
	"and may be added to"
# listed TEXT: the hosts and ranks of a host file.
listed() {
	printf "$1" >hosts
	dry hydra -f hosts ./prog |
		sed 's/.*RANKS=\([0-9]*\).* -hosts \([^ ]*\) .*/\1 \2/'
}
is "$(listed 'a slots = 4\nb slots =2\nc slots= 1\n')" "7 a,b,c" \
	"blanks around = are no part of it"
is "$(listed 'a slots=2\r\n\r\nb:3\r\n')" "5 a,b" "nor is DOS's end of a line"
is "$(listed 'a slots=2  \t \n \t\nb:3 \t')" "5 a,b" "nor are blanks there"
is "$(listed '\357\273\277a\nb\n')" "$(($(nproc) * 2)) a,b" \
	"nor is the mark of UTF-8"
is "$(listed 'a max-slots=9 slots=2\nb slots_max = 4 count=3 # c\nd cpu=1')" \
	"6 a,b,d" "Open MPI's other words are known"
is "$(listed 'a:2 binding=user:0\nb:3 user=me\nc user-name = you')" \
	"6 a,me@b,you@c" "and Hydra's"
is "$(listed 'n[1-3]:2\nm[08-10,12]x slots=3\n')" \
	"18 n1,n2,n3,m08x,m09x,m10x,m12x" "a range is many hosts"
is "$(listed 'r[1-2]n[1-2]')" "$(($(nproc) * 4)) r1n1,r1n2,r2n1,r2n2" \
	"two are their product"
rm -f hosts
for list in ' a:1 , b:2 ' 'me@n[1-2]:2,b' 'n[1,3],n[1-2]:2'; do
	dry hydra -H "$list" ./prog
done | sed 's/.*RANKS=\([0-9]*\).* -hosts \([^ ]*\) .*/\1 \2/' >lists
is "$(cat lists)" "3 a,b
5 me@n1,me@n2,b
6 n1,n3,n2" "lists have them, too"
cp all/node all/ssh
is "$(dry all -n 4 -H 'fe80::1%eth0,[2001:db8::2]:2,me@[::3]:1' ./prog |
	sed -n 's/.*@ssh \([^ ]*\) .*/\1/p' | tr '\n' ' ')" \
	"fe80::1%eth0 2001:db8::2 me@::3 " "addresses of IPv6 are hosts"
rm all/ssh
like "$(dry hydra -n 2 -H '::2,b' ./prog)" \
	"^vmpirun: --hosts: '::2': hydra takes names or addresses of IPv4" \
	"to ssh only"
is "$(VMPI_SCHED_BIND=0 FI_PROVIDER=net dry mpirun -x GREETING=hi -n 2 -H a,b ./prog | grep -o ' -x [A-Z_]*' | sort | tr -d '\n')" \
	" -x FI_PROVIDER -x GLIBC_TUNABLES -x GREETING -x VMPI_JOB_NODES -x VMPI_JOB_RANKS -x VMPI_NODE -x VMPI_SCHED_BIND" \
	"mpirun is told which variables to pass on"

# Batch systems say how many ranks there are.
printf '%s\n' a a b b b >nodefile
like "$(PBS_NODEFILE=nodefile dry hydra ./prog)" \
	'RANKS=5 VMPI_JOB_NODES=2 VMPI_JOB_BLOCKS=2,3 .* -hosts a,b ' \
	"the file of PBS has a line for each rank"
like "$(LSB_MCPU_HOSTS='a 2 b 3' dry hydra ./prog)" \
	'RANKS=5 .*BLOCKS=2,3 .* -hosts a,b ' "LSF says it in words"
like "$(LSB_MCPU_HOSTS='a 2 b' dry hydra ./prog)" \
	"^vmpirun: LSB_MCPU_HOSTS: 'a 2 b' is not understood, a number" \
	"which have to fit"
like "$(LSB_MCPU_HOSTS='-oProxyCommand=x 2 b 1' dry hydra ./prog)" \
	"^vmpirun: LSB_MCPU_HOSTS: '-oProxyCommand=x': no name" "and to be names"
slurm() {
	SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=$1 SLURM_NTASKS=$2 \
		SLURM_TASKS_PER_NODE=$3 SLURM_JOB_NODELIST=$4 dry srun ./prog
}
like "$(slurm 2 4 '2(x2)' 'n[1-2]')" \
	'RANKS=4 VMPI_JOB_NODES=2 srun --ntasks=2 --nodes=2 .*--nodelist=n1,n2 ' \
	"Slurm's tasks are ranks"
like "$(slurm 4 9 '4,2(x2),1' 'n[08-10]x,m')" \
	'RANKS=9 .*BLOCKS=4,2,2,1 .*--nodelist=n08x,n09x,n10x,m ' \
	"as many on each node as it says"
like "$(slurm 2 4 '2(x' 'n[1-2]')" 'SLURM_TASKS_PER_NODE: .* not understood' \
	"if it can be understood"
like "$(slurm 2 2 1 '-oProxyCommand[1-2]')" \
	"^vmpirun: SLURM_JOB_NODELIST: '-oProxyCommand1': no name" \
	"and names hosts"
like "$(slurm 1 3 3 n1)" 'RANKS=3 ' "on one node, too"
like "$(SLURM_STEP_ID=0 slurm 1 3 3 n1)" "RANKS=$(nproc) " \
	"but not within one of its tasks"

# The printed command is the one that is run, except for the job's number.
PATH_before=$PATH
PATH=$scratch/all:$scratch/none
for launcher in srun mpirun hydra; do
	words="--launcher $launcher -n 5 --nodes 2 -l ./prog a"
	# shellcheck disable=SC2086
	command=$(timeout 100 "$vmpirun" --dry-run $words 'b  c')
	# shellcheck disable=SC2086
	is "$(sh -c "$command")" "$(timeout 100 "$vmpirun" $words 'b  c' |
		sed 's/ -x VMPI_JOB_ID//')" \
		"the command of --launcher $launcher does what vmpirun does"
done
printf '#!/bin/sh\nexit 33\n' >all/srun
timeout 100 "$vmpirun" --launcher srun -n 1 ./prog
is $? 33 "the exit code of a launcher is passed on"
printf '#!/bin/sh\nkill -SEGV $$\n' >all/srun
out=$(timeout 100 "$vmpirun" --launcher srun -n 1 ./prog 2>&1)
is $? 139 "so is its death"
like "$out" '^vmpirun: srun \(pid [0-9]+\) died of SIGSEGV$' "with its name"
PATH=$PATH_before
rm all/mpirun
ln -s mpiexec.hydra all/mpirun
like "$(dry all -n 2 -H a,b ./prog)" ' mpiexec.hydra -n 2 ' \
	"an mpirun that is Hydra is used as Hydra"

# What gets to ssh, whose words behind the host are for a shell there.
odd="$here/it's \$(touch evil)"
mkdir "$odd"
cp "$vmpirun" "$odd/vmpirun"
cat >all/ssh <<'END'
#!/bin/sh
printf '<%s>' "$@" >ssh.words
while [ "$1" != -- ]; do
	shift
done
shift 2
sh -c "$*"
END
chmod +x all/ssh
PATH=$scratch/all:$PATH timeout 100 "$odd/vmpirun" -H other ./prog </dev/null \
	>out 2>&1
is $? 0 "a path with odd letters in it is found there" || diag "$(cat out)"
is "$(sed "s,<'/[^<]*vmpirun',<VMPIRUN," ssh.words)" \
	"<-x><-T><--><other><VMPIRUN><@ssh-far>" \
	"the host is no option, and the path in quotes"
ok "nothing in it is carried out" test ! -e evil
printf '#!/bin/sh\nexit 255\n' >all/ssh
PATH=$scratch/all:$PATH timeout 100 "$vmpirun" --processes -H other:3 ./prog \
	</dev/null >out 2>&1
is "$?, $(cat out)" "2, vmpirun: ssh to other has failed (status 255)" \
	"hosts that are not reached take one line"
mkfifo ready
printf '#!/bin/sh\necho >ready\nexec sleep 1000\n' >all/ssh
PATH=$scratch/all:$PATH timeout --foreground 100 "$vmpirun" -H other ./prog \
	</dev/null >out 2>&1 &
read -r line <ready
kill -TERM $!
wait $!
is $? 143 "nor does one that does not answer keep the job from its end"
like "$(cat out)" "^vmpirun: ssh to other has failed \(signal 15\)" \
	"and it is named"
none "$(grep killing.it out)" "which takes no time"
rm all/ssh
mkdir -- -x
cp prog ./-x/prog
like "$(dry all --processes -- -x/prog a)" ' ./-x/prog a$' \
	"a program is no option, either"
like "$(dry all --processes --launcher hydra -n 2 -- -x/prog a)" \
	' none ./-x/prog a$' "of another launcher"

# mistake REGEX NAME WORD...
mistake() {
	regex=$1
	name=$2
	shift 2
	PATH=$scratch/none timeout 100 "$vmpirun" "$@" </dev/null >out 2>err
	code=$?
	if [ $code -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && ! [ -s out ] &&
		grep -Eq -- "$regex" err; then
		pass "$name"
	else
		fail "$name"
		diag "exit code $code, output: $(cat out err)"
	fi
}

for name in -evil=1 'a b=1' 'a;b=1' 'a,b=1' '=1' ''; do
	mistake "^vmpirun: -x.*VAR or VAR=VALUE is needed" \
		"-x '$name' is no variable" -x "$name" ./prog
done
mistake '--nodes 0: a number' "no nodes are refused" --nodes 0 ./prog
mistake '--nodes x: a number' "nodes are a number" --nodes x ./prog
mistake '--ppn 0: a number' "--ppn is one too" --ppn 0 ./prog
mistake '2 ranks are too few for 3 nodes' "each node has a rank" \
	-n 2 --nodes 3 ./prog
mistake '^vmpirun: --nodes 3: there are only 2 hosts' "nodes need hosts" \
	--nodes 3 -H localhost,other --agent env ./prog
mistake '^vmpirun: 4 ranks are too few: host b would get 1 for 2 nodes' \
	"each of a host's nodes has a rank" \
	--nodes 4 -H localhost:3,b:1 --agent env ./prog
mistake 'have room for 4 ranks' "--ppn and --nodes leave room" \
	-n 5 --nodes 2 --ppn 2 ./prog
mistake 'srun \(in a Slurm job\), ssh, mpirun .*, mpiexec.hydra' \
	"other hosts need a launcher" -n 2 -H other ./prog
mistake '--launcher hydra: there is no mpiexec.hydra in PATH' \
	"so does --launcher hydra" --launcher hydra ./prog
mistake '--launcher x: auto, fork, ssh, srun, mpirun or hydra' \
	"an unknown launcher is refused" --launcher x ./prog
mistake 'starts nodes on this host only' "fork is for this host" \
	--launcher fork -H other ./prog
mistake '--agent works only with --launcher fork' "an agent is for fork" \
	--launcher srun --agent env ./prog
mistake '--agent: a command is needed' "an agent is a command" \
	--agent ' ' ./prog
mistake 'a quote has no end' "its quotes have two ends" \
	--agent "a 'b" ./prog
mistake 'only %h, %n and %% are known' "its percents are known" \
	--agent "a %x" ./prog
for list in -Fevil '-oProxyCommand=x' a,-b:2 'me@-b' '-l@b' '[1-2]-x,-y' '-[1-2]'; do
	mistake "^vmpirun: --hosts: '[^']+': no name of a host or user begins with '-'\$" \
		"host '$list' would be an option" -H "$list" ./prog
done
for list in '$(id)' 'a`id`' 'a|b' 'a&b' "a'b" 'a"b' 'a\b' 'a*' 'a?' '~' 'a>b' \
	'a<b' '@' 'a@' '@b' 'n[' 'n]' 'n[]' 'n[1' 'n[1-]' 'n[2-1]' 'n[a-b]' \
	'n[1,]' 'n[1-99999]' '[::1' '[::1]x' '::1]' '[::g]' '%h' 'a%n'; do
	mistake "^vmpirun: --hosts: '.*': the name of a host is needed" \
		"host '$list' is none" -H "$list" ./prog
done
mistake "^vmpirun: --hosts: 'a\?\[31mb b': the name" \
	"a message does not write to the terminal" \
	-H "$(printf 'a\033[31mb\tb')" ./prog
for list in '' , a, ,a a:0 a:x a:-1 a:99999999 'a b' 'a;b' a:1:2 :3; do
	mistake "^vmpirun: --hosts: .*the name of a host is needed" \
		"hosts '$list' are refused" -H "$list" ./prog
done
mistake '^vmpirun: --hostfile nosuch: No such file' \
	"a missing host file is refused" --hostfile nosuch ./prog
mistake '^vmpirun: --hostfile none: ' "so is a directory" --hostfile none ./prog
file_mistake() {
	printf "$1" >bad
	mistake "$2" "$3" -f bad ./prog
}
file_mistake '' '--hostfile bad: the file lists no hosts' "so is an empty one"
file_mistake '# a\n\n' 'the file lists no hosts' "also with comments"
file_mistake 'a\nb slots=0\n' "^vmpirun: bad:2: 'slots=0'" "slots are counted"
file_mistake 'a\nb slots=x\n' "^vmpirun: bad:2: 'slots=x'" "with numbers"
file_mistake 'a gpu=2\n' "^vmpirun: bad:1: 'gpu=2': only slots=N" \
	"other words are refused"
file_mistake 'a\n-Fevil\n' "^vmpirun: bad:2: '-Fevil': no name of a host" \
	"an option is no host"
file_mistake 'a user=-oX=1\n' "^vmpirun: bad:1: '-oX=1@a': no name" "nor a user"
file_mistake 'a slots = \n' "^vmpirun: bad:1: 'slots=': only" "a value is needed"
file_mistake 'a slots\n' "^vmpirun: bad:1: 'slots': only" "and the ="
file_mistake 'a b\n' "^vmpirun: bad:1: 'b': only" "a line has one host"
file_mistake 'a max_slots=x\n' "^vmpirun: bad:1: 'max_slots=x'" "and a number"
file_mistake 'a:2 slots=2\n' "^vmpirun: bad:1: 'a:2'" "slots are given once"
file_mistake 'a\n\n;b\n' "^vmpirun: bad:3: ';b'" "the line is named"
file_mistake 'a\0b\n' "bad:1|other hosts" "a zero does no harm"
head -c 100000 /dev/urandom >bad
mistake "^vmpirun: (bad:[0-9]+|--hostfile bad)" "nor does anything else" -f bad ./prog
many=$(awk 'BEGIN { while (i++ < 2200) printf "localhost:1000000," }')
like "$("$vmpirun" -H "${many%,}" --dry-run ./prog 2>&1)" \
	'VMPI_JOB_RANKS=1000000 ' "more slots than a job may have ranks are as many"
mistake 'would get none' "each host gets a rank" \
	-n 3 -N 3 -H localhost:100,b:1,c:1 --agent env ./prog
done_testing
