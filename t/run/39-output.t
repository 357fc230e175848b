#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Output of ranks: whole lines, labels, files.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"

# lines RANKS TEXT: TEXT once per rank, & is the number.
lines() {
	seq 0 $(($1 - 1)) | sed "s/.*/$2/" | sort
}

build output output.c
# Lines that wait for others do so for as long as it takes.
patient="--set core_output_wait=3600000"
for ranks in 1 2 20; do
	is "$(run $ranks $patient ./output pieces | sort)" \
		"$(lines $ranks 'rank & fputs write v1 v2 c end')" \
		"a line in many pieces stays whole, $ranks ranks"
done
is "$(run 12 -l $patient ./output pieces | sort)" \
	"$(lines 12 '[&] rank & fputs write v1 v2 c end')" \
	"-l labels whole lines"
is "$(run 1 -l $patient ./output pieces)" \
	"[0] rank 0 fputs write v1 v2 c end" "also of a single rank"
run 3 ./output open >out
is "$(sort out)" "$(lines 3 'no newline &')" \
	"lines without an end do not run into each other"
is "$(wc -l <out)" 2 "and the last one gets none"
is "$(run 3 --nodes 3 -l ./output open | sort)" "$(lines 3 '[&] no newline &')" \
	"with labels each has one"
is "$(run 1 ./output open | wc -l)" 0 "that of a single rank has none"
is "$(run 3 ./output opens 2>&1 | sort)" "$(
	lines 3 'error &'
	lines 3 'no newline &'
)" "also where both streams go to one place"
is "$(run 3 ./output dies 2>err | sort)" "$(lines 3 'no newline &')" \
	"what ranks have begun to print when the job dies is there"
like "$(cat err)" '^vmpirun: rank 2 called abort' "and why it has died"
# ask WHAT OPTION...: what a rank asks for without a newline is shown before it is
# answered, and the answer stands in the same line.
ask() {
	ask_what=$1
	shift
	mkfifo in out
	timeout 200 "$vmpirun" -n 2 "$@" <in >out 2>&1 &
	exec 3>in 4<out
	asked=$(timeout 100 dd bs=1 count=$((${#ask_label} + 4)) <&4 2>dd.err)
	echo 5 >&3
	exec 3>&-
	is "$asked$(cat <&4)" "${ask_label}N = 6" "$ask_what"
	exec 4<&-
	wait $!
	rm in out
}
rm out
ask_label=
for how in fflush all write unbuffered stderr scanf fgets; do
	ask "what a rank asks for is shown at once ($how)" ./output ask $how
done
ask "also with several processes" --nodes 2 ./output ask fflush
ask_label="[0] "
ask "also with labels" -l ./output ask fflush
ask "and several processes" -l --nodes 2 ./output ask write
cat >asks.sh <<'EOF'
[ "${PMI_RANK:-0}" -eq 0 ] || exit 0
printf "N = "
read -r number
echo $((number + 1))
EOF
ask "also of ordinary programs" -l sh asks.sh
ask_label=
ask "and without labels" sh asks.sh
for nodes in 1 2; do
	is "$(run 2 --nodes $nodes $patient ./output between)" "abc
x" "another rank's line waits for one that has begun, $nodes processes"
	is "$(run 2 --nodes $nodes --set core_output_wait=0 \
		./output between)" "ab
x
c" "or ends it"
	is "$(run 2 --nodes $nodes -l --set core_output_wait=0 \
		./output between)" "[0] ab
[1] x
[0] c" "with labels too"
done
run 16 ./output many >out
is "$(wc -l <out)" 8000 "many lines all come out"
none "$(grep -Ev '^[0-9]+\.[0-9]+ some text that makes the line longer$' out)" \
	"and none is mixed with another"
run 3 ./output long >out
is "$(wc -c <out) $(uniq out | wc -l)" "900003 3" "long lines come out complete"
none "$(grep -E 'ab|ba|bc|cb|ac|ca' out)" "and are not mixed"
# A pipe that keeps what was written at once together: whole lines, each time.
command -v python3 >/dev/null && cat >packets.py <<'END' &&
import os, subprocess, sys
out, into = os.pipe2(os.O_DIRECT)
job = subprocess.Popen(sys.argv[1:], stdout=into)
os.close(into)
packets = list(iter(lambda: os.read(out, 65536), b""))
print(job.wait(), sum(not p.endswith(b"\n") for p in packets),
      b"".join(packets).count(b"\n"))
END
	is "$(python3 packets.py "$vmpirun" -n 4 --nodes 2 ./output block)" \
		"0 0 2000" "lines of two processes leave whole, in one write each"
run 3 -l ./output long >out
is "$(cut -c 1-4 out | sort)" "$(lines 3 '[&] ')" "also with labels"
is "$(run 3 ./output close | sort)" "$(lines 3 'before &')" \
	"a rank may close its standard output"
is "$(run 3 ./output child | sort)" "$(
	lines 3 'child of &'
	lines 3 "rank &: child's status &"
)" "a child process has its parent's output"

# Libc's locks must be free in a child while other ranks end.
is "$(run 100 --workers 4 ./output child | sort | uniq -c | wc -l)" 200 \
	"also while others end"

run 3 ./output own >out
is "$(cat out own.*)" "$(lines 3 'rank &')" \
	"freopen changes the output of one rank"

mkdir sub
run 12 --output sub/files ./output both >out 2>err
is "$? $(cat out err)" "0 " "--output leaves nothing to the terminal"
is "$(ls sub/files | wc -l)" 24 "and makes two files per rank"
is "$(cat sub/files/rank.03.out sub/files/rank.11.err)" "o3
e11" "with padded numbers"
run 2 --output sub/files ./output open
is "$(cat sub/files/rank.1.out)" "no newline 1" \
	"what is written there is not changed"
run 2 --output sub/files ./output close
is "$(cat sub/files/rank.1.out)" "before 1" "an older file is replaced"

# Until nobody reads any more.
cat >floods.sh <<'EOF'
while echo a line of many; do :; done
EOF
for how in "" "--nodes 2" "-l" "--nodes 2 -l"; do
	(
		timeout 200 "$vmpirun" -n 2 $how ./output flood 2>err </dev/null
		echo $? >code
	) | head -n 1 >first
	is "$(cat err code)" 141 "a job whose reader leaves ends quietly${how:+, $how}"
done
for how in "" "-l"; do
	(
		timeout 200 "$vmpirun" -n 2 $how sh floods.sh 2>err </dev/null
		echo $? >code
	) | grep -q many
	is "$(cat err code)" 141 "so do ordinary programs${how:+, $how}"
done

if command -v script >/dev/null; then
	cat >tty.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	printf("%d %d\n", isatty(1), isatty(fileno(stdout)));
	return 0;
}
END
	"$vmpicc" tty.c -o tty
	is "$(script -qec ./tty /dev/null </dev/null | tr -d '\r')" "1 1" \
		"a program alone sees the terminal"
	is "$(script -qec "$vmpirun -n 2 ./tty" /dev/null </dev/null |
		tr -d '\r' | sort -u)" "1 1" "so do ranks"
else
	skip 2 "script(1) is not installed"
fi
is "$(run 2 -l sh -c 'echo hi' | sort)" "[0] hi
[1] hi" "lines of ordinary programs are labelled as well"
done_testing
