/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clocks of several hosts, put together by the messages between them.
 *
 * A message takes some time, so what passes between its send and its receive,
 * by the clocks of two hosts, is that time and by how much the one is ahead.  Of
 * the messages that took least each way, half of the difference is the latter,
 * as with a ping and its answer; the application has sent them already.  Taken
 * in both halves of the records it also tells how fast the clocks drift apart.
 */
#ifndef REPORT_TRACE_CLOCK_H
#define REPORT_TRACE_CLOCK_H

#include "report/trace/lanes.h"

/*
 * Before the first record is read, where none is missing: sets the clocks of
 * hosts from and to which there were enough messages.  How many hosts are left
 * with their time of day; -VMPI_ENOMEM.
 */
int vm_trace_clocks_align(struct vm_trace_lanes *lanes);

#endif
