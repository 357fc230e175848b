#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs built with a sanitizer start by themselves, have no errors that are
# none, and those that are have the program's lines; and so under valgrind.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
[ "${VMPI_SANITIZE:-none}" = none ] ||
	skip_all "the library itself has a sanitizer"
unset ASAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS
source=$programs/sane.cc

# sane COMPILER SANITIZER: builds ./sane, or skips.
sane() {
	compiler=$1
	kind=$2
	echo 'int main() { return 0; }' >empty.cc
	if ! $compiler -fsanitize="$kind" empty.cc -o empty >err 2>&1 ||
		! ./empty >err 2>&1; then
		skip 4 "$compiler has no -fsanitize=$kind that runs here"
		return 1
	fi
	if ! "$vmpicxx" -cxx="$compiler" -g -O1 -fsanitize="$kind" "$source" \
		-o sane -pthread >err 2>&1; then
		fail "-fsanitize=$kind can be built"
		diag "$(cat err)"
		return 1
	fi
	run 8 --workers 2 ./sane >out 2>&1
	is "$? $(cat out)" "0 counted 2000" \
		"$compiler -fsanitize=$kind: 8 ranks, and nothing to report" ||
		return 0
	is "$(timeout 100 ./sane 2>&1)" "counted 2000" "one, without vmpirun"
}

# line COMMENT: sane.cc:N, the line with this comment.
line() {
	echo "sane.cc:$(grep -n "// $1\$" "$source" | cut -d: -f1)"
}

# finds WHAT REPORT LINE NAME
finds() {
	run 4 --workers 2 ./sane "$1" >out 2>&1
	is "$([ $? -ne 0 ] && grep -c "$2" out | sed 's/^[1-9].*/found/')" \
		found "$4"
	like "$(cat out)" "$3" "and shows the line"
}

command -v g++ >/dev/null || skip_all "there is no g++"
if sane g++ address; then
	finds heap 'heap-buffer-overflow' "$(line heap)" "a heap overflow"
	like "$(cat out)" '^vmpirun: rank 1: a sanitizer has found an error' \
		"and the rank"
	finds stack 'stack-buffer-overflow' "$(line stack)" "a stack overflow"
	finds null 'AddressSanitizer: SEGV' "$(line null)" "a null pointer"
	like "$(cat out)" '^vmpirun: rank 1: a sanitizer has found an error' \
		"and the rank"
	like "$(cat out)" '^ *#[0-9]+ .* in main ' "and main's line"
	ulimit -S -c unlimited 2>/dev/null
	finds null 'AddressSanitizer: SEGV' "$(line null)" \
		"the same with core files"
	ulimit -S -c 0
	is "$(run 4 ./sane deep 2>&1 | grep -c 'rank 1 overflowed its stack')" \
		1 "a stack that overflows is reported as without a sanitizer"
	finds leak 'LeakSanitizer: detected' "$(line leaks)" "leaks"
	is "$(grep -c '^Direct leak' out)" 4 "of each rank, and no others"
fi
if sane g++ leak; then
	finds leak 'LeakSanitizer: detected' "$(line leaks)" "leaks"
	is "$(grep -c '^Direct leak' out)" 4 "of each rank, and no others"
fi
if sane g++ thread; then
	finds race 'data race' "$(line counts)" "a data race"
	finds null 'ThreadSanitizer: SEGV' "$(line null)" "a null pointer"
fi
if sane g++ undefined; then
	run 4 ./sane overflow >out 2>&1
	like "$(cat out)" "$(line overflows):.*signed integer overflow" \
		"an integer overflow"
fi
if command -v clang++ >/dev/null; then
	! sane clang++ address ||
		finds heap 'heap-buffer-overflow' "$(line heap)" \
			"a heap overflow"
	! [ -x sane ] || finds null 'AddressSanitizer: SEGV' "$(line null)" \
		"a null pointer"
	# These are linked as ordinary executables.
	for kind in thread leak safe-stack fuzzer-no-link; do
		sane clang++ $kind
	done
	for kind in memory address,dataflow; do
		"$vmpicxx" -cxx=clang++ -fsanitize=$kind "$source" >out 2>&1
		is "$? $(cat out)" "2 vmpicxx: -fsanitize=memory, dataflow: all \
libraries would have to be built with it, which vmpi's are not; valgrind finds \
uninitialized values: see vmpi-tools(7)" "-fsanitize=$kind is refused in words"
	done
else
	skip 13 "there is no clang++"
fi

# ordinary COMPILER SANITIZER WHAT REPORT LINE: a program that another compiler than
# vmpicc's has linked has no errors that are ours, and its own are found.
ordinary() {
	if ! command -v "$1" >/dev/null ||
		! $1 -fsanitize="$2" empty.cc -o empty >err 2>&1; then
		skip 4 "there is no $1 -fsanitize=$2"
		return
	fi
	ok "an ordinary executable of $1 -fsanitize=$2" "$1" -g -O1 \
		-fsanitize="$2" -I"$VMPI_SRC/include" "$source" -o sane -pthread \
		-L"$VMPI_BUILD/lib" -lmpi_abi -Wl,-rpath,"$VMPI_BUILD/lib"
	run 4 ./sane >out 2>&1
	is "$? $(cat out)" "0 counted 2000" "has nothing to report"
	finds "$3" "$4" "$5" "its $3"
}
for compiler in g++ clang++; do
	ordinary $compiler address leak 'LeakSanitizer: detected' "$(line leaks)"
	ordinary $compiler leak leak 'LeakSanitizer: detected' "$(line leaks)"
	ordinary $compiler thread race 'data race' "$(line counts)"
done

if command -v valgrind >/dev/null; then
	build sane sane.cc -pthread
	run 4 --workers 2 --agent "valgrind -q --leak-check=full" ./sane heap \
		>out 2>&1
	like "$(cat out)" 'Invalid write of size 1' "valgrind: a heap overflow"
	like "$(cat out)" "\\($(line heap)\\)" "and shows the line"
	is "$(ls /tmp | grep -c '^vmpi-image-')" 0 "and leaves no files"
	run 4 --workers 2 --agent "valgrind -q --leak-check=full" ./sane leak \
		>out 2>&1
	is "$(grep -c 'are definitely lost' out)" 4 "valgrind: leaks"
else
	skip 4 "there is no valgrind"
fi
done_testing
