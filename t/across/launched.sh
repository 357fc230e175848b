# SPDX-License-Identifier: BSD-3-Clause
#
# Some MPI programs of the suite started by another launcher, for the tests of
# each; the setups in meson.build here run all of them.
#
#	launched LAUNCHER PROCESSES PROVIDER [PATTERN]
#
# The program's own checks count: it ends with 0 only if all have passed.

case ${VMPI_SANITIZE:-none} in
none) ;;
*) skip_all "the programs would need the sanitizer too" ;;
esac

launched() {
	launcher=$1 processes=$2 provider=$3
	[ -x "$VMPI_BUILD/t/mpi/mpi-comm" ] ||
		skip_all "the programs are not built"
	while read -r ranks workers program; do
		case $program in
		${4:-*}) ;;
		*) continue ;;
		esac
		TAP_LAUNCHER=$launcher TAP_ACROSS=$processes TAP_TIMEOUT=60 \
		VMPI_FABRIC_PROVIDER=$provider \
			"$VMPI_SRC/t/across/as" "$VMPI_BUILD/vmpirun" \
			-n "$ranks" --workers "$workers" \
			"$VMPI_BUILD/t/mpi/mpi-$program" \
			</dev/null >"$scratch/out" 2>"$scratch/err"
		code=$?
		checks=$(grep -c '^ok ' "$scratch/out")
		name="$program, $ranks ranks in $processes processes by $provider"
		if [ $code -eq 0 ] && [ "$checks" -gt 0 ]; then
			pass "$name: $checks checks"
		else
			fail "$name: code $code"
			diag "$(cat "$scratch/out" "$scratch/err")"
		fi
	done <<-END
		5 1 comm
		9 2 icoll
		9 2 p2p-order
		5 2 p2p-sizes
		9 2 probe
		4 2 threads
		5 1 internode-coll-move
		5 1 internode-coll-reduce
		5 1 internode-intercomm
	END
}
