/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one can set and read of the bounds on overlap, and of traces.
 */
#ifndef INTROSPECT_MEASURE_VARS_H
#define INTROSPECT_MEASURE_VARS_H

#include "introspect/vars/pvar.h"
#include "introspect/vars/cvar.h"

#define OVERLAP_CVARS(X)                                                       \
	X(BOOL, measure, 0, 0, 1, "flag", STARTUP, UB, overlap,                \
	  "Measure how much of their messages' transfers ranks and cores "     \
	  "overlap with computing; see vmpi-overlap(7)")                       \
	X(STRING, bins, "1K,16K,128K,1M", 0, 0, "sizes", STARTUP, UD, overlap, \
	  "Largest messages of the bins that sizes are counted in; larger "    \
	  "ones have a bin of their own")                                      \
	X(STRING, table, "", 0, 0, "path", STARTUP, UD, overlap,               \
	  "Transfer times, as vmpi_info --calibrate writes them; empty: "      \
	  "vmpi-xfer.table in $XDG_CONFIG_HOME or ~/.config")                  \
	X(STRING, dir, "", 0, 0, "path", STARTUP, UD, overlap,                 \
	  "Directory where each process keeps its measures, in a file that "   \
	  "vmpirun --overlap and vmpi_info --overlap read; empty: in memory")  \
	X(BOOL, begin_on, 1, 0, 1, "flag", STARTUP, UD, overlap,               \
	  "Ranks measure from their start on, not only after MPI_Pcontrol(1)")

struct overlap_cvars {
	OVERLAP_CVARS(VM_CVAR_FIELD)
};
extern struct overlap_cvars overlap_cvar;
extern const struct vm_cvar_table overlap_cvar_table;

#define TRACE_CVARS(X)                                                         \
	X(STRING, file, "", 0, 0, "path", STARTUP, UB, live,                   \
	  "Record what ranks and workers do for vmpirun --trace, which makes " \
	  "this file of the records; empty: nothing is recorded")              \
	X(SIZE, bytes, 16777216, 4096, 68719476736, "bytes", STARTUP, UD,      \
	  live,                                                                \
	  "Room for the records of each worker; a full one overwrites its "    \
	  "oldest")                                                            \
	X(INT, counter_us, 1000, 1, 1000000000, "us", STARTUP, UD, live,       \
	  "How often at most the levels among the counters are recorded")

struct trace_cvars {
	TRACE_CVARS(VM_CVAR_FIELD)
};
extern struct trace_cvars trace_cvar;
extern const struct vm_cvar_table trace_cvar_table;

#define VM_OVERLAP_BINS 16 /* at most */

/* What a rank has measured, as of its last call or a millisecond before. */
#define OVERLAP_RANK_PVARS(X)                                                 \
	X(COUNTER, transfers, "transfers", RANK, UD, overlap,                 \
	  "Data transfers of messages, sent and received")                    \
	X(TIMER, data_ns, "ns", RANK, UB, overlap, "Data transfer time")      \
	X(TIMER, min_ns, "ns", RANK, UB, overlap,                             \
	  "Minimum of it that was overlapped with the rank's computing")      \
	X(TIMER, max_ns, "ns", RANK, UB, overlap,                             \
	  "Maximum of it that was overlapped with the rank's computing")      \
	X(TIMER, core_min_ns, "ns", RANK, UD, overlap,                        \
	  "Minimum of it in which the rank's core ran user code of any rank") \
	X(TIMER, core_max_ns, "ns", RANK, UD, overlap,                        \
	  "Maximum of it in which the rank's core ran user code of any rank") \
	X(TIMER, user_ns, "ns", RANK, UB, timer, "User computation time")     \
	X(TIMER, call_ns, "ns", RANK, UB, timer, "Communication call time")   \
	X(COUNTER, bin_transfers[VM_OVERLAP_BINS], "transfers", RANK, UD,     \
	  overlap, "Transfers of each bin of overlap_bins")                   \
	X(TIMER, bin_data_ns[VM_OVERLAP_BINS], "ns", RANK, UD, overlap,       \
	  "Their data transfer time")                                         \
	X(TIMER, bin_min_ns[VM_OVERLAP_BINS], "ns", RANK, UD, overlap,        \
	  "Minimum of it that was overlapped with the rank's computing")      \
	X(TIMER, bin_max_ns[VM_OVERLAP_BINS], "ns", RANK, UD, overlap,        \
	  "Maximum of it that was overlapped with the rank's computing")

struct overlap_rank_pvars {
	OVERLAP_RANK_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table overlap_rank_pvar_table;
#endif
