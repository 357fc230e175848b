#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command line of vmpirun: what it takes, and that each mistake costs one
# line and exit code 2, before anything is started.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
vmpirun=$VMPI_BUILD/vmpirun
[ -x "$vmpirun" ] || skip_all "vmpirun is not built"
unset MPIEXEC_TIMEOUT GLIBC_TUNABLES

# A node program that only says that it was started, and how.
cat >"$scratch/node" <<'END'
#!/bin/sh
echo "ranks $VMPI_JOB_RANKS"
printf '%s' "$VMPI_JOB_SET" | sed 's/^/set /'
shift
for word; do
	echo "word $word"
done
END
chmod +x "$scratch/node"
export VMPI_NODE="$scratch/node"
cd "$scratch" || exit 1

# mistake REGEX NAME WORD...: one line that matches, exit code 2, no start.
mistake() {
	regex=$1
	name=$2
	shift 2
	timeout 100 "$vmpirun" "$@" </dev/null >out 2>err
	code=$?
	if [ $code -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && ! [ -s out ] &&
		grep -Eq -- "$regex" err; then
		pass "$name"
	else
		fail "$name"
		diag "exit code $code, output: $(cat out err)"
	fi
}

# gives WANT NAME WORD...: the started node process says WANT.
gives() {
	want=$1
	name=$2
	shift 2
	is "$(timeout 100 "$vmpirun" "$@" </dev/null 2>&1)" "$want" "$name"
}

for ranks in "-n 3" "-n3" "-np 3" "--np 3" "--np=3" "-np=3" "-n=3" "--n 3" \
	"-l -n 3" "-ln3" "-n 9 -n 3" "--oversubscribe -n 3" \
	"-allow-run-as-root -n 3" "-c 3" "-q -envall -genvall -n 3" \
	"--bind-to core -map-by core --rank-by slot -n 3" \
	"-q --use-hwthread-cpus -np 3" "-q --mca btl self,tcp -mca a b -np 3" \
	"-quiet -gmca a b --omca a b --pmixmca a b --prtemca a b -np 3" \
	"--map-by ppr:3:node" "-q --bycore --nooversubscribe -bind-to-socket -n 3" \
	"-q --cpus-per-proc 1 --cpus-per-rank 1 -membind none -n 3" \
	"-q --timestamp-output --display-allocation --display-devel-map -n 3" \
	"-q --prefix /opt/mpi --personality ompi -usize 9 -rmk user -n 3" \
	"-q --noprefix --novm -print-all-exitcodes --disable-recovery -n 3" \
	"--stdin none -n 3" "--stdin 0 -n 3" "--path /nosuch -n 3" \
	"-npernode 3" "--perhost 3" "--ntasks 3" "--ntasks-per-node=3" \
	"-grr 3" "--map-by ppr:3:node:pe=1" "-bootstrap fork -s none -n 3" \
	"-q --cpu-bind=cores --mpi=pmix --exclusive --hint=compute_bound -n 3" \
	"-q --cpu-set 0,1 --cpu-list 0 -bootstrap persist -n 3"; do
	# shellcheck disable=SC2086
	gives "ranks 3" "$ranks means three ranks" $ranks true
done
gives "ranks $(nproc)" "without -n there is a rank for each allowed core" true
cpu=$(taskset -cp $$ 2>/dev/null | sed 's/.*: *//; s/[^0-9].*//')
if [ -n "$cpu" ]; then
	is "$(taskset -c "$cpu" timeout 100 "$vmpirun" true </dev/null)" \
		"ranks 1" "of which there may be fewer than cores"
else
	skip 1 "taskset is not installed"
fi
gives "ranks 1
word -n
word 9
word --foo
word -x" "words after the program are the program's" -n 1 true -n 9 --foo -x
gives "ranks 1
word a b
word " "and stay as they are" -n 1 -- true 'a b' ''
gives "ranks 1
set sched_workers=2
set sched_stack_bytes=64K
set sched_spin_us=7" "settings come in their order" \
	-n 1 -workers 2 -stack 64K -set sched_spin_us=7 true

printf '%s\n' '#!/bin/sh' 'echo "$ONE+$TWO+$THREE"' >env-node
chmod +x env-node
is "$(VMPI_NODE=$scratch/env-node timeout 100 "$vmpirun" -n 1 -genv ONE 1 \
	-env TWO 'a b' -genv THREE 3 -x THREE=c true </dev/null 2>&1)" "1+a b+c" \
	"-genv VAR VALUE is -x VAR=VALUE"
is "$(ONE=1 THREE=3 VMPI_NODE=$scratch/env-node timeout 100 "$vmpirun" -n 1 \
	--dry-run -genvlist ONE,NONE,THREE true 2>&1 | grep -o 'ONE=1 THREE=3 ')" \
	"ONE=1 THREE=3 " "-genvlist names those that there are"
mistake '^vmpirun: --mca btl: two values are needed: --mca NAME VALUE$' \
	"an option of two values needs both" -n 1 --mca btl
mistake '^vmpirun: -x =1: VAR or VAR=VALUE' "a variable has a name" \
	-genv "" 1 true
gives "vmpirun: without effect here: --mca btl, --mca pml, --bind-to socket, --rank-by node
ranks 1" "what means nothing here is told in one line" \
	--mca btl self,tcp --mca pml ob1 --bind-to socket --rank-by node \
	--bind-to core --map-by slot -n 1 true
gives "ranks 1
set sched_bind=0" "--bind-to none leaves workers unbound" \
	--bind-to none -n 1 true
gives "$(timeout 100 "$vmpirun" -l --display-map --report-bindings -n 1 true)" \
	"Open MPI 5 has other words for labels and maps" \
	--output tag --display map,bindings -n 1 true
gives "vmpirun: without effect here: --display allocation
ranks 1" "and some more" --display allocation -n 1 true
gives "ranks 3" "--ppr N:node is --map-by ppr:N:node" --ppr 3:node true
mistake '^vmpirun: --ppr|ppr:2:socket: only ppr:N:node' \
	"and refused as that is" --ppr 2:socket true
gives "$(timeout 100 "$vmpirun" --keep-going=ranks -n 1 true)" \
	"--with-ft ulfm is --keep-going=ranks" --with-ft ulfm -n 1 true
mistake '^vmpirun: --with-ft maybe: ulfm or none' "another kind is refused" \
	--with-ft maybe true
gives "vmpirun: without effect here: --report-uri -, --forward-signals USR1, --nameserver host, --debug-daemons-file
ranks 1" "names that begin with the letter of an option are read whole" \
	-report-uri - -forward-signals USR1 -nameserver host \
	-debug-daemons-file -n 1 true
for word in -nolocal -xml -tv -hnp=x -debug '-xterm 0' '-npersocket 2' \
	'-outfile-pattern o' -skip-launch-node '-rf file' -genvnone; do
	name=${word%%[ =]*}
	# shellcheck disable=SC2086
	mistake "^vmpirun: -$name is not supported: " \
		"$name is refused by its name" $word -n 1 true
done
for word in -nonsense -xylophone -fortune -help-me -lon; do
	mistake "^vmpirun: $word: no such option" \
		"$word is no letter with a value" $word -n 1 true
done
mistake '^vmpirun: -rankfile: a value is needed' \
	"those of others that have values need them" -rankfile
mistake '^vmpirun: -tv=1: this option takes no value' \
	"those that have none take none" -tv=1 true
mistake '^vmpirun: --map-by ppr:2:socket: only ppr:N:node' \
	"--map-by ppr of something else is refused: it says how many ranks there are" \
	--map-by ppr:2:socket true

for count in 0 -4 4x x 1000001 99999999999999999999 "" " 4" 0x10 1e3; do
	mistake "^vmpirun: -n $count: .* from 1 to 1000000" \
		"-n '$count' is refused" -n "$count" true
done
for count in 0 -1 2x ""; do
	mistake "^vmpirun: --workers $count: " "--workers '$count' is refused" \
		--workers "$count" true
done
mistake 'sched_workers.* 999999999' "--workers out of range is refused" \
	--workers 999999999 true
for size in x 4x -1 "" 1.5M M 1BK; do
	mistake "^vmpirun: --stack $size: a size" "--stack '$size' is refused" \
		--stack "$size" true
done
mistake 'sched_stack_bytes' "--stack out of range is refused" --stack 1 true
for time in 0 -1 x 1h inf nan 0x10 "" 1e9999; do
	mistake "^vmpirun: --timeout $time: a number of seconds" \
		"--timeout '$time' is refused" --timeout "$time" true
done
MPIEXEC_TIMEOUT=soon
export MPIEXEC_TIMEOUT
mistake '^vmpirun: MPIEXEC_TIMEOUT=soon: ' "a bad MPIEXEC_TIMEOUT is refused" \
	true
gives "ranks 1" "unless there is a --timeout" --timeout 250 -n 1 true
unset MPIEXEC_TIMEOUT

mistake "'sched_worker'.*sched_workers" \
	"--set of a misspelt variable names the right one" \
	--set sched_worker=2 true
mistake 'sched_spin_us.*-1' "--set of a value out of range is refused" \
	--set sched_spin_us=-1 true
for set in sched_workers =3 ""; do
	mistake "^vmpirun: --set $set: NAME=VALUE" "--set '$set' is refused" \
		--set "$set" true
done
mistake '^vmpirun: --set a=1 b=2: NAME=VALUE' "--set of two lines is refused" \
	--set 'a=1
b=2' true
mistake '^vmpirun: -x =3: ' "-x without a name is refused" -x =3 true
mistake '^vmpirun: -x VMPI_JOB_RANKS=9: ' "-x of a part of the job is refused" \
	-x VMPI_JOB_RANKS=9 true

mistake '^vmpirun: --lable: .*--label' "an unknown option names the nearest" \
	--lable true
mistake '^vmpirun: -timout: .*--timeout' "with one dash as well" \
	-timout 3 true
mistake '^vmpirun: --qqqqqq: ' "or tells where they are listed" --qqqqqq true
mistake '^vmpirun: -w: .*--wdir' "an abbreviation of two options is refused" \
	-w 3 true
mistake '^vmpirun: -n: a value is needed' "-n without a number is refused" -n
mistake '^vmpirun: --wdir: a value is needed: --wdir DIR' \
	"--wdir without a directory is refused" --wdir
mistake '^vmpirun: --label=3: ' "a value for a flag is refused" --label=3 true
gives "ranks 3
ranks 3" "a second program has its own ranks" -n 1 true : -n 2 true
gives "ranks 2
ranks 2" "without -n it is one" true : true
mistake "^vmpirun: a program is needed on each side of ':'" \
	"no program behind a colon is refused" true :
mistake "^vmpirun: a program is needed on each side of ':'" \
	"nor before it" -n 1 : true
mistake '^vmpirun: --genv: before a program behind the first only -n N' \
	"options of the job come first" true : --genv A=1 true
mistake '^vmpirun: -x =1: VAR or' "the variables of a program are looked at" \
	true : -x =1 true
mistake '^vmpirun: -x: a value is needed' "and are there" true : -x
mistake '^vmpirun: -env: a value is needed' "by name and value" true : -env A
mistake '^vmpirun: -wdir .*/nosuch: No such file' "so is its directory" \
	true : -wdir nosuch true
mistake '^vmpirun: -n 0: a number of ranks' "its ranks are counted" \
	true : -n 0 true
for word in '--nodes 2' '--hosts a,b' '--ppn 1' '--map cyclic' --gdb \
	'--launcher ssh'; do
	# shellcheck disable=SC2086
	mistake "^vmpirun: ${word%% *}: of several programs" \
		"$word and several programs exclude each other" $word true : true
done
printf '# two\n\n-n 1 true "a b"\n-np 2 true 100%%\n' >config
is "$(timeout 100 "$vmpirun" -configfile config </dev/null 2>&1 | sort)" \
	"ranks 3
ranks 3
word 100%
word a b" "-configfile has a program on each line"
mistake '^vmpirun: --configfile config names the programs' \
	"and no other is there" --configfile config true
mistake '^vmpirun: -n is for the lines' "nor its ranks" \
	-n 2 --configfile config
mistake '^vmpirun: --configfile none: No such file' \
	"a file that is not there is refused" -configfile none
echo '# nothing' >config
mistake '^vmpirun: --configfile config: the file names no program' \
	"so is an empty one" --configfile config
echo '-n 1 "true' >config
mistake '^vmpirun: config:1: ' "a mistake in it is told with its line" \
	--configfile config

mistake '^vmpirun: --stdin all: 0 or none is needed' \
	"standard input for all is refused" --stdin all true
gives "ranks 1
set fabric_interface=eth7" "-iface is fabric_interface" -iface eth7 -n 1 true
gives "ranks 1" "--pernode is one rank for the only node" --pernode true
like "$("$vmpirun" --do-not-launch -n 2 true)" 'VMPI_JOB_RANKS=2 ' \
	"--do-not-launch prints the command"
printf '%s\n' '#!/bin/sh' 'cat' 'echo to standard error >&2' >io-node
chmod +x io-node
is "$(echo line | VMPI_NODE=$scratch/io-node timeout 100 "$vmpirun" -n 1 \
	--merge-stderr-to-stdout true 2>/dev/null)" "line
to standard error" "--merge-stderr-to-stdout merges them"
is "$(echo line | VMPI_NODE=$scratch/io-node timeout 100 "$vmpirun" -n 1 \
	--stdin none true 2>/dev/null)" "" "--stdin none leaves nothing to read"

mistake '^vmpirun: no program given' "no program is a mistake"
mistake '^vmpirun: no program given' "also after options" -n 2
mistake "no program given: --trace has taken 'prog'" \
	"whose value is meant to be the program" -n 2 --trace prog
mistake "no program given: -H has taken 'prog'" "also of others" -H prog
for option in --trace --profile-json --balance=learn; do
	[ "$option" = --balance=learn ] && set -- "$option=./node" || set -- "$option" ./node
	mistake "^vmpirun: $option ./node: that is a program" \
		"a program is not overwritten by $option" "$@" true
done
mistake '--time is not supported: --timeout' "the name here is said" \
	--time 10 true
mistake '--tasks is not supported: -n N' "of the number of ranks, too" \
	--tasks 4 true
gives "ranks 4" "-np4 is -np 4" -np4 true
for name in nprocs nproc numprocs ntasks; do
	gives "ranks 4" "--$name is -n" --$name 4 true
done
mistake '^vmpirun: nosuch: .*PATH' "a program not in PATH is refused" nosuch
mistake '^vmpirun: ./nosuch: ' "a missing program is refused" ./nosuch
mistake 'directory' "a directory is no program" /tmp
echo hello >data
mistake '^vmpirun: ./data: .*executed' "neither is a plain file" ./data
cp node here-only
mistake 'did you mean ./here-only' "a program here is not in PATH" here-only
mistake '^vmpirun: the name' "an empty name is refused" ""
mistake '^vmpirun: -wdir .*/nosuch: ' "a missing -wdir is refused" \
	-wdir ./nosuch true
mistake '^vmpirun: -wdir .*/data: ' "and one that is no directory" \
	-wdir ./data true
mistake '^vmpirun: -wdir .*/data: Not a directory' "of a program, too" \
	-wdir data true : true
mistake '^vmpirun: --output .*/data/sub: ' "--output below a file is refused" \
	--output data/sub true
mistake '^vmpirun: --output: ' "--output without a name is refused" \
	--output= true
VMPI_NODE=/nosuch/node
mistake '^vmpi: VMPI_NODE=/nosuch/node: ' "a missing node program is refused" \
	true

like "$("$vmpirun" --version)" '^vmpirun \(vmpi\) [0-9]+\.[0-9]+\.[0-9]+$' \
	"--version prints the version"
for help in --help '-?' -h -help; do
	like "$("$vmpirun" "$help")" '^  -n, --np=N' "$help prints the options"
done
"$vmpirun" --help >/dev/full 2>/dev/null
is $? 1 "help that cannot be written is an error"
done_testing
