/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One file of those of a trace, in one of the formats of out.h; see
 * vmpi-trace(7).
 */
#ifndef REPORT_TRACE_MERGE_H
#define REPORT_TRACE_MERGE_H

#include <stdint.h>

struct vm_trace_summary {
	int processes, missing, hosts; /* missing: those that left nothing */
	int unset; /* hosts whose clock is only their time of day */
	uint64_t records, dropped;
	uint64_t messages; /* with both their ends */
	uint64_t sends_alone, matches_alone;
};

/*
 * Writes `path` from the files of `processes` processes.  0; -VMPI_ENOENT:
 * there are none (not logged); -VMPI_EIO, -VMPI_EINVAL, logged; -VMPI_ENOMEM.
 */
int vm_trace_merge(struct vm_trace_summary *summary, const char *path,
		   int processes, const char *(*call_name)(uint32_t call));

#endif
