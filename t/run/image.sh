# SPDX-License-Identifier: BSD-3-Clause
#
# Shared by the tests of the image loader; read after tap.sh.

vmpirun=$VMPI_BUILD/vmpirun
vmpicc=$VMPI_BUILD/vmpicc
vmpicxx=$VMPI_BUILD/vmpicxx
node=$VMPI_BUILD/bin/vmpi-node/vmpi-node
programs=$VMPI_SRC/t/run/programs
for tap_needed in "$vmpirun" "$vmpicc" "$node"; do
	[ -x "$tap_needed" ] || skip_all "$tap_needed is not built"
done
unset VMPI_NODE VMPI_CC VMPI_CXX MPICH_CC OMPI_CC GLIBC_TUNABLES
# Programs may leak, and are not built with the sanitizer of the library.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0
export ASAN_OPTIONS
cd "$scratch" || exit 1

# build OUTPUT SOURCE [FLAG...]: with vmpicxx if the source ends in .cc; bails
# out if it fails.
build() {
	build_output=$1
	build_source=$2
	shift 2
	case $build_source in
	*.cc) build_with=$vmpicxx ;;
	*) build_with=$vmpicc ;;
	esac
	"$build_with" -g -O1 -Wall -I"$programs" -I"$VMPI_SRC/t" \
		"$programs/$build_source" -o "$build_output" "$@" >build.log 2>&1 && return
	fail "$build_source can be built"
	diag "$(cat build.log)"
	exit 1
}

# run RANKS PROGRAM [ARGUMENT...]: under a time limit, standard input empty.
run() {
	run_ranks=$1
	shift
	timeout 200 "$vmpirun" -n "$run_ranks" "$@" </dev/null
}
