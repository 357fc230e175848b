#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the node process is given: its environment, directory, standard input,
# words and signals; where it is found; and what --dry-run prints.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
vmpirun=$VMPI_BUILD/vmpirun
[ -x "$vmpirun" ] || skip_all "vmpirun is not built"
unset MPIEXEC_TIMEOUT GLIBC_TUNABLES VMPI_NODE
cd "$scratch" || exit 1
scratch_real=$(pwd -P)

# Prints all that may differ.
cat >node <<'END'
#!/bin/sh
env | grep -E '^(VMPI_JOB_|GLIBC_TUNABLES|GREETING|EMPTY|PWD)' | sort
grep -E '^Sig(Blk|Ign):' /proc/self/status
pwd
for word; do
	printf '<%s>' "$word"
done
echo
END
mkdir -p sub/deep
printf '#!/bin/sh\n' >sub/deep/program
chmod +x node sub/deep/program
VMPI_NODE="$scratch_real/node"
export VMPI_NODE

run() {
	timeout 100 "$vmpirun" "$@" </dev/null 2>&1
}

out=$(run -n 7 true)
is "$(echo "$out" | grep -c '^VMPI_JOB_[^HI]')" 1 "a plain job is its ranks alone"
like "$out" '^VMPI_JOB_ID=[0-9]+$' "and its number"
like "$out" '^VMPI_JOB_RANKS=7$' "and they are there"
like "$out" '^GLIBC_TUNABLES=glibc.rtld.optional_static_tls=300000$' \
	"libc is told to leave room for thread-local variables"
like "$out" '^SigBlk:[[:space:]]*0*$' "no signal is blocked"

out=$(run -n 1 -l --summary --report-bindings --display-map --output o true)
for name in LABEL SUMMARY REPORT_BINDINGS DISPLAY_MAP; do
	like "$out" "^VMPI_JOB_$name=1\$" "$name is passed on"
done
like "$out" "^VMPI_JOB_OUTPUT=$scratch_real/o\$" \
	"--output is passed on with its full path"
ok "and its directory is there" test -d o
run -n 1 --output-filename p/q/r true >/dev/null
ok "with those above it" test -d p/q/r

out=$(VMPI_JOB_LABEL=1 VMPI_JOB_OLD=1 run -n 1 true)
is "$(echo "$out" | grep -c '^VMPI_JOB_[^HI]')" 1 \
	"a job that vmpirun itself was given does not go further"

out=$(GLIBC_TUNABLES=glibc.malloc.perturb=1 run true)
like "$out" '^GLIBC_TUNABLES=glibc.malloc.perturb=1:glibc.rtld.opt' \
	"the user's tunables stay"
out=$(run -x GLIBC_TUNABLES=glibc.malloc.perturb=2 true)
like "$out" '^GLIBC_TUNABLES=glibc.malloc.perturb=2:glibc.rtld.opt' \
	"also those of -x"

out=$(run -x GREETING='hello = you' -x EMPTY= -xGREETING2=b true)
like "$out" '^GREETING=hello = you$' "-x sets a variable"
like "$out" '^EMPTY=$' "also to nothing"
like "$out" '^GREETING2=b$' "and again"
out=$(GREETING=inherited run -x GREETING true)
like "$out" '^GREETING=inherited$' "-x without a value exports"
like "$(run -x GREETING true)" '^vmpirun: -x GREETING: there is no' \
	"-x of a variable that is not there says so"

out=$(run -env GREETING hello -env EMPTY=you true)
like "$out" '^GREETING=hello$' "-env has the name and the value in two words"
like "$out" '^EMPTY=you$' "or in one"

like "$(run --path "nosuch:$scratch_real/sub/deep" program)" \
	"^<$scratch_real/sub/deep/program>\$" "--path is searched for the program"
like "$(run --path nosuch:sub true)" '^<[^>]*bin/true>$' "and then PATH"

out=$(run -wdir sub true)
like "$out" "^$scratch_real/sub\$" "-wdir is the directory"
like "$out" "^PWD=.*/sub\$" "PWD knows it"
like "$(run -wdir sub deep/program)" '^<deep/program>$' \
	"the program is looked for in -wdir"
like "$(run -wdir sub sub/deep/program)" "^<$scratch_real/sub/deep/program>\$" \
	"then where vmpirun was started"
like "$(run -wdir sub --output o true)" "^VMPI_JOB_OUTPUT=$scratch_real/o\$" \
	"--output does not move with -wdir"
like "$(VMPI_NODE=./node run -wdir sub true)" '^VMPI_JOB_RANKS' \
	"nor does VMPI_NODE"
like "$(PATH="$scratch_real/sub/deep:$PATH" run program -n '' 'a  b')" \
	"^<$scratch_real/sub/deep/program><-n><><a  b>\$" \
	"a program without a slash is found in PATH"
PATH="nosuch::$PATH"
cp sub/deep/program here-only
like "$(run here-only)" '^<./here-only>$' \
	"where an empty directory is the current one"

printf '#!/bin/sh\ncat\n' >cat-node
chmod +x cat-node
is "$(echo 'to rank 0' | VMPI_NODE=./cat-node timeout 100 "$vmpirun" true)" \
	'to rank 0' "standard input is the node process's"

printf '#!/nosuch/interpreter\n' >bad-node
chmod +x bad-node
out=$(VMPI_NODE=./bad-node run true)
is $? 2 "a node program that cannot be started is an error"
like "$out" '^vmpirun: .*/bad-node: the node program cannot be started' \
	"with one line"

# --dry-run prints what would be run.
command=$(run --dry-run -n 2 -l -wdir "$scratch_real/sub" --stack 64K \
	--workers 2 --output "o'o" -x GREETING="it's" deep/program 'x  y' '')
is $? 0 "--dry-run is no error"
ok "and makes no directory" test ! -e "o'o"
is "$(sh -c "$command" </dev/null 2>&1 | grep -v ^Sig)" \
	"$(run -n 2 -l -wdir "$scratch_real/sub" --stack 64K --workers 2 \
		--output "o'o" -x GREETING="it's" deep/program 'x  y' '' |
		grep -v -e ^Sig -e ^VMPI_JOB_ID= -e ^VMPI_JOB_HANG=)" \
	"its command does what vmpirun does"
command=$(VMPI_JOB_LABEL=1 run --dry-run -n 2 true)
like "$command" '^env -u VMPI_JOB_LABEL VMPI_JOB_RANKS=2 GLIBC_TUN' \
	"it also takes away what vmpirun takes away"
like "$(run --dry-run nosuch; echo "code $?")" '^code 2$' \
	"--dry-run makes the same checks"
"$vmpirun" --dry-run true >/dev/full 2>err
is $? 1 "--dry-run that cannot be written is an error"

# The places where the node program is searched.
unset VMPI_NODE
echo 'int main(void) { return 0; }' >image.c
"$VMPI_BUILD/vmpicc" -o image image.c
copy() {
	mkdir -p "$1" "$2"
	cp "$vmpirun" "$1/vmpirun"
	cp node "$2/vmpi-node"
	timeout 100 "$1/vmpirun" -n 5 ./image </dev/null 2>&1
}
like "$(copy build/bin/vmpirun build/bin/vmpi-node)" '^VMPI_JOB_RANKS=5$' \
	"the node program of a build directory is found"
like "$(copy prefix/bin prefix/libexec/vmpi)" '^VMPI_JOB_RANKS=5$' \
	"and that of an installation, wherever it is"
ln -s prefix/bin/vmpirun link
like "$(timeout 100 ./link -n 5 ./image </dev/null)" '^VMPI_JOB_RANKS=5$' \
	"also through a symbolic link"
# Why a program may not be executed.
mkdir closed
cp sub/deep/program closed/program
: >plain
like "$(run -n 1 ./plain)" '^vmpirun: ./plain: this file may not .*chmod' \
	"a file without the bit is refused"
like "$(PATH=$PWD:$PATH run -n 1 plain)" '^vmpirun: plain: this .*chmod' \
	"also of PATH"
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null &&
	setpriv --reuid 12345 --clear-groups test -x "$vmpirun" 2>/dev/null; then
	chmod 755 .
	chmod 700 closed
	out=$(run_as() { setpriv --reuid 12345 --clear-groups "$@" 2>&1; } &&
		HOME=/ run_as "$vmpirun" -n 1 closed/program)
	like "$out" '^vmpirun: closed/program: a directory on the way' \
		"nor may a directory be entered"
	noexec() {
		unshare -m sh -c 'mount -t tmpfs -o noexec none closed &&
			cp sub/deep/program closed && exec "$@"' - "$@" 2>&1
	}
	like "$(noexec "$vmpirun" -n 1 closed/program)" \
		'^vmpirun: closed/program: no file .* mounted noexec' \
		"what is mounted noexec is named"
else
	skip 2 "there is no other user here, or there are no mounts"
fi
done_testing
