# SPDX-License-Identifier: BSD-3-Clause
#
# The MPIs that are compared: how each compiles and starts a program.  Read by
# bench/run, which sets VMPI_BUILD, work (a directory), one (the processor for
# what runs on one core) and both (two, when there are two).

# Debian's names: plain mpicc is whichever was chosen as alternative.
declare -A compiler=(
	[vmpi]=$VMPI_BUILD/vmpicc
	[openmpi]=mpicc.openmpi
	[mpich]=mpicc.mpich
)
declare -A starter=(
	[vmpi]=$VMPI_BUILD/vmpirun
	[openmpi]=mpirun.openmpi
	[mpich]=mpiexec.mpich
)
declare -A title=([vmpi]=vmpi [openmpi]="Open MPI" [mpich]=MPICH
	[raw]=libfabric)

# In a container every user is root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Sets mpis: those that are installed, vmpi first.
mpis_find() {
	local mpi

	mpis=()
	for mpi in vmpi openmpi mpich; do
		if command -v "${compiler[$mpi]}" >/dev/null &&
			command -v "${starter[$mpi]}" >/dev/null; then
			mpis+=("$mpi")
		else
			echo "${title[$mpi]} is left out: ${compiler[$mpi]} or" \
				"${starter[$mpi]} is not installed"
		fi
	done
}

# mpi_compile MPI NAME [PART...]: bench/NAME.c, with bench/PART.c, becomes
# $work/NAME.MPI.
mpi_compile() {
	local mpi=$1 name=$2 files

	shift
	files=("${@/#/$source/}")
	files=("${files[@]/%/.c}")
	"${compiler[$mpi]}" -std=gnu17 -D_GNU_SOURCE -O2 -pthread \
		-o "$work/$name.$mpi" "${files[@]}" >>"$work/log" 2>&1 &&
		return
	tail -n 20 "$work/log" >&2
	echo "bench/run: ${compiler[$mpi]} cannot compile bench/$name.c" >&2
	exit 1
}

# ordinary_compile NAME: bench/NAME.c becomes $work/NAME.ordinary, an executable
# linked with libvmpi like any other.
ordinary_compile() {
	# shellcheck disable=SC2046
	cc -std=gnu17 -D_GNU_SOURCE -O2 -pthread \
		$("${compiler[vmpi]}" -showme:compile) -o "$work/$1.ordinary" \
		"$source/$1.c" $("${compiler[vmpi]}" -showme:link) \
		>>"$work/log" 2>&1 && return
	tail -n 20 "$work/log" >&2
	echo "bench/run: cc cannot compile bench/$1.c" >&2
	exit 1
}

# launch MPI[:WAY] PLACE SECONDS RANKS NAME ARG...: starts $work/NAME.MPI.  PLACE
# is one (all ranks on one core), two (two ranks, a core each; more share the two
# cores) or any (ranks on all cores as they come).  WAY, of vmpi on two cores:
# nodes (two processes, a worker each), helped (two workers each), processes
# (each rank is one) or ordinary (and an ordinary executable).
launch() {
	local mpi=${1%:*} way=$1 place=$2 seconds=$3 ranks=$4 name=$5
	local run=(timeout -k 5 "$seconds") program=$work/$name.$mpi

	shift 5
	[ "$place" != one ] || run+=(taskset -c "$one")
	if [ "$place" = two ] && [ "$ranks" -gt 2 ]; then
		run+=(taskset -c "$both")
		[ "$mpi" = vmpi ] || place=any
	fi
	run+=("${starter[$mpi]}")
	case $way-$place in
	vmpi-one) run+=(--workers 1) ;;
	vmpi-two) run+=(--workers 2) ;;
	vmpi:nodes-*) run+=(--nodes 2 --workers 1) ;;
	vmpi:helped-*) run+=(--nodes 2 --workers 2) ;;
	vmpi:processes-*) run+=(--processes) ;;
	vmpi:ordinary-*)
		run+=(--processes)
		program=$work/$name.ordinary
		;;
	openmpi-two) run+=(--bind-to core) ;;
	openmpi-*) run+=(--bind-to none --oversubscribe
		--mca mpi_yield_when_idle 1) ;;
	mpich-two) run+=(-bind-to core) ;;
	esac
	"${run[@]}" -n "$ranks" "$program" "$@" 2>>"$work/log" </dev/null
}

# launch_tcp MPI[:PROTOCOL] SECONDS NAME ARG...: starts $work/NAME.MPI as two
# ranks in two processes that talk by TCP over loopback, whatever else the MPI
# could use on one host.  PROTOCOL: of vmpi's long messages.
launch_tcp() {
	local mpi=${1%:*} protocol=${1#*:} run=(timeout -k 5 "$2") name=$3

	shift 3
	case $mpi in
	vmpi) run+=("${starter[vmpi]}" --nodes 2 --workers 1
		--set fabric_shm=0 --set "core_rndv_protocol=$protocol") ;;
	openmpi) run+=("${starter[openmpi]}" --bind-to core --mca pml ob1
		--mca btl self,tcp --mca btl_tcp_if_include lo) ;;
	mpich) run+=(env MPIR_CVAR_NOLOCAL=1 UCX_TLS=tcp,self
		UCX_NET_DEVICES=lo FI_PROVIDER=tcp "${starter[mpich]}"
		-bind-to core) ;;
	esac
	"${run[@]}" -n 2 "$work/$name.$mpi" "$@" 2>>"$work/log" </dev/null
}
