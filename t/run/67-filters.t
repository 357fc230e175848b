#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Filters of system calls, as containers have them: with each call refused a job
# goes on without it, or says in a line what it lacks; none hangs or crashes.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "sanitizers need the calls too" ;;
esac
deny=$VMPI_BUILD/t/habitats/deny
"$deny" EPERM=swapon -- true || skip_all "no filters of system calls here"
ulimit -c 0
"$vmpicc" -O1 -Wall "$VMPI_SRC/t/habitats/probe.c" -o probe || exit 1

# job ERROR CALL ARGUMENT...: the word for what becomes of it.
job() {
	refused=$1=$2
	shift 2
	timeout -k 5 60 "$deny" "$refused" -- "$vmpirun" -n 4 "$@" ./probe \
		>out 2>err </dev/null
	code=$?
	if [ $code = 0 ]; then
		[ "$(cat out)" = right ] && echo right || echo wrong
	elif [ $code -ge 124 ]; then
		echo "exit code $code"
	else
		grep -Eq '^(vmpi|vmpirun): ' err && echo said || echo silent
	fi
}

# every WORD CALL...: what becomes of jobs of two processes, for both errors.
every() {
	want=$1
	shift
	for call; do
		is "$(job EPERM $call --nodes 2) $(job ENOSYS $call --nodes 2)" \
			"$want $want" "without $call: $want" || diag "$(cat err)"
	done
}

every right waitid wait4 sched_getaffinity sched_setaffinity pidfd_open \
	process_vm_readv process_vm_writev memfd_create membarrier rseq \
	get_mempolicy perf_event_open userfaultfd io_uring_setup \
	inotify_init1 prctl kcmp name_to_handle_at setpgid madvise getppid
every said timerfd_create timerfd_settime eventfd2 signalfd4 poll \
	rt_sigprocmask getpid
# libc tries the older call only if the newer is not there.
is "$(job ENOSYS clone3 --nodes 2)" right "without clone3: right"

# How a process has ended is known without waitid().
for end in 'exit 7' 'kill -9 $$'; do
	timeout -k 5 60 "$deny" EPERM=waitid -- "$vmpirun" -n 2 sh -c "$end" \
		>out 2>err </dev/null
	echo $?
done >codes
is "$(tr '\n' ' ' <codes)" '7 137 ' "and how processes end is still known"
timeout -k 5 60 "$deny" EPERM=waitid,wait4 -- "$vmpirun" -n 2 true >out 2>err \
	</dev/null
is $? 1 "without both the job ends"
like "$(cat err)" '^vmpirun: cannot wait for the end of rank 0 ' "in words"

# A timer of another pace: libfaketime rounds short times down to nothing.
if faketime -f '+0 x100' true 2>/dev/null; then
	for pace in 0.01 100; do
		timeout -k 5 60 faketime -f "+0 x$pace" "$vmpirun" -n 4 \
			--nodes 2 ./probe >out 2>err </dev/null
		is "$? $(cat out)" "0 right" "a clock of $pace times the pace"
	done
else
	skip 2 "no faketime"
fi
done_testing
