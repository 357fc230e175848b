/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Aligning the clocks of several hosts by the messages between them.
 *
 * A message takes some time, so the difference between its send and its
 * receive, by the clocks of two hosts, is that time plus the lead of one clock.
 * Of the fastest messages each way, half of the difference is the lead, as with
 * a ping and its answer; the application has sent them already.  Computed in
 * both halves of the records it also gives the drift of the clocks.
 */
#ifndef REPORT_TRACE_CLOCK_H
#define REPORT_TRACE_CLOCK_H

#include "report/trace/tracks.h"

/*
 * Aligns the clocks of hosts from and to which there were enough messages;
 * before the first record is read, where none is missing.  Returns how many
 * hosts are left with their time of day; -VMPI_ENOMEM.
 */
int vm_trace_clocks_align(struct vm_trace_tracks *tracks);

#endif
