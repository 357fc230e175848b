/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notices: the last chunk of a remote write tells the process that it writes to,
 * by data of the completion there, so that nothing need be sent behind it.
 *
 * Such a write is not begun again when its connection is lost: whether the other
 * side was told, and uses the memory for something else, is not known.
 */
#ifndef FABRIC_NOTICE_H
#define FABRIC_NOTICE_H

#include "fabric/port.h"

/* What the last chunk of that write carries. */
uint64_t vm_notice_data(const struct vm_port *port, const struct vm_rma *rma);

/* Takes in what a write of another process has carried; under lock. */
void vm_notice_take(struct vm_port *port, uint64_t data);

#endif
