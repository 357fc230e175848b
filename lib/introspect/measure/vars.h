/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control and performance variables of overlap measurement and of traces.
 */
#ifndef INTROSPECT_MEASURE_VARS_H
#define INTROSPECT_MEASURE_VARS_H

#include "introspect/vars/pvar.h"
#include "introspect/vars/cvar.h"

#define OVERLAP_CVARS(X)                                                       \
	X(BOOL, measure, 0, 0, 1, "flag", STARTUP, UB, overlap,                \
	  "Measure how much of the data transfer time ranks and cores "        \
	  "overlap with computation; see vmpi-overlap(7)")                     \
	X(STRING, bins, "1K,16K,128K,1M", 0, 0, "sizes", STARTUP, UD, overlap, \
	  "Upper limits of the bins of message sizes; larger messages have "   \
	  "a bin of their own")                                                \
	X(STRING, table, "", 0, 0, "path", STARTUP, UD, overlap,               \
	  "File of transfer times written by vmpi_info --calibrate; empty: "   \
	  "vmpi-xfer.table in $XDG_CONFIG_HOME or ~/.config")                  \
	X(STRING, dir, "", 0, 0, "path", STARTUP, UD, overlap,                 \
	  "Directory of the files of measurements, one per process, that "     \
	  "vmpirun --overlap and vmpi_info --overlap read; empty: they are "   \
	  "kept in memory")                                                    \
	X(BOOL, begin_on, 1, 0, 1, "flag", STARTUP, UD, overlap,               \
	  "Measure from the start of each rank, not only after "               \
	  "MPI_Pcontrol(1)")

struct overlap_cvars {
	OVERLAP_CVARS(VM_CVAR_FIELD)
};
extern struct overlap_cvars overlap_cvar;
extern const struct vm_cvar_table overlap_cvar_table;

#define TRACE_CVARS(X)                                                       \
	X(STRING, file, "", 0, 0, "path", STARTUP, UB, live,                 \
	  "Trace file that vmpirun --trace makes of what ranks and workers " \
	  "record; empty: no trace")                                         \
	X(SIZE, bytes, 16777216, 4096, 68719476736, "bytes", STARTUP, UD,    \
	  live,                                                              \
	  "Size of the trace buffer of each worker; a full buffer "          \
	  "overwrites its oldest records")                                   \
	X(INT, counter_us, 1000, 1, 1000000000, "us", STARTUP, UD, live,     \
	  "Shortest interval at which performance variables of class level " \
	  "are recorded")

struct trace_cvars {
	TRACE_CVARS(VM_CVAR_FIELD)
};
extern struct trace_cvars trace_cvar;
extern const struct vm_cvar_table trace_cvar_table;

#define VM_OVERLAP_BINS 16 /* at most */

/* Measurements of a rank, as of its last call or a millisecond before. */
#define OVERLAP_RANK_PVARS(X)                                                 \
	X(COUNTER, transfers, "transfers", RANK, UD, overlap,                 \
	  "Data transfers of messages sent and received")                     \
	X(TIMER, data_ns, "ns", RANK, UB, overlap, "Data transfer time")      \
	X(TIMER, min_ns, "ns", RANK, UB, overlap,                             \
	  "Lower bound of the data transfer time overlapped with the rank's " \
	  "computation")                                                      \
	X(TIMER, max_ns, "ns", RANK, UB, overlap,                             \
	  "Upper bound of the data transfer time overlapped with the rank's " \
	  "computation")                                                      \
	X(TIMER, core_min_ns, "ns", RANK, UD, overlap,                        \
	  "Lower bound of the data transfer time in which the rank's core "   \
	  "ran user code of any rank")                                        \
	X(TIMER, core_max_ns, "ns", RANK, UD, overlap,                        \
	  "Upper bound of the data transfer time in which the rank's core "   \
	  "ran user code of any rank")                                        \
	X(TIMER, user_ns, "ns", RANK, UB, timer, "User computation time")     \
	X(TIMER, call_ns, "ns", RANK, UB, timer, "Communication call time")   \
	X(COUNTER, bin_transfers[VM_OVERLAP_BINS], "transfers", RANK, UD,     \
	  overlap, "Data transfers in each bin of overlap_bins")              \
	X(TIMER, bin_data_ns[VM_OVERLAP_BINS], "ns", RANK, UD, overlap,       \
	  "Data transfer time in each bin")                                   \
	X(TIMER, bin_min_ns[VM_OVERLAP_BINS], "ns", RANK, UD, overlap,        \
	  "Lower bound of the data transfer time overlapped with the rank's " \
	  "computation")                                                      \
	X(TIMER, bin_max_ns[VM_OVERLAP_BINS], "ns", RANK, UD, overlap,        \
	  "Upper bound of the data transfer time overlapped with the rank's " \
	  "computation")

struct overlap_rank_pvars {
	OVERLAP_RANK_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table overlap_rank_pvar_table;
#endif
